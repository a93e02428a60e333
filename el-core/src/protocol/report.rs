//! The completion report of a review: read strictly, field by field, with every fault named at
//! once.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub use crate::model::FieldProblem;
use crate::model::{Timestamp, limits};

mod check;

use check::{Check, field_problem};

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

#[cfg(test)]
mod tests;
