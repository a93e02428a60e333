use std::fmt::Write as _;

use el_core::model::Timestamp;
use el_core::ops::{self, AnswerFault};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::PhaseSelector;
use crate::commands::orchestrate::command_of;
use crate::output::{sanitize, time};
use crate::{App, CommandError, Exit, Result};

/// Print the data of a phase as JSON, to be changed and set again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el phase show q5e6 --phase analysis
  el phase show q5e6 --phase task_list > plan.json
  el phase show q5e6 --phase task_list --round 0")]
pub(crate) struct Args {
    #[command(flatten)]
    which: PhaseSelector,
}

/// The answer of the command.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Shown<'a> {
    epic_id: &'a str,
    phase: &'a str,
    round: Option<usize>,
    state: &'a str,
    atom_id: Option<&'a str>,
    answered_by: Option<&'a str>,
    answered_at: Option<Timestamp>,
    /// The earlier unusable answers, oldest first.
    faults: &'a [AnswerFault],
    data: &'a Value,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let question = args.which.parse_question()?;
    let overview = ops::plan_overview(&app.open_for_reading()?, &args.which.epic)?;
    let epic = &overview.epic.id;
    let name = question.storage_name();
    let faults = ops::answer_faults(&app.open_for_reading()?, epic, question)?;
    let now = app.now();
    let told = |fault: &AnswerFault| {
        format!(
            "{} {}: {}",
            time::relative_time(now, fault.at),
            fault.run_id.as_deref().unwrap_or_default(),
            fault.why
        )
    };
    let found = overview.phases.iter().find(|phase| phase.name == name);
    let Some((phase, data)) = found.and_then(|phase| Some((phase, phase.data.as_ref()?))) else {
        let fault = found
            .and_then(|phase| phase.fault.clone())
            .map_or_else(String::new, |why| format!(": {why}"));
        return Err(CommandError::not_found(format!("{epic} has no data for {name} yet{fault}"))
            .with_listing(faults.iter().map(told))
            .with_detail("faults", serde_json::to_value(&faults).unwrap_or_default())
            .with_hint(format!("{} supplies it", command_of(epic, question))));
    };
    let answer = Shown {
        epic_id: epic,
        phase: &args.which.phase,
        round: args.which.round,
        state: phase.state,
        atom_id: phase.atom_id.as_deref(),
        answered_by: phase.answered_by.as_deref(),
        answered_at: phase.answered_at,
        faults: &faults,
        data,
    };
    for fault in faults.iter().filter(|_| !app.printer.is_robot()) {
        app.printer.note(&format!("could not be used, {}", told(fault)));
    }
    app.printer.emit(&answer, |page| page.push_line(pretty_json(data)))
}

/// JSON that is harmless on a terminal and has the same value: control characters are escaped.
fn pretty_json(data: &Value) -> String {
    let plain = serde_json::to_string_pretty(data).unwrap_or_default();
    let mut text = String::with_capacity(plain.len());
    for character in plain.chars() {
        let is_harmless =
            character == '\n' || !character.is_control() && !sanitize::is_deceptive(character);
        if is_harmless {
            text.push(character);
            continue;
        }
        // Such characters stand in texts only.
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(text, "\\u{unit:04x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_printed_reads_back_the_same_and_holds_no_control() {
        let data = json!({ "summary": "a\x1b[31m\u{9b}b\u{202e}c\n漢" });
        let text = pretty_json(&data);
        assert!(text.chars().all(|c| c == '\n' || !c.is_control() && !sanitize::is_deceptive(c)));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), data);
    }
}
