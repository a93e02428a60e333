use serde_json::{Map, Value};

use super::{Batch, Tracker, bd, el, eluent, github, lines, plan};

/// Is told how much of how much is done.
pub type Progress<'a> = dyn FnMut(usize, usize) + 'a;

/// So many records are read between two words about how far it is.
const STEP: usize = 512;

/// Reads a file of that tracker. `name` is what tells the items of one Markdown file from those of another: its file name. `progress` is
/// told how many of how many lines are read.
pub fn read(bytes: &[u8], tracker: Tracker, name: &str, progress: &mut Progress<'_>) -> Batch {
    match tracker {
        Tracker::El => el::read(bytes, progress),
        Tracker::Bd => bd::read(bytes, progress),
        Tracker::Eluent => eluent::read(bytes, progress),
        Tracker::Github => github::read(bytes, progress),
        Tracker::Markdown => plan::read(bytes, name),
    }
}

/// Hands every object of a JSON file to `each`; what is none, or what `each` cannot take, is a bad line.
pub(super) fn each_object(
    bytes: &[u8],
    batch: &mut Batch,
    progress: &mut Progress<'_>,
    mut each: impl FnMut(&mut Batch, usize, Map<String, Value>) -> Result<(), String>,
) {
    let values = lines::values(bytes);
    for (at, (line, value)) in values.items.enumerate() {
        if at % STEP == 0 {
            progress(line, values.lines);
        }
        let done = match value {
            Ok(Value::Object(object)) => each(batch, line, object),
            Ok(_) => Err("it is no JSON object".to_owned()),
            Err(why) => Err(why),
        };
        if let Err(why) = done {
            batch.bad(line, why);
        }
    }
}
