//! The scenario: the answer to the n-th request of a conversation.
//!
//! ```json
//! {
//!   "routes": [ {"match": "scenario:hang", "steps": [{"hang": "silent", "repeat": 0}]} ],
//!   "steps":  [ {"text": "I will do it.", "bash": "el close ${ID} --reason done"},
//!               {"text": "Closed ${ID}."} ],
//!   "after":  {"text": "done"},
//!   "side":   {"text": "{\"title\": \"a title\"}"},
//!   "counter": "session",
//!   "vars":   {"ID": {"after": "el close "}, "WHO": "a literal"}
//! }
//! ```
//! - **routes**: the first route whose `match` is found in the prompt answers the conversation;
//!   without a hit the top-level `steps`/`after` do. A route has `match`, `steps`, `after`,
//!   `counter`.
//! - **steps** serve a request each, then **after** serves all others (default: the text "done").
//!   Requests without tools (titles, quota checks) get **side** and use no step.
//! - **counter**: the scope of the position in `steps`: `session` (default: a new attempt starts at
//!   the top), `atom` (a second attempt goes on where the first ended), or all requests together
//!   (`global`).
//! - **vars**: `${NAME}` in any text of a step becomes the literal, or the word after the last hit
//!   of `after` in the conversation's first message. `ID` needs no definition: the word after `el
//!   close `, else `atom: `, else `atom `.
//!
//! A step has one of these kinds
//! ```text
//! {"text": "…"}                                  the turn ends with this text
//! {"bash": "el …"}                               a call of the Bash tool, perhaps after "text"
//! {"tool": "Read", "input": {…}}                 a call of any tool
//! {"tools": [{"bash": "…"}, {"tool": …}]}        several calls in one message
//! {"status": 429, "type": "rate_limit_error", "message": "…", "headers": {"retry-after": "1"}}
//! {"hang": "silent" | "headers" | "pings"}       no answer · headers only · a started
//!                                                message, then pings for ever
//! {"drop": "before" | "mid"}                     the connection breaks
//! {"sse_error": {"type": "overloaded_error", "message": "…"}}    an error inside the stream
//! ```
//! with optional keys: `"delay_ms"`, `"repeat": n` (0: for ever), `"when": "text"` or `["all", "of
//! these"]` (the step is skipped unless the conversation holds the text), `"wait_file": PATH`
//! (answers when the file exists), `"touch": PATH` (makes a file when the step is taken), `"usage":
//! {…}`, `"stop_reason"`.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    #[serde(default)]
    routes: Vec<Route>,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default = "done")]
    after: Step,
    #[serde(default = "title")]
    side: Step,
    #[serde(default)]
    counter: Counter,
    #[serde(default)]
    vars: BTreeMap<String, Var>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Route {
    r#match: String,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default = "done")]
    after: Step,
    #[serde(default)]
    counter: Counter,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Counter {
    #[default]
    Session,
    Atom,
    Global,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Var {
    Literal(String),
    Found { after: String },
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) text: Option<String>,
    bash: Option<String>,
    tool: Option<String>,
    input: Option<Value>,
    #[serde(default)]
    tools: Vec<Call>,
    pub(crate) status: Option<u16>,
    pub(crate) r#type: Option<String>,
    pub(crate) message: Option<String>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) hang: Option<Hang>,
    pub(crate) drop: Option<Drop>,
    pub(crate) sse_error: Option<Value>,
    #[serde(default)]
    pub(crate) delay_ms: u64,
    pub(crate) wait_file: Option<String>,
    pub(crate) touch: Option<String>,
    #[serde(default = "once")]
    repeat: u32,
    #[serde(default)]
    when: When,
    pub(crate) stop_reason: Option<String>,
    #[serde(default)]
    pub(crate) usage: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    bash: Option<String>,
    tool: Option<String>,
    input: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Hang {
    Silent,
    Headers,
    Pings,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Drop {
    Before,
    Mid,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum When {
    One(String),
    All(Vec<String>),
}

impl Default for When {
    fn default() -> Self {
        Self::All(Vec::new())
    }
}

fn once() -> u32 {
    1
}

fn done() -> Step {
    Step { text: Some("done".to_owned()), repeat: 1, ..Step::default() }
}

fn title() -> Step {
    Step {
        text: Some("{\"title\": \"a scripted title\"}".to_owned()),
        repeat: 1,
        ..Step::default()
    }
}

impl Step {
    /// The tool calls of the step: name and input, in order.
    pub(crate) fn calls(&self) -> Vec<(String, Value)> {
        let own =
            Call { bash: self.bash.clone(), tool: self.tool.clone(), input: self.input.clone() };
        std::iter::once(&own)
            .chain(&self.tools)
            .filter_map(|call| match (&call.bash, &call.tool) {
                (Some(line), _) => Some(("Bash".to_owned(), serde_json::json!({"command": line}))),
                (None, Some(name)) => Some((
                    name.clone(),
                    call.input.clone().unwrap_or_else(|| Value::Object(Map::new())),
                )),
                (None, None) => None,
            })
            .collect()
    }

    fn fits(&self, text: &str) -> bool {
        match &self.when {
            When::One(part) => text.contains(part),
            When::All(parts) => parts.iter().all(|p| text.contains(p)),
        }
    }
}

/// The answer to a request.
pub(crate) struct Picked {
    pub(crate) step: Step,
    /// For the log: the route's `match` (empty: the top level), and the step's number and use, as
    /// in `2.0`.
    pub(crate) route: String,
    pub(crate) name: String,
}

pub(crate) struct Scenario {
    script: Script,
    /// The position of each conversation: the step's index, and its number of uses.
    places: Mutex<HashMap<String, (usize, u32)>>,
}

impl Scenario {
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        let script = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self { script, places: Mutex::default() })
    }

    /// Chooses the answer to a request and uses up a step.
    ///
    /// `texts` are the conversation's user-role messages, oldest first.
    pub(crate) fn pick(&self, session: &str, texts: &[String], has_tools: bool) -> Picked {
        let prompt = texts.first().map(String::as_str).unwrap_or_default();
        let vars = self.vars(prompt);
        let picked = |step: &Step, route: &str, name: String| Picked {
            step: filled(step, &vars),
            route: route.to_owned(),
            name,
        };
        if !has_tools {
            return picked(&self.script.side, "", "side".to_owned());
        }
        let script = &self.script;
        let (route, steps, after, counter) =
            match script.routes.iter().find(|r| prompt.contains(&r.r#match)) {
                Some(r) => (r.r#match.as_str(), &r.steps, &r.after, r.counter),
                None => ("", &script.steps, &script.after, script.counter),
            };
        let owner = match counter {
            Counter::Session => session,
            Counter::Atom => vars.get("ID").map(String::as_str).unwrap_or_default(),
            Counter::Global => "",
        };
        let all = texts.join("\n");
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let (index, used) = places.entry(format!("{route}\n{owner}")).or_default();
        while let Some(step) = steps.get(*index) {
            if !step.fits(&all) {
                (*index, *used) = (*index + 1, 0);
                continue;
            }
            let name = format!("{}.{used}", *index);
            *used += 1;
            if step.repeat != 0 && *used >= step.repeat {
                (*index, *used) = (*index + 1, 0);
            }
            return picked(step, route, name);
        }
        picked(after, route, "after".to_owned())
    }

    fn vars(&self, prompt: &str) -> BTreeMap<String, String> {
        let mut vars = BTreeMap::new();
        if let Some(id) =
            ["el close ", "atom: ", "atom "].iter().find_map(|m| word_after(prompt, m))
        {
            vars.insert("ID".to_owned(), id);
        }
        for (name, var) in &self.script.vars {
            let value = match var {
                Var::Literal(text) => Some(text.clone()),
                Var::Found { after } => word_after(prompt, after),
            };
            vars.extend(value.map(|v| (name.clone(), v)));
        }
        vars
    }
}

/// Returns the word after the last hit of `marker` with a word: letters, digits, `-`, `_` and inner
/// dots.
fn word_after(text: &str, marker: &str) -> Option<String> {
    let mut ends: Vec<usize> = text.match_indices(marker).map(|(at, hit)| at + hit.len()).collect();
    ends.reverse();
    ends.into_iter().find_map(|end| {
        let rest = text.get(end..)?;
        let size = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
            .unwrap_or(rest.len());
        let word = rest.get(..size)?.trim_end_matches('.');
        (!word.is_empty() && !word.starts_with('-')).then(|| word.to_owned())
    })
}

/// The step with `${NAME}` replaced in every text that reaches the client or the disk.
fn filled(step: &Step, vars: &BTreeMap<String, String>) -> Step {
    let put = |text: &String| {
        vars.iter()
            .fold(text.clone(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
    };
    let put_in = |value: &Value| walk(value, &put);
    let mut step = step.clone();
    for field in
        [&mut step.text, &mut step.bash, &mut step.message, &mut step.wait_file, &mut step.touch]
    {
        *field = field.as_ref().map(put);
    }
    step.input = step.input.as_ref().map(put_in);
    for call in &mut step.tools {
        call.bash = call.bash.as_ref().map(put);
        call.input = call.input.as_ref().map(put_in);
    }
    for value in step.headers.values_mut() {
        *value = put(value);
    }
    step
}

fn walk(value: &Value, put: &impl Fn(&String) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(put(text)),
        Value::Array(items) => items.iter().map(|v| walk(v, put)).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(k, v)| (k.clone(), walk(v, put))).collect())
        }
        other => other.clone(),
    }
}
