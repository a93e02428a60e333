//! Human output of an atom's bonds, grouped by meaning.

use el_core::model::{Bond, BondKind};
use el_core::ops::Shown;

use super::page::Page;
use super::{atoms, sanitize, style};

/// The heading that says how a bond concerns the atom.
const fn bond_meaning(kind: BondKind, incoming: bool) -> &'static str {
    match (kind, incoming) {
        (BondKind::Blocks, true) => "Blocked by",
        (BondKind::Blocks, false) => "Blocks",
        (BondKind::WaitsFor, true) => "Waits for",
        (BondKind::WaitsFor, false) => "Awaited by",
        (BondKind::ConditionalBlocks, true) => "Needed only if this fails",
        (BondKind::ConditionalBlocks, false) => "If it fails, needed",
        (BondKind::ParentChild, true) => "Part of",
        (BondKind::ParentChild, false) => "Contains",
        (BondKind::Related, _) => "Related to",
        (BondKind::Duplicates, true) => "Duplicated by",
        (BondKind::Duplicates, false) => "Duplicates",
        (BondKind::DiscoveredFrom, true) => "Discovered from",
        (BondKind::DiscoveredFrom, false) => "Led to",
        (BondKind::RepliesTo, true) => "Replied to by",
        (BondKind::RepliesTo, false) => "Replies to",
    }
}

/// All bonds, grouped by meaning; blocking bonds come first.
pub(crate) fn print_bonds(page: &mut Page, shown: &Shown) {
    print_kinds(page, shown, BondKind::ALL.iter().copied());
}

/// All bonds but containment, for views that show the parent and the children elsewhere.
pub(crate) fn print_but_containment(page: &mut Page, shown: &Shown) {
    print_kinds(
        page,
        shown,
        BondKind::ALL.iter().copied().filter(|kind| *kind != BondKind::ParentChild),
    );
}

fn print_kinds(page: &mut Page, shown: &Shown, kinds: impl Iterator<Item = BondKind>) {
    let mut first = true;
    for kind in kinds {
        for (bonds, incoming) in
            [(&shown.dependencies.incoming, true), (&shown.dependencies.outgoing, false)]
        {
            let bonds: Vec<&Bond> =
                bonds.iter().filter(|bond| bond.dependency_type == kind).collect();
            if bonds.is_empty() {
                continue;
            }
            if !first {
                page.push_blank();
            }
            first = false;
            page.push_heading(bond_meaning(kind, incoming));
            for bond in bonds {
                let other = if incoming { &bond.source_id } else { &bond.target_id };
                let line = match shown.neighbours.iter().find(|atom| atom.id == *other) {
                    Some(atom) => {
                        let status = page
                            .paint(style::status_style(atom.status.as_str()), atom.status.as_str());
                        let line =
                            atoms::one_line(page, atom.status.as_str(), &atom.id, &atom.title);
                        format!("  {line}  {status}")
                    }
                    None => format!("  {}", sanitize::one_line(other)),
                };
                page.push_line(line);
            }
        }
    }
}
