//! The completion report of a review: read strictly, field by field, with every fault named at
//! once.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

pub use crate::model::FieldProblem;
use crate::model::{Timestamp, limits};

/// A report that fits the protocol.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionReport {
    pub task_id: String,
    pub platform: String,
    pub summary: String,
    pub files_created: Vec<String>,
    pub files_modified: Vec<String>,
    pub build_result: BuildResult,
    pub timestamp: Timestamp,
}

/// A report to be filled in, as the protocol's JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportTemplate {
    #[serde(rename = "type")]
    #[schemars(extend("const" = Self::TYPE))]
    report_type: &'static str,
    task_id: String,
    platform: &'static str,
    status: &'static str,
    /// The summary of the work: the only required text to fill in.
    pub summary: String,
    files_created: Vec<String>,
    files_modified: Vec<String>,
    build_result: BuildTemplate,
    timestamp: String,
}

/// The build section to fill in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct BuildTemplate {
    status: BuildStatus,
    command: &'static str,
    errors: u64,
    output: &'static str,
}

impl ReportTemplate {
    const TYPE: &'static str = "completion_report";
}

/// The result of the build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BuildResult {
    pub status: BuildStatus,
    pub command: Option<String>,
    pub errors: Option<u64>,
    pub output: Option<String>,
}

/// How the build ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BuildStatus {
    Success,
    Failed,
    NotApplicable,
    NotVerified,
}

impl BuildStatus {
    /// The words of the protocol.
    pub const ALL: [(&'static str, BuildStatus); 4] = [
        ("success", BuildStatus::Success),
        ("failed", BuildStatus::Failed),
        ("not_applicable", BuildStatus::NotApplicable),
        ("not_verified", BuildStatus::NotVerified),
    ];

    /// The word of the protocol.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, status)| *status == self).map_or("", |(word, _)| word)
    }
}

/// The platforms of the protocol.
pub const PLATFORMS: [&str; 4] = ["web", "android", "ios", "custom"];

/// The most files in a report.
const FILES_MAX: usize = 2_000;
/// The longest path of a file.
const PATH_MAX: usize = 4_096;

impl CompletionReport {
    /// Reads a report from JSON text.
    ///
    /// # Errors
    /// Every field that does not fit.
    pub fn parse(text: &str) -> Result<(CompletionReport, Value), Vec<FieldProblem>> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| vec![field_problem("report", format!("it is not JSON: {error}"))])?;
        Ok((CompletionReport::from_value(&value)?, value))
    }

    /// Reads a report from JSON. Fields that the protocol does not know are left alone.
    ///
    /// # Errors
    /// Every field that does not fit.
    pub fn from_value(value: &Value) -> Result<CompletionReport, Vec<FieldProblem>> {
        let Some(map) = value.as_object() else {
            return Err(vec![field_problem("report", "a report is a JSON object")]);
        };
        let mut check = Check { problems: Vec::new() };
        check.check_exact(map, "type", "completion_report");
        check.check_exact(map, "status", "awaiting_review");
        let task_id = check.read_text(map, "taskId", limits::WORD);
        let platform = check.read_word(map, "platform", &PLATFORMS);
        let summary = check.read_text(map, "summary", limits::TEXT);
        let files_created = check.read_files(map, "filesCreated");
        let files_modified = check.read_files(map, "filesModified");
        let build_result = check.build_result(map);
        let timestamp = check.read_time(map, "timestamp");
        match (task_id, platform, summary, files_created, files_modified, build_result, timestamp) {
            (
                Some(task_id),
                Some(platform),
                Some(summary),
                Some(files_created),
                Some(files_modified),
                Some(build_result),
                Some(timestamp),
            ) if check.problems.is_empty() => Ok(CompletionReport {
                task_id,
                platform,
                summary,
                files_created,
                files_modified,
                build_result,
                timestamp,
            }),
            _ => Err(check.problems),
        }
    }

    /// Returns a report to fill in, with the known values.
    pub fn template(task_id: &str, now: Timestamp) -> ReportTemplate {
        ReportTemplate {
            report_type: ReportTemplate::TYPE,
            task_id: task_id.to_owned(),
            platform: "custom",
            status: "awaiting_review",
            summary: String::new(),
            files_created: Vec::new(),
            files_modified: Vec::new(),
            build_result: BuildTemplate {
                status: BuildStatus::NotVerified,
                command: "",
                errors: 0,
                output: "",
            },
            timestamp: now.to_millis_text(),
        }
    }

    /// Returns every file in the report, without duplicates.
    pub fn named_files(&self) -> Vec<&str> {
        let mut files: Vec<&str> =
            self.files_created.iter().chain(&self.files_modified).map(String::as_str).collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Joins all problems in a line.
pub fn in_one_line(problems: &[FieldProblem]) -> String {
    let told: Vec<String> =
        problems.iter().map(|p| format!("{}: {}", p.field, p.message)).collect();
    told.join("; ")
}

/// Renders a report for people: summary, files and build. Takes any JSON, since other programs may
/// have stored the report.
pub fn in_words(report: &Value) -> Option<String> {
    let text = |pointer: &str| {
        report.pointer(pointer).and_then(Value::as_str).map(str::trim).filter(|t| !t.is_empty())
    };
    let mut parts: Vec<String> = text("/summary").map(str::to_owned).into_iter().collect();
    for (key, word) in [("filesCreated", "Created"), ("filesModified", "Modified")] {
        let files: Vec<&str> = report
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if !files.is_empty() {
            parts.push(format!("{word}: {}", files.join(", ")));
        }
    }
    if let Some(status) = text("/buildResult/status") {
        let command =
            text("/buildResult/command").map_or_else(String::new, |c| format!(" (`{c}`)"));
        parts.push(format!("Build: {}{command}", status.replace('_', " ")));
    }
    if let Some(output) = text("/buildResult/output") {
        parts.push(output.to_owned());
    }
    if parts.is_empty() { None } else { Some(parts.join("\n")) }
}

fn field_problem(field: impl Into<String>, message: impl Into<String>) -> FieldProblem {
    FieldProblem { field: field.into(), message: message.into() }
}

struct Check {
    problems: Vec<FieldProblem>,
}

impl Check {
    fn note_problem(&mut self, field: &str, message: impl Into<String>) {
        self.problems.push(field_problem(field, message));
    }

    /// Notes a problem, and returns `None` as the value of the field.
    fn add_problem<T>(&mut self, field: &str, message: impl Into<String>) -> Option<T> {
        self.note_problem(field, message);
        None
    }

    fn check_exact(&mut self, map: &Map<String, Value>, field: &str, want: &str) {
        match map.get(field) {
            Some(Value::String(text)) if text == want => {}
            None => self.note_problem(field, format!("it is missing; it must be \"{want}\"")),
            Some(other) => {
                let message = format!("it must be \"{want}\", not {}", show_value(other));
                self.note_problem(field, message);
            }
        }
    }

    fn read_text(&mut self, map: &Map<String, Value>, field: &str, max: usize) -> Option<String> {
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

    fn read_word(
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

    fn read_files(&mut self, map: &Map<String, Value>, field: &str) -> Option<Vec<String>> {
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

    fn build_result(&mut self, map: &Map<String, Value>) -> Option<BuildResult> {
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

    fn optional_text(&mut self, build: &Map<String, Value>, field: &str) -> Option<String> {
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

    fn read_time(&mut self, map: &Map<String, Value>, field: &str) -> Option<Timestamp> {
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

#[cfg(test)]
mod tests;
