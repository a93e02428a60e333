//! The agent's own status, from the status section, line by line.

use super::headings::Section;
use super::lines::{self, Line};
use super::sections::Sections;
use super::status_line::{
    Reading, begins_with_doubt, begins_with_status, is_template, line_reading,
};
use crate::model::SummaryStatus;

/// Characters of an unread status that are quoted.
const QUOTE_MAX: usize = 200;

/// The status of a summary.
#[derive(Debug, Default)]
pub(super) struct StatusRead {
    pub(super) status: Option<SummaryStatus>,
    /// The words of an unknown status.
    pub(super) unread: Option<String>,
}

/// Reads the agent's status: the worst of several, and none if the template was left unchanged.
pub(super) fn read_status(sections: &Sections<'_>, warnings: &mut Vec<String>) -> StatusRead {
    let mut found: Vec<Option<SummaryStatus>> = Vec::new();
    let mut unread = None;
    for part in sections.section_parts(Section::Status) {
        if part.iter().any(|line| is_template(line.text)) {
            warnings.push("Status: left as the template has it".to_owned());
            continue;
        }
        let lines = own_lines(part);
        if lines.is_empty() {
            warnings.push("Status: the section is empty".to_owned());
            continue;
        }
        let status = section_status(&lines);
        if status.is_none() {
            let words: Vec<&str> = lines.iter().map(|line| line.text).take(3).collect();
            unread.get_or_insert(lines::cut_text(&words.join(" "), QUOTE_MAX));
        }
        found.push(status);
    }
    if let Some(words) = &unread {
        warnings.push(format!(
            "Status: not read as COMPLETED, PARTIAL or FAILED, so it counts as not completed: \
             {words:?}"
        ));
    }
    // An unreadable status is worse than "completed"; a clear failure is worse still.
    let badness = |status: &Option<SummaryStatus>| match status {
        Some(SummaryStatus::Completed) => 0,
        None => 1,
        Some(SummaryStatus::Partial) => 2,
        Some(SummaryStatus::Failed) => 3,
    };
    let status = found.iter().max_by_key(|status| badness(status)).copied().flatten();
    if found.iter().any(|other| *other != status) {
        warnings.push("Status: there are different ones; the worst is taken".to_owned());
    }
    StatusRead { status, unread: unread.filter(|_| status.is_none()) }
}

/// Returns the first paragraph of a section, then the further lines; code and quotations only if
/// there is no other text.
fn own_lines<'a>(part: &'a [Line<'a>]) -> Vec<Line<'a>> {
    let own: Vec<Line<'_>> = part.iter().filter(|line| !line.is_foreign()).copied().collect();
    let lines = if own.iter().all(|line| line.text.is_empty()) { part } else { &own };
    let blank = |line: &&Line<'_>| line.text.is_empty() || lines::is_rule(line.text);
    let first = lines.iter().skip_while(blank);
    first.map(|line| if blank(&line) { Line::plain("") } else { *line }).collect()
}

fn section_status(lines: &[Line<'_>]) -> Option<SummaryStatus> {
    let mut worst = Reading::Silent;
    let mut is_first = true;
    for line in lines {
        if line.text.is_empty() {
            // Text after the status is talk, unless it names another status or takes this one back.
            is_first &= worst < Reading::Completed;
            continue;
        }
        let reading = match line_reading(line.text) {
            reading if is_first || begins_with_status(line.text) => reading,
            Reading::Doubt | Reading::Partial | Reading::Failed => {
                match begins_with_doubt(line.text) {
                    true => Reading::Doubt,
                    false => Reading::Silent,
                }
            }
            reading => reading,
        };
        worst = worst.max(reading);
    }
    match worst {
        Reading::Completed => Some(SummaryStatus::Completed),
        Reading::Partial => Some(SummaryStatus::Partial),
        Reading::Failed => Some(SummaryStatus::Failed),
        Reading::Silent | Reading::Doubt => None,
    }
}
