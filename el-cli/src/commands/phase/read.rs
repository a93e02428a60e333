//! Reads an answer that a person supplies: the bare data, the data with the phase, or a copied
//! answer of an agent with the block, a code fence, or text around the data.

use std::collections::BTreeMap;

use el_core::model::Phase;
use el_core::protocol::response::{
    Answer, END, FaultKind, FieldFault, Payload, Reading, Repair, START, check_payload,
    read_blocks, select_answer,
};
use el_core::text::markdown::{Line, LineKind, Markdown};
use serde_json::{Value, json};

use crate::commands::check_text::repair_words;
use crate::{CommandError, Result};

/// The data of a text, checked.
#[derive(Debug)]
pub(super) struct GivenAnswer {
    pub(super) payload: Payload,
    /// Fields that do not fit and were left out, and why.
    pub(super) left_out: Vec<String>,
    /// Repairs of the text.
    pub(super) repaired: Vec<String>,
}

pub(super) fn read_answer(text: &str, phase: Phase) -> Result<GivenAnswer> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(CommandError::invalid_value("file", "file: it is empty"));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut whole)) => {
            let is_wrapped = whole.len() == 2
                && whole.contains_key("phase")
                && whole.get("data").is_some_and(Value::is_object);
            if !is_wrapped {
                return check_answer(phase, &Value::Object(whole));
            }
            let said = whole["phase"].as_str().unwrap_or_default();
            if said != phase.as_str() {
                return Err(CommandError::invalid_value(
                    "phase",
                    format!("the file is for the phase '{said}', not for '{phase}'"),
                ));
            }
            check_answer(phase, &whole.remove("data").unwrap_or_default())
        }
        Ok(_) => Err(CommandError::invalid_value("file", "file: its JSON is no object")
            .with_hint(format!("it is to be the data of {phase}; el phase show prints one"))),
        Err(error) => read_pasted_text(text, phase, &error),
    }
}

fn check_answer(phase: Phase, data: &Value) -> Result<GivenAnswer> {
    match check_payload(phase, data) {
        (Some(payload), slight) => {
            Ok(GivenAnswer { payload, left_out: fault_lines(&slight), repaired: Vec::new() })
        }
        (None, fields) => Err(refusal_error(phase, &fields, Vec::new())),
    }
}

/// Reads the copied text of a model like an agent's answer, with the same repairs.
fn read_pasted_text(text: &str, phase: Phase, error: &serde_json::Error) -> Result<GivenAnswer> {
    let mut reading = read_blocks(text);
    let mut found = select_answer(&reading, phase, None);
    if let (Answer::NotFound, Some(at)) = (&found, text.find('{')) {
        // The same number of line ends precedes the data, so that line numbers match the file.
        let drafts = fenced_drafts(text);
        if let [first, .., last] = drafts[..] {
            let count = drafts.len();
            let message = format!("file: it holds {count} drafts (lines {first} to {last})");
            return Err(CommandError::invalid_value("file", message)
                .with_detail("reasons", json!([format!("drafts begin in lines {drafts:?}")]))
                .with_hint("keep the one that counts, and leave out the others"));
        }
        let (before, rest) = text.split_at(at);
        let piece = if before.contains("```") {
            rest.split("\n```").next().unwrap_or(rest)
        } else {
            trim_after_object(rest)
        };
        let lines = "\n".repeat(before.matches('\n').count());
        reading = read_blocks(&format!("{START}{lines}{piece}\n{END}"));
        if reading
            .blocks
            .iter()
            .any(|block| block.fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::NoPhase))
        {
            reading = read_blocks(&format!(
                "{START}{lines}{{\"phase\":\"{phase}\",\"data\":{piece}}}\n{END}"
            ));
        }
        found = select_answer(&reading, phase, None);
    }
    match found {
        Answer::Good(good) => Ok(GivenAnswer {
            left_out: fault_lines(&good.slight),
            repaired: repair_notes(&reading, good.block),
            payload: good.payload,
        }),
        Answer::Faulty(faulty) => Err(refusal_error(phase, &faulty.fields, faulty.fault_lines())),
        Answer::NotFound => Err(CommandError::invalid_value(
            "file",
            format!("file: it is not JSON ({error})"),
        )
        .with_hint(format!(
            "it is to hold the data of {phase} as a JSON object, or a block that begins with \
             {START}"
        ))),
    }
}

/// The lines of the fenced blocks that hold an object.
fn fenced_drafts(text: &str) -> Vec<usize> {
    let markdown = Markdown::read(text);
    let lines: Vec<Line<'_>> = markdown.lines().collect();
    let begins = |pair: &[Line<'_>]| {
        pair[0].kind == LineKind::Fence
            && pair[1].kind == LineKind::Code
            && pair[1].text.trim_start().starts_with('{')
    };
    lines.windows(2).filter(|pair| begins(pair)).map(|pair| pair[1].number).collect()
}

/// The text up to the last brace; the rest is a remark.
fn trim_after_object(text: &str) -> &str {
    text.rfind('}').map_or(text, |end| &text[..=end])
}

fn fault_lines(faults: &[FieldFault]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

/// `trailing comma (line 3)`: each kind of repair once, with its first line.
fn repair_notes(reading: &Reading, block: usize) -> Vec<String> {
    let mut sorts: BTreeMap<Repair, (usize, usize)> = BTreeMap::new();
    for repaired in reading.blocks.get(block).iter().flat_map(|block| &block.repairs) {
        sorts.entry(repaired.repair).or_insert((repaired.at.line, 0)).1 += 1;
    }
    let told = sorts.iter().map(|(repair, (line, count))| {
        let more = if *count > 1 { format!(", and {} more", count - 1) } else { String::new() };
        format!("{} (line {line}{more})", repair_words(*repair))
    });
    told.collect()
}

/// The error with its faulty fields. `lines` holds the faults outside of fields, as a model would
/// read the faults.
fn refusal_error(phase: Phase, fields: &[FieldFault], lines: Vec<String>) -> CommandError {
    let told =
        if lines.is_empty() { fields.iter().map(ToString::to_string).collect() } else { lines };
    CommandError::invalid_value("data", format!("the data of {phase} cannot be used"))
        .with_detail("reasons", json!(told))
        .with_hint(format!("el phase show EPIC --phase {phase} prints data that fits"))
        .with_listing(told)
        .with_detail("phase", phase.as_str())
        .with_detail("fields", json!(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        r#"{"tasks":[{"id":"a","title":"A","description":"d","estimated_tokens":"x"}]}"#;

    fn tasks(text: &str) -> (usize, usize) {
        let given = read_answer(text, Phase::TaskList).unwrap();
        let Payload::TaskList(list) = given.payload else { panic!("another phase") };
        (list.tasks.len(), given.left_out.len())
    }

    #[test]
    fn what_a_model_said_is_taken_as_it_was_copied_and_what_was_put_right_is_told() {
        let list =
            "{\n  tasks: [\n    {\"id\": \"a\", \"title\": \"A\", 'description': \"d\",},\n  ],\n}";
        let wrapped = format!("{{\"phase\": \"task_list\", \"data\": {list}}}");
        for (text, line) in [
            (list.to_owned(), 2),
            (format!("```json\n{list}\n```"), 3),
            (format!("Here is the list:\n\n```\n{list}\n```\n\nIt has {{one}} task."), 5),
            (format!("Sure! {list} That is all."), 2),
            (wrapped.clone(), 2),
            (format!("```json\r\n{}\r\n```\r\n", wrapped.replace('\n', "\r\n")), 3),
        ] {
            let given = read_answer(&text, Phase::TaskList)
                .unwrap_or_else(|error| panic!("{text}: {error} {:?}", error.listed_items()));
            let Payload::TaskList(list) = given.payload else { panic!("another phase") };
            assert_eq!(list.tasks.len(), 1, "{text}");
            assert!(
                given.repaired.contains(&format!("unquoted key (line {line})")),
                "{text}: {:?}",
                given.repaired
            );
            assert!(
                given.repaired.contains(&format!("trailing comma (line {}, and 2 more)", line + 1)),
                "{:?}",
                given.repaired
            );
        }
        let error =
            read_answer("```json\n{\"tasks\": [{\"id\": 7 8}]}\n```", Phase::TaskList).unwrap_err();
        assert!(error.listed_items()[0].contains("line 2"), "{:?}", error.listed_items());
    }

    #[test]
    fn the_data_is_found_alone_wrapped_and_in_a_block() {
        assert_eq!(tasks(LIST), (1, 1));
        assert_eq!(tasks(&format!("{{\"phase\":\"task_list\",\"data\":{LIST}}}")), (1, 1));
        let block = format!(
            "Here:\n{START}\n{{\"phase\":\"task_list\",\"data\":{LIST},}}\n\
             <<<END_ORCHESTRATOR_RESPONSE>>>\nDone."
        );
        assert_eq!(tasks(&block), (1, 1));
    }

    #[test]
    fn what_is_wrong_is_told_field_by_field() {
        let error =
            read_answer(r#"{"tasks":[{"id":"a","title":7},{"title":"B"}]}"#, Phase::TaskList)
                .unwrap_err();
        assert!(error.listed_items().len() >= 3, "{:?}", error.listed_items());
        assert!(error.details()["fields"][0]["field"].as_str().unwrap().starts_with("tasks["));
        assert!(
            read_answer("{\"phase\":\"analysis\",\"data\":{}}", Phase::TaskList)
                .unwrap_err()
                .message()
                .contains("analysis")
        );
        assert!(error.details()["reasons"][0].as_str().unwrap().contains("tasks["));
        let cut =
            read_answer("```json\n{\"tasks\": [{\"id\": 7 8}]}\n```", Phase::TaskList).unwrap_err();
        assert!(cut.details()["reasons"][0].as_str().unwrap().contains("line 2"));
        let twice = format!("A:\n```json\n{LIST}\n```\nOr B:\n```json\n{LIST}\n```\n");
        let twice = read_answer(&twice, Phase::TaskList).unwrap_err();
        assert!(twice.message().contains("2 drafts (lines 3 to 7)"), "{}", twice.message());
        for text in ["", "[]", "no JSON at all", "{\"tasks\":"] {
            read_answer(text, Phase::TaskList).unwrap_err();
        }
    }
}
