//! The corpus: answers as models give them (`tests/data/responses/NAME.PHASE.txt`), each with its expected reading beside it; and properties that
//! hold for any text. `EL_UPDATE_CORPUS=1` writes the present readings, to be looked at before they are taken.

mod fields;
mod properties;
mod repairs;
mod texts;

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::model::Phase;

/// Between two messages of a stream.
const NEXT_MESSAGE: &str = "\n=====8<===== next message\n";

fn of_messages(text: &str) -> Reading {
    let mut scanner = Scanner::default();
    for (n, message) in text.split(NEXT_MESSAGE).enumerate() {
        if n > 0 {
            scanner.end_message();
        }
        scanner.push(message);
    }
    scanner.finish()
}

fn told(text: &str, phase: Phase) -> Value {
    let reading = of_messages(text);
    let task = matches!(phase, Phase::Progress | Phase::Completion).then_some("task_001");
    let answer = answer(&reading, phase, task);
    let told = match &answer {
        Answer::Faulty(faulty) => json!(faulty.lines()),
        _ => Value::Null,
    };
    let carried = if answer == Answer::NotFound { fallback(text, phase) } else { None };
    json!({ "reading": reading, "answer": answer, "told": told, "carried": carried })
}

#[test]
fn each_answer_of_the_corpus_is_read_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/responses");
    let mut samples: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.retain(|path| path.extension().is_some_and(|ending| ending == "txt"));
    samples.sort();
    assert!(samples.len() >= 60, "only {} samples", samples.len());
    let mut wrong = String::new();
    for sample in samples {
        let text = std::fs::read_to_string(&sample).unwrap();
        let name = sample.file_stem().unwrap().to_str().unwrap();
        let phase: Phase = name.rsplit('.').next().unwrap().parse().unwrap();
        let read = format!("{:#}\n", told(&text, phase));
        let expected = sample.with_extension("json");
        if std::env::var_os("EL_UPDATE_CORPUS").is_some() {
            std::fs::write(&expected, &read).unwrap();
        }
        let expected = std::fs::read_to_string(&expected).unwrap_or_default();
        if read != expected {
            writeln!(wrong, "{}:\n{read}", sample.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
