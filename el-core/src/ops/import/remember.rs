//! Notes of an import for later ones.

use super::*;

/// Records the imported state and the names of the atom.
pub(super) fn remember_import(
    tx: &Tx<'_>,
    source: &str,
    plan: &Planned,
    options: &ImportOptions,
) -> Result<()> {
    let imported = alias::Imported {
        atom_id: plan.atom_id.clone(),
        fields: Some(fields::hash_fields(plan, options)),
        bonds: edges::text_of_bonds(&plan.bonds),
    };
    if plan.last.as_ref() != Some(&imported) {
        alias::put_import(tx, source, &plan.record.id, &imported)?;
    }
    add_names(tx, source, &plan.record.names, &plan.atom_id)
}

/// Records the further names of an atom.
pub(super) fn add_names(tx: &Tx<'_>, source: &str, names: &[Name], atom_id: &str) -> Result<()> {
    for name in names {
        // A file of bd with a name of its own keeps its own names.
        let name = if source.starts_with(&format!("{}:", name.source)) {
            &Name { source: source.to_owned(), alias: name.alias.clone() }
        } else {
            name
        };
        alias::add_name(tx, name, atom_id)?;
    }
    Ok(())
}
