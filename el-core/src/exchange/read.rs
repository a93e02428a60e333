use super::lines::{Input, Progress};
use super::record_file::RecordFile;
use super::{Batch, Tracker, plan};

/// Reads a text of the tracker. `name` is the file name: the ids of items in Markdown begin with
/// the name, to tell files apart. `progress` receives the number of bytes read and the total.
pub fn read_records(
    bytes: &[u8],
    tracker: Tracker,
    name: &str,
    progress: &mut Progress<'_>,
) -> Batch {
    if tracker == Tracker::Markdown {
        return plan::read_plan(bytes, name);
    }
    RecordFile::index_records(Input::from_bytes(bytes), tracker, progress)
        .and_then(RecordFile::into_batch)
        .expect("memory can be read again")
}
