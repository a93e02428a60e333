//! What a person supplies: the data alone, the data with its phase, or a whole answer of an agent with its block.

use el_core::model::Phase;
use el_core::protocol::response::{Answer, FieldFault, Payload, START, answer, check, read};
use serde_json::{Value, json};

use crate::error::{CommandError, Result};

/// The data of a text, checked; and the fields that were left out.
pub(super) fn data(text: &str, phase: Phase) -> Result<(Payload, Vec<String>)> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(CommandError::invalid("file", "file: it is empty"));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut whole)) => {
            let is_wrapped = whole.len() == 2 && whole.contains_key("phase") && whole.get("data").is_some_and(Value::is_object);
            if !is_wrapped {
                return checked(phase, &Value::Object(whole));
            }
            let said = whole["phase"].as_str().unwrap_or_default();
            if said != phase.as_str() {
                return Err(CommandError::invalid("phase", format!("the file is for the phase '{said}', not for '{phase}'")));
            }
            checked(phase, &whole.remove("data").unwrap_or_default())
        }
        Ok(_) => Err(CommandError::invalid("file", "file: its JSON is no object")
            .with_hint(format!("it is to be the data of {phase}; el phase show prints one"))),
        Err(error) => block(text, phase, &error),
    }
}

fn checked(phase: Phase, data: &Value) -> Result<(Payload, Vec<String>)> {
    match check(phase, data) {
        (Some(payload), slight) => Ok((payload, slight.iter().map(ToString::to_string).collect())),
        (None, fields) => Err(refused(phase, &fields, Vec::new())),
    }
}

fn block(text: &str, phase: Phase, error: &serde_json::Error) -> Result<(Payload, Vec<String>)> {
    match answer(&read(text), phase, None) {
        Answer::Good(good) => Ok((good.payload, good.slight.iter().map(ToString::to_string).collect())),
        Answer::Faulty(faulty) => Err(refused(phase, &faulty.fields, faulty.lines())),
        Answer::NotFound => Err(CommandError::invalid("file", format!("file: it is no JSON ({error})"))
            .with_hint(format!("it is to hold the data of {phase} as a JSON object, or a block that begins with {START}"))),
    }
}

/// Field by field. `lines`: what is wrong beside the fields, as it is told to a model.
fn refused(phase: Phase, fields: &[FieldFault], lines: Vec<String>) -> CommandError {
    let told = if lines.is_empty() { fields.iter().map(ToString::to_string).collect() } else { lines };
    CommandError::invalid("data", format!("the data of {phase} cannot be used"))
        .with_listing(told)
        .with_detail("phase", phase.as_str())
        .with_detail("fields", json!(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"tasks":[{"id":"a","title":"A","description":"d","estimated_tokens":"x"}]}"#;

    fn tasks(text: &str) -> (usize, usize) {
        let (payload, left_out) = data(text, Phase::TaskList).unwrap();
        let Payload::TaskList(list) = payload else { panic!("another phase") };
        (list.tasks.len(), left_out.len())
    }

    #[test]
    fn the_data_is_found_alone_wrapped_and_in_a_block() {
        assert_eq!(tasks(LIST), (1, 1));
        assert_eq!(tasks(&format!("{{\"phase\":\"task_list\",\"data\":{LIST}}}")), (1, 1));
        let block =
            format!("Here:\n{START}\n{{\"phase\":\"task_list\",\"data\":{LIST},}}\n<<<END_ORCHESTRATOR_RESPONSE>>>\nDone.");
        assert_eq!(tasks(&block), (1, 1));
    }

    #[test]
    fn what_is_wrong_is_told_field_by_field() {
        let error = data(r#"{"tasks":[{"id":"a","title":7},{"title":"B"}]}"#, Phase::TaskList).unwrap_err();
        assert!(error.listing().len() >= 3, "{:?}", error.listing());
        assert!(error.details()["fields"][0]["field"].as_str().unwrap().starts_with("tasks["));
        assert!(data("{\"phase\":\"analysis\",\"data\":{}}", Phase::TaskList).unwrap_err().message().contains("analysis"));
        for text in ["", "[]", "no JSON at all", "{\"tasks\":"] {
            data(text, Phase::TaskList).unwrap_err();
        }
    }
}
