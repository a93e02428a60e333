//! The names of atoms in other trackers.

use std::collections::HashMap;

use super::engine::params;
use super::{Tx, list_text};
use crate::Result;
use crate::error::Doing;
use crate::model::{Name, Timestamp};

/// The last imported state of an atom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Imported {
    pub(crate) atom_id: String,
    /// A hash of each field; `None` if no import used the name.
    pub(crate) fields: Option<String>,
    /// The bonds of the imported record, as JSON.
    pub(crate) bonds: Option<String>,
}

/// The last imported state of an atom, with a part of the present one.
pub(crate) struct Known {
    pub(crate) imported: Imported,
    /// `None` if the atom is missing.
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) is_in_progress: bool,
}

/// Returns the atoms with exactly these names in the source, by name, with the atoms' own state.
pub(crate) fn find_known(
    tx: &Tx<'_>,
    source: &str,
    names: &[&str],
) -> Result<HashMap<String, Known>> {
    tx.read_all(
        "SELECT n.alias, n.atom_id, n.imported, n.bonds, a.created_at, a.status = 'in_progress'
         FROM aliases n LEFT JOIN atoms a ON a.id = n.atom_id
         WHERE n.source = ?1 AND n.alias IN (SELECT value FROM json_each(?2))",
        [source, &list_text(names)],
        |row| {
            let known = Known {
                imported: Imported {
                    atom_id: row.get(1)?,
                    fields: row.get(2)?,
                    bonds: row.get(3)?,
                },
                created_at: row.time_or_none(4)?,
                is_in_progress: row.get::<_, Option<bool>>(5)?.unwrap_or_default(),
            };
            Ok((row.get(0)?, known))
        },
    )
    .doing("find imported atoms")
}

/// Returns what [`find`] does for each of these names.
pub(crate) fn find_all(
    tx: &Tx<'_>,
    source: &str,
    names: &[&str],
) -> Result<HashMap<String, Imported>> {
    let known = find_known(tx, source, names)?;
    Ok(known.into_iter().map(|(name, known)| (name, known.imported)).collect())
}

/// Returns the atom with exactly this name in the source.
pub(crate) fn find(tx: &Tx<'_>, source: &str, alias: &str) -> Result<Option<Imported>> {
    tx.read_optional(
        "SELECT atom_id, imported, bonds FROM aliases WHERE source = ?1 AND alias = ?2",
        [source, alias],
        |row| Ok(Imported { atom_id: row.get(0)?, fields: row.get(1)?, bonds: row.get(2)? }),
    )
    .doing("find an imported atom")
}

/// Records the imported state under the name.
pub(crate) fn put_import(
    tx: &Tx<'_>,
    source: &str,
    alias: &str,
    imported: &Imported,
) -> Result<()> {
    // SQLite keeps a copy of each page that an upsert changes.
    tx.gather_row(tx.pick_text(
        "REPLACE INTO aliases (source, alias, atom_id, imported, bonds)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        "INSERT INTO aliases (source, alias, atom_id, imported, bonds) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (source, alias) DO UPDATE SET
           atom_id = excluded.atom_id, imported = excluded.imported, bonds = excluded.bonds",
    ), params![source, alias, imported.atom_id, imported.fields, imported.bonds])
    .doing("store the imported records")
}

/// Passes every name that was imported from the source to `each`, with the atom.
pub(crate) fn each_imported_name(
    tx: &Tx<'_>,
    source: &str,
    mut each: impl FnMut(&str, &str),
) -> Result<()> {
    let sql = "SELECT alias, atom_id FROM aliases
               WHERE source = ?1 AND imported IS NOT NULL ORDER BY alias";
    tx.read_all(sql, [source], |row| {
        each(row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
        Ok(())
    })
    .doing("read names")
}

/// Adds a name, unless another atom has the name.
pub(crate) fn add_name(tx: &Tx<'_>, name: &Name, atom: &str) -> Result<()> {
    tx.gather_row(
        "INSERT INTO aliases (source, alias, atom_id) VALUES (?1, ?2, ?3)
             ON CONFLICT DO NOTHING",
        [&name.source, &name.alias, atom],
    )
    .doing("add a name")
}

/// Returns id and title of the atoms with this name in any tracker. Case is ignored.
pub(crate) fn named_exactly(tx: &Tx<'_>, name: &str) -> Result<Vec<(String, String)>> {
    matching_names(tx, "n.alias COLLATE NOCASE = lower(?1)", name)
}

/// A shorter beginning of a name says too little.
const BEGINNING_MIN: usize = 4;

/// Returns id and title of the atoms with a name that starts with `name`.
pub(crate) fn named_beginning(tx: &Tx<'_>, name: &str) -> Result<Vec<(String, String)>> {
    if name.len() < BEGINNING_MIN {
        return Ok(Vec::new());
    }
    matching_names(
        tx,
        "n.alias COLLATE NOCASE >= lower(?1)
         AND n.alias COLLATE NOCASE < lower(?1) || char(1114111)",
        name,
    )
}

fn matching_names(tx: &Tx<'_>, condition: &str, name: &str) -> Result<Vec<(String, String)>> {
    let sql = format!(
        "SELECT a.id, a.title FROM atoms a
         WHERE a.id IN (SELECT n.atom_id FROM aliases n WHERE {condition})
         ORDER BY a.seq LIMIT ?2"
    );
    let limit = i64::try_from(crate::model::MAX_CANDIDATES).expect("a small constant");
    tx.read_all(&sql, params![name, limit], |row| Ok((row.get(0)?, row.get(1)?)))
        .doing("find a name")
}

/// Returns the atom's names in other trackers. A name from an export of `el` is included only if
/// different from the id.
pub(crate) fn names_of(tx: &Tx<'_>, atom: &str) -> Result<Vec<Name>> {
    let sql = "SELECT source, alias FROM aliases WHERE atom_id = ?1 AND alias <> atom_id
               ORDER BY source, alias";
    tx.read_all(sql, [atom], |row| Ok(Name { source: row.get(0)?, alias: row.get(1)? }))
        .doing("read names")
}
