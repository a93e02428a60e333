//! Entries of a person's queue, and the ways to settle them.

use crate::model::{Cost, Need, NeedKind, Timestamp, Way};
use crate::text;

/// The most columns of a cause.
const WHY: usize = 400;

/// An entry about the whole project.
pub(super) fn about_all(
    kind: NeedKind,
    name: &str,
    title: &str,
    why: String,
    since: Timestamp,
) -> Need {
    Need {
        key: format!("{kind}:{name}"),
        kind,
        class: kind.class(),
        atom_id: None,
        title: title.to_owned(),
        priority: None,
        run_id: None,
        agent: None,
        why: text::one_line(&why, WHY),
        frees: 0,
        weight: 0,
        since,
        cost: Cost::default(),
        attempts: 0,
        ways: Vec::new(),
    }
}

pub(super) fn way(key: &'static str, label: &'static str, command: String) -> Way {
    Way { key, label, command }
}

pub(super) fn look_way(id: &str) -> Way {
    way("l", "log", format!("el logs {id}"))
}
