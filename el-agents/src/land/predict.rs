//! Predicts what a landing would come to, in memory.

use super::carry_out::{begin_landing, hold_in_the_way};
use super::chain::{ChainBuilder, Conflict};
use super::{LandItem, LandSettings, Result};
use crate::git::Repository;

/// Predicts conflicts by merging one branch after another in memory. Nothing is changed.
///
/// # Errors
/// If git fails.
pub fn predict_conflicts(
    repository: &Repository,
    settings: &LandSettings,
    onto: &str,
    items: &mut [LandItem],
) -> Result<()> {
    let Some(head) = begin_landing(repository, settings, onto, items)? else { return Ok(()) };
    let builder = ChainBuilder { repository, scratch: None, mode: settings.mode };
    let (chain, mut conflicts) = builder.build(&head, items, || false)?;
    // A later branch may remove files that an earlier one puts in the way of the files here.
    if hold_in_the_way(repository, onto, &head, &chain, items)? {
        (_, conflicts) = builder.build(&head, items, || false)?;
    }
    for Conflict { item, files } in conflicts {
        items[item].set_conflict(files);
    }
    Ok(())
}
