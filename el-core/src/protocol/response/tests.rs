//! The corpus: answers as models give them (`tests/data/responses/NAME.PHASE.txt`), each with its
//! expected reading beside it; and properties that hold for any text.

mod fields;
mod properties;
mod repairs;
mod texts;

use serde_json::{Value, json};

use super::*;
use crate::model::Phase;
use crate::protocol::corpus::assert_read;

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
    let answer = select_answer(&reading, phase, task);
    let told = match &answer {
        Answer::Faulty(faulty) => json!(faulty.fault_lines()),
        _ => Value::Null,
    };
    let carried = if answer == Answer::NotFound { carried_answer(text, phase) } else { None };
    json!({ "reading": reading, "answer": answer, "told": told, "carried": carried })
}

#[test]
fn each_answer_of_the_corpus_is_read_as_expected() {
    assert_read("responses", "txt", 60, |name, text| {
        told(text, name.rsplit('.').next().unwrap().parse().unwrap())
    });
}
