use super::lines::Progress;
use super::{Batch, Tracker, bd, el, eluent, github, plan};

/// Reads a file of the tracker. `name` is the file name: the ids of items in Markdown begin with
/// the name, to tell files apart. `progress` receives the number of lines read and the total.
pub fn read_records(
    bytes: &[u8],
    tracker: Tracker,
    name: &str,
    progress: &mut Progress<'_>,
) -> Batch {
    match tracker {
        Tracker::El => el::read_export(bytes, progress),
        Tracker::Bd => bd::read_issues(bytes, progress),
        Tracker::Eluent => eluent::read_export(bytes, progress),
        Tracker::Github => github::read_issues(bytes, progress),
        Tracker::Markdown => plan::read_plan(bytes, name),
    }
}
