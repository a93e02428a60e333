//! Checks of the fields of a report. Every fault is noted.

use serde_json::{Map, Value};

use super::{BuildResult, BuildStatus, FILES_MAX, PATH_MAX};
use crate::model::{FieldProblem, Timestamp, limits};

pub(super) fn field_problem(field: impl Into<String>, message: impl Into<String>) -> FieldProblem {
    FieldProblem { field: field.into(), message: message.into() }
}

/// A report that is being read, with the faults found so far.
pub(super) struct Check {
    pub(super) problems: Vec<FieldProblem>,
}

impl Check {
    pub(super) fn note_problem(&mut self, field: &str, message: impl Into<String>) {
        self.problems.push(field_problem(field, message));
    }

    /// Notes a problem, and returns `None` as the value of the field.
    pub(super) fn add_problem<T>(&mut self, field: &str, message: impl Into<String>) -> Option<T> {
        self.note_problem(field, message);
        None
    }

    pub(super) fn check_exact(&mut self, map: &Map<String, Value>, field: &str, want: &str) {
        match map.get(field) {
            Some(Value::String(text)) if text == want => {}
            None => self.note_problem(field, format!("it is missing; it must be \"{want}\"")),
            Some(other) => {
                let message = format!("it must be \"{want}\", not {}", show_value(other));
                self.note_problem(field, message);
            }
        }
    }

    pub(super) fn read_text(
        &mut self,
        map: &Map<String, Value>,
        field: &str,
        max: usize,
    ) -> Option<String> {
        match map.get(field) {
            Some(Value::String(text)) if text.trim().is_empty() => {
                self.add_problem(field, "it is blank")
            }
            Some(Value::String(text)) if text.len() > max => {
                self.add_problem(field, format!("it has more than {max} bytes"))
            }
            Some(Value::String(text)) if text.contains('\0') => {
                self.add_problem(field, "it has a NUL character")
            }
            Some(Value::String(text)) => Some(text.trim().to_owned()),
            None => self.add_problem(field, "it is missing"),
            Some(other) => {
                self.add_problem(field, format!("a text is needed, not {}", show_value(other)))
            }
        }
    }

    pub(super) fn read_word(
        &mut self,
        map: &Map<String, Value>,
        field: &str,
        words: &[&str],
    ) -> Option<String> {
        match map.get(field) {
            Some(Value::String(text)) if words.contains(&text.as_str()) => Some(text.clone()),
            None => {
                self.add_problem(field, format!("it is missing; it is one of {}", words.join(", ")))
            }
            Some(other) => self.add_problem(
                field,
                format!("it is one of {}, not {}", words.join(", "), show_value(other)),
            ),
        }
    }

    pub(super) fn read_files(
        &mut self,
        map: &Map<String, Value>,
        field: &str,
    ) -> Option<Vec<String>> {
        let items = match map.get(field) {
            Some(Value::Array(items)) => items,
            None => {
                return self
                    .add_problem(field, "it is missing; it is a list of paths, and may be empty");
            }
            Some(other) => {
                return self.add_problem(
                    field,
                    format!("a list of paths is needed, not {}", show_value(other)),
                );
            }
        };
        if items.len() > FILES_MAX {
            return self.add_problem(
                field,
                format!("{} files are more than the {FILES_MAX} that fit", items.len()),
            );
        }
        let mut files = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let name = format!("{field}[{at}]");
            match item {
                Value::String(path) => match bad_path(path) {
                    None => files.push(path.clone()),
                    Some(why) => self.note_problem(&name, why),
                },
                other => {
                    let message = format!("a path is needed, not {}", show_value(other));
                    self.note_problem(&name, message);
                }
            }
        }
        Some(files)
    }

    pub(super) fn build_result(&mut self, map: &Map<String, Value>) -> Option<BuildResult> {
        let build = match map.get("buildResult") {
            Some(Value::Object(build)) => build,
            None => {
                return self
                    .add_problem("buildResult", "it is missing; it says how the build ended");
            }
            Some(other) => {
                return self.add_problem(
                    "buildResult",
                    format!("an object is needed, not {}", show_value(other)),
                );
            }
        };
        let words = BuildStatus::ALL.map(|(word, _)| word);
        let status = match build
            .get("status")
            .and_then(Value::as_str)
            .and_then(|w| BuildStatus::ALL.iter().find(|s| s.0 == w))
        {
            Some((_, status)) => *status,
            None => {
                let given = build.get("status").map_or("nothing".to_owned(), show_value);
                return self.add_problem(
                    "buildResult.status",
                    format!("it is one of {}, not {given}", words.join(", ")),
                );
            }
        };
        let was_run = matches!(status, BuildStatus::Success | BuildStatus::Failed);
        let command = self.optional_text(build, "command");
        if was_run && command.as_deref().is_none_or(str::is_empty) {
            self.note_problem(
                "buildResult.command",
                format!("a build that ended as {} has a command", status.as_str()),
            );
        }
        let errors = match build.get("errors") {
            None | Some(Value::Null) if !was_run => None,
            None | Some(Value::Null) => {
                self.add_problem("buildResult.errors", "it is missing; it is the number of errors")
            }
            Some(value) => match value.as_u64() {
                Some(count) => Some(count),
                None => self.add_problem(
                    "buildResult.errors",
                    format!("a whole number from 0 on is needed, not {}", show_value(value)),
                ),
            },
        };
        if status == BuildStatus::Success && errors.is_some_and(|count| count > 0) {
            self.note_problem(
                "buildResult.errors",
                "a build with errors is no success; say \"failed\", with the output",
            );
        }
        let output = self.optional_text(build, "output");
        if status == BuildStatus::Failed
            && output.as_deref().is_none_or(|text| text.trim().is_empty())
        {
            self.note_problem("buildResult.output", "a failed build is reported with its output");
        }
        let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        Some(BuildResult { status, command: filled(command), errors, output: filled(output) })
    }

    pub(super) fn optional_text(
        &mut self,
        build: &Map<String, Value>,
        field: &str,
    ) -> Option<String> {
        match build.get(field) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.len() <= limits::TEXT && !text.contains('\0') => {
                Some(text.trim_end().to_owned())
            }
            Some(other) => self.add_problem(
                &format!("buildResult.{field}"),
                format!("a text is needed, not {}", show_value(other)),
            ),
        }
    }

    pub(super) fn read_time(&mut self, map: &Map<String, Value>, field: &str) -> Option<Timestamp> {
        match map.get(field) {
            Some(Value::String(text)) => match Timestamp::parse(text) {
                Ok(time) => Some(time),
                Err(_) => self.add_problem(
                    field,
                    format!(
                        "'{}' is no ISO 8601 time, such as 2024-01-01T00:00:00.000Z",
                        text.escape_debug()
                    ),
                ),
            },
            None => self.add_problem(field, "it is missing; it is an ISO 8601 time"),
            Some(other) => self.add_problem(
                field,
                format!("an ISO 8601 time is needed, not {}", show_value(other)),
            ),
        }
    }
}

/// Why a path does not stay inside the workspace.
fn bad_path(path: &str) -> Option<String> {
    let shown = path.escape_debug();
    if path.trim().is_empty() {
        return Some("it is blank".to_owned());
    }
    if path.len() > PATH_MAX || path.contains('\0') {
        return Some("it is no path".to_owned());
    }
    let is_rooted = path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':');
    if is_rooted || path.split(['/', '\\']).any(|part| part == "..") {
        return Some(format!("'{shown}' is outside the project; a path is relative to its folder"));
    }
    None
}

fn show_value(value: &Value) -> String {
    let text = value.to_string();
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
