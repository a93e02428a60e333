use std::path::PathBuf;

use el_core::model::Summary;
use el_core::protocol::report::CompletionReport;
use el_core::protocol::response::{self, check_block};
use el_core::protocol::summary;
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{Page, artifacts, sanitize, style};
use crate::{App, CommandError, Exit, Result, input};

/// Check a text that an agent wrote, and show how el understands the text
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el check-text summary .eluent/summaries/q5e6.md
  el logs q5e6 --file pane | el check-text response -
  el check-text report report.json --robot

For those who debug their prompts. It changes nothing and needs no tracker. Exit code 2 if the
text is not understood; the error's details list why.")]
pub(crate) struct Args {
    /// The kind of text: a summary, an answer with its blocks, or a completion report
    #[arg(value_enum)]
    kind: TextKind,
    /// The text; `-` reads stdin
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TextKind {
    Summary,
    Response,
    Report,
}

/// The result of reading the text.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Understood {
    kind: TextKind,
    file: String,
    /// The summary as read.
    summary: Option<Summary>,
    /// The blocks of an answer, in order.
    blocks: Vec<BlockRead>,
    /// The completion report as read.
    report: Option<serde_json::Value>,
    /// Guesses, repairs and omissions, a sentence each.
    notes: Vec<String>,
    /// The reasons why the text is unusable. Empty here: an unusable text is an error, and the
    /// error's details list the reasons.
    problems: Vec<String>,
}

/// A block of an answer.
#[derive(Debug, Serialize, JsonSchema)]
struct BlockRead {
    /// The line of the start delimiter.
    line: usize,
    phase: Option<String>,
    /// True if the block fits its phase.
    fits: bool,
    data: serde_json::Value,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let text = input::read_file(app, "file", &args.file)?;
    let mut understood = Understood {
        kind: args.kind,
        file: args.file.display().to_string(),
        summary: None,
        blocks: Vec::new(),
        report: None,
        notes: Vec::new(),
        problems: Vec::new(),
    };
    match args.kind {
        TextKind::Summary => understood.read_summary(&text),
        TextKind::Response => understood.read_response(&text),
        TextKind::Report => understood.read_report(&text),
    }
    if !understood.problems.is_empty() {
        let what = args.file.display();
        return Err(CommandError::invalid_value("file", format!("{what} cannot be used as it is"))
            .with_detail("problems", understood.problems.clone())
            .with_detail("notes", understood.notes.clone())
            .with_detail("blocks", serde_json::json!(understood.blocks))
            .with_listing(understood.problems));
    }
    app.printer.emit(&understood, |page| understood.print_understood(page))
}

impl Understood {
    fn read_summary(&mut self, text: &str) {
        let summary = summary::parse_summary(text);
        if let Some(words) = &summary.status_text {
            self.problems.push(format!(
                "the status is none of COMPLETED, PARTIAL and FAILED, so it counts as not \
                 completed: {words:?}"
            ));
        } else if summary.status.is_none() {
            self.problems.push("it gives no status".to_owned());
        }
        self.notes.clone_from(&summary.warnings);
        self.summary = Some(summary);
    }

    fn read_response(&mut self, text: &str) {
        let reading = response::read_blocks(text);
        for block in &reading.blocks {
            let line = block.at.line;
            let checked = check_block(block);
            for repaired in &block.repairs {
                let at = repaired.at.line;
                self.notes.push(format!("line {at}: {}", repair_words(repaired.repair)));
            }
            match &checked {
                Ok((_, slight)) => {
                    self.notes.extend(slight.iter().map(|fault| format!("line {line}: {fault}")));
                }
                Err(faulty) => {
                    let told = faulty.fault_lines();
                    self.problems.extend(told.iter().map(|why| format!("line {line}: {why}")));
                }
            }
            self.blocks.push(BlockRead {
                line,
                phase: block.phase.clone(),
                fits: checked.is_ok(),
                data: block.data.clone(),
            });
        }
        let mentions = reading.mentions.iter();
        let told = mentions.map(|fault| format!("at {}: {}", fault.at, fault.message));
        match self.blocks.is_empty() {
            true => self.problems.extend(told),
            false => self.notes.extend(told),
        }
        for phase in ["analysis", "task_list", "completion", "aggregation"] {
            let of_phase = |block: &&BlockRead| block.phase.as_deref() == Some(phase) && block.fits;
            let lines: Vec<String> =
                self.blocks.iter().filter(of_phase).map(|block| block.line.to_string()).collect();
            if lines.len() > 1 {
                self.notes.push(format!(
                    "{} drafts of {phase} begin in lines {}; the last one counts",
                    lines.len(),
                    lines.join(", ")
                ));
            }
        }
        if self.blocks.is_empty() && self.problems.is_empty() {
            self.problems.push(format!("it has no block that begins with {}", response::START));
        }
    }

    fn read_report(&mut self, text: &str) {
        match CompletionReport::parse(text) {
            Ok((_, value)) => self.report = Some(value),
            Err(problems) => {
                let told =
                    problems.iter().map(|found| format!("{}: {}", found.field, found.message));
                self.problems.extend(told);
            }
        }
    }

    fn print_understood(&self, page: &mut Page) {
        if page.is_quiet() {
            return;
        }
        if let Some(summary) = &self.summary {
            artifacts::print_summary(page, summary);
            for file in &summary.deliverables {
                page.push_line(format!("  {}", sanitize::one_line(&file.path)));
            }
        }
        for block in &self.blocks {
            let phase =
                sanitize::one_line(block.phase.as_deref().unwrap_or("no phase")).into_owned();
            let verdict = page.paint(style::GOOD, "fits");
            page.push_line(format!("line {}: {phase} {verdict}", block.line));
        }
        if self.report.is_some() {
            page.push_painted(style::GOOD, "The report is whole: el submit would take it");
        }
        if !self.notes.is_empty() {
            page.push_section("To know");
            for note in &self.notes {
                page.push_paragraph(note, 2);
            }
        }
    }
}

/// `trailing_comma` as `trailing comma`.
pub(super) fn repair_words(repair: response::Repair) -> String {
    let name = serde_json::to_value(repair).ok();
    name.as_ref().and_then(|name| name.as_str()).unwrap_or_default().replace('_', " ")
}
