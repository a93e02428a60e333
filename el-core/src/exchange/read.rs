use super::lines::Progress;
use super::{Batch, Tracker, bd, el, eluent, github, plan};

/// Reads a file of that tracker. `name` is what tells the items of one Markdown file from those of
/// another: its file name. `progress` is told how many of how many lines are read.
pub fn read(bytes: &[u8], tracker: Tracker, name: &str, progress: &mut Progress<'_>) -> Batch {
    match tracker {
        Tracker::El => el::read(bytes, progress),
        Tracker::Bd => bd::read(bytes, progress),
        Tracker::Eluent => eluent::read(bytes, progress),
        Tracker::Github => github::read(bytes, progress),
        Tracker::Markdown => plan::read(bytes, name),
    }
}
