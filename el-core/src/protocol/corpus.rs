//! Texts as models write them, each beside the expected reading. `EL_UPDATE_CORPUS=1` writes the
//! present readings, for review.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

/// Reads every `*.{ending}` of a folder in `tests/data`, and compares the reading with the JSON
/// file of the same name. `read` gets name and text.
#[track_caller]
pub(super) fn assert_read(
    folder: &str,
    ending: &str,
    least: usize,
    read: impl Fn(&str, &str) -> Value,
) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(folder);
    let mut samples: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.retain(|path| path.extension().is_some_and(|found| found == ending));
    samples.sort();
    assert!(samples.len() >= least, "only {} samples", samples.len());
    let mut wrong = String::new();
    for sample in samples {
        let text = String::from_utf8_lossy(&std::fs::read(&sample).unwrap()).into_owned();
        let read = format!("{:#}\n", read(sample.file_stem().unwrap().to_str().unwrap(), &text));
        let expected = sample.with_extension("json");
        if std::env::var_os("EL_UPDATE_CORPUS").is_some() {
            std::fs::write(&expected, &read).unwrap();
        }
        if read != std::fs::read_to_string(&expected).unwrap_or_default() {
            writeln!(wrong, "{}:\n{read}", sample.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
