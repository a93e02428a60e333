//! Questions of a plan: the scripts that answer them, and the form of an answer.

use serde_json::{Value, json};

/// The folder of the scripts.
const ANSWERS: &str = "FAKE_AGENT_ANSWERS";

/// Returns the script for the question in the prompt, if there is a question and a folder of
/// scripts.
pub(crate) fn script(prompt: &str) -> Result<Option<String>, String> {
    let (Some(name), Some(folder)) = (name(prompt), std::env::var_os(ANSWERS)) else {
        return Ok(None);
    };
    let path = std::path::Path::new(&folder).join(name);
    std::fs::read_to_string(&path)
        .map(Some)
        .map_err(|e| format!("fake-agent: no script {}: {e}", path.display()))
}

/// The answer's form, at the end of the prompt, names the phase.
fn name(prompt: &str) -> Option<&'static str> {
    if prompt.contains("builds on finished work that does not fit together") {
        return Some("joining");
    }
    let (before, form) = prompt.rsplit_once("\n## Your answer\n")?;
    let asks = |phase: &str| form.contains(&format!("\"phase\": \"{phase}\""));
    match ["analysis", "task_list", "aggregation"].into_iter().find(|phase| asks(phase))? {
        "task_list" if before.contains("\n## What it printed\n") => Some("failures"),
        phase => Some(phase),
    }
}

/// A model's words around this data.
pub(crate) fn answer(phase: &str, data: &str) -> String {
    let block = match serde_json::from_str::<Value>(data) {
        Ok(data) => format!("{:#}", json!({"phase": phase, "data": data})),
        Err(_) => format!("{{\"phase\": \"{phase}\", \"data\": {data}}}"),
    };
    format!(
        "I have looked into it.\n\n<<<ORCHESTRATOR_RESPONSE>>>\n{block}\n\
         <<<END_ORCHESTRATOR_RESPONSE>>>\n\nThat is all."
    )
}
