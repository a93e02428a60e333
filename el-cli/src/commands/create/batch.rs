//! Several atoms from a text: the format of the text, and the values of the flags.

use std::path::Path;

use el_core::exchange::outline::{self, PassedKind};
use el_core::model::Timestamp;
use el_core::ops::NewAtom;

use super::jsonl;
use super::markdown::{self, TaskList};
use crate::{CommandError, Result};

#[derive(Debug, PartialEq, Eq)]
enum Format {
    Json,
    Markdown,
}

/// Reads the atoms of a file, and the list of omissions. `defaults` fills the fields that the file
/// leaves out.
pub(super) fn read_batch(
    path: &Path,
    text: &str,
    defaults: &NewAtom,
    now: Timestamp,
) -> Result<TaskList> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let name = if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() };
    let format = detect_format(path, text);
    let mut list = match format {
        Format::Json => {
            TaskList { news: jsonl::read_records(&name, text, now)?, ..TaskList::default() }
        }
        Format::Markdown => markdown::read_task_list(text),
    };
    let ticked = list.passed.iter().filter(|passed| passed.what == PassedKind::Ticked).count();
    if list.news.is_empty() && ticked > 0 {
        return Err(CommandError::invalid_value(
            "file",
            format!("{name} has no open items in it, and {ticked} ticked"),
        )
        .with_hint("el import files ticked items as closed"));
    }
    if list.news.is_empty() {
        let error = CommandError::invalid_value("file", format!("{name} has no atoms in it"));
        let bullets = (format == Format::Markdown).then(|| outline::bullet_hint(&name, text));
        return Err(error.with_hint(bullets.flatten().unwrap_or_else(|| {
            "write one JSON object a line, or a Markdown list of '- [ ] title'".to_owned()
        })));
    }
    for new in &mut list.news {
        fill_defaults(new, defaults);
    }
    Ok(list)
}

/// By the file's name, else by how the text begins.
fn detect_format(path: &Path, text: &str) -> Format {
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
        .to_ascii_lowercase();
    match extension.as_str() {
        "json" | "jsonl" | "ndjson" => Format::Json,
        "md" | "markdown" => Format::Markdown,
        _ => {
            let rest = text.trim_start();
            let array = rest
                .strip_prefix('[')
                .is_some_and(|rest| rest.trim_start().starts_with(['{', ']']));
            if rest.starts_with('{') || array { Format::Json } else { Format::Markdown }
        }
    }
}

fn fill_defaults(new: &mut NewAtom, defaults: &NewAtom) {
    new.issue_type = new.issue_type.or(defaults.issue_type);
    new.priority = new.priority.or(defaults.priority);
    new.assignee = new.assignee.take().or_else(|| defaults.assignee.clone());
    new.parent = new.parent.take().or_else(|| defaults.parent.clone());
    new.discovered_from = new.discovered_from.take().or_else(|| defaults.discovered_from.clone());
    new.defer_until = new.defer_until.or(defaults.defer_until);
    new.metadata = new.metadata.take().or_else(|| defaults.metadata.clone());
    // A file sets no run options.
    new.run_options = defaults.run_options.clone();
    new.needs.extend(defaults.needs.iter().cloned());
    new.labels.extend(defaults.labels.iter().cloned());
    new.blocked_by.extend(defaults.blocked_by.iter().cloned());
    new.blocks.extend(defaults.blocks.iter().cloned());
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(0);

    #[test]
    fn the_format_is_told_from_the_name_or_the_text() {
        let told = |path: &str, text: &str| detect_format(Path::new(path), text);
        assert_eq!(told("a.md", "{"), Format::Markdown);
        assert_eq!(told("a.jsonl", "- [ ] x"), Format::Json);
        assert_eq!(told("-", " {\"title\":1}"), Format::Json);
        assert_eq!(told("-", "[ {\"title\":1}]"), Format::Json);
        assert_eq!(told("-", "[x] not json"), Format::Markdown);
        assert_eq!(told("plan", "# Plan\n- [ ] x"), Format::Markdown);
    }

    #[test]
    fn flags_hold_for_every_atom_that_says_nothing_else() {
        let defaults = NewAtom {
            assignee: Some("ada".into()),
            labels: vec!["plan".into()],
            ..NewAtom::default()
        };
        let text =
            "{\"title\":\"a\",\"assignee\":\"gendry\",\"labels\":[\"x\"]}\n{\"title\":\"b\"}\n";
        let news = read_batch(Path::new("-"), text, &defaults, NOW).unwrap().news;
        assert_eq!(news[0].assignee.as_deref(), Some("gendry"));
        assert_eq!(news[0].labels, ["x", "plan"]);
        assert_eq!(news[1].assignee.as_deref(), Some("ada"));
    }

    #[test]
    fn a_file_without_atoms_is_an_error() {
        assert!(read_batch(Path::new("plan.md"), "# Nothing\n", &NewAtom::default(), NOW).is_err());
        assert!(read_batch(Path::new("plan.jsonl"), "\n\n", &NewAtom::default(), NOW).is_err());
    }
}
