use serde_json::{Map, Value};

use super::{Batch, Tracker, bd, el, eluent, github, lines, plan};

/// Reads a file of that tracker. `name` is what tells the items of one Markdown file from those of another: its file name.
pub fn read(bytes: &[u8], tracker: Tracker, name: &str) -> Batch {
    match tracker {
        Tracker::El => el::read(bytes),
        Tracker::Bd => bd::read(bytes),
        Tracker::Eluent => eluent::read(bytes),
        Tracker::Github => github::read(bytes),
        Tracker::Markdown => plan::read(bytes, name),
    }
}

/// Hands every object of a JSON file to `each`; what is none, or what `each` cannot take, is a bad line.
pub(super) fn each_object(
    bytes: &[u8],
    batch: &mut Batch,
    mut each: impl FnMut(&mut Batch, usize, Map<String, Value>) -> Result<(), String>,
) {
    for (line, value) in lines::values(bytes) {
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
