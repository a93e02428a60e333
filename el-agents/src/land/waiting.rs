//! The branches that wait to be landed, for the boards: asked of git at once, and cheaper than a
//! plan of the landing.

use std::time::{Duration, Instant};

use el_core::Store;
use el_core::model::{Status, Timestamp};
use el_core::ops;

use super::LandError;
use crate::git::Repository;

/// The longest that a board waits for git.
const PATIENCE: Duration = Duration::from_secs(2);
/// Branches that are looked at.
const MOST: usize = 200;

/// Returns the closed atoms whose branches the target lacks, and when each was closed. A branch
/// that git cannot be asked about in time is left out.
///
/// # Errors
/// If git or the store fails.
pub fn branches_to_land(
    store: &Store,
    repository: &Repository,
    target: &str,
) -> Result<Vec<(String, Timestamp)>, LandError> {
    let until = Instant::now() + PATIENCE;
    let known = repository.known_tip(target)?;
    let target = known.as_deref().unwrap_or(target);
    let lacking = format!("--no-merged={target}");
    let form = "--format=%(refname:lstrip=2) %(objectname)";
    let words = ["for-each-ref", form, &lacking, "refs/heads"];
    let names = repository.git().with_deadline(until).ask(&words)?;
    let mut waiting = Vec::new();
    let branches = names.lines().filter_map(|line| {
        let (name, tip) = line.split_once(' ')?;
        Some((repository.atom_of(name)?, tip))
    });
    for (id, tip) in branches.take(MOST) {
        let Ok(atom) = ops::get_atom(store, id) else { continue };
        let Some(closed_at) = atom.closed_at.filter(|_| atom.status == Status::Closed) else {
            continue;
        };
        if atom.id != id || atom.run_id.is_some() || Instant::now() > until {
            continue;
        }
        // A squash or a rebase leaves the branch behind.
        if !repository.has_landed(target, id, tip)? {
            waiting.push((atom.id, closed_at));
        }
    }
    Ok(waiting)
}
