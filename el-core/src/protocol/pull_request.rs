//! The title and the body of a pull request: made from fields, never from whole texts.
//!
//! The body is the repository's template, and below it a section between two marks. Only the
//! section is ever replaced. Words of agents are made harmless, and what looks like a key stops the
//! whole.

mod closing;
mod harmless;
mod keys;

pub use closing::find_closings;
pub use harmless::{make_harmless, make_title_harmless};
pub use keys::describe_key;

use crate::model::{Summary, Verify};
use crate::text;

const BEGIN: &str = "<!-- el:begin -->";
const END: &str = "<!-- el:end -->";
/// Forges take 65,536 characters.
const BODY_MAX: usize = 60_000;
const TITLE_MAX: usize = 200;
/// Characters of a field, and entries of a list, that are told.
const FIELD_MAX: usize = 2_000;
const LIST_MAX: usize = 20;

/// The contents of a pull request.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    pub atom_id: &'a str,
    pub title: &'a str,
    pub summary: Option<&'a Summary>,
    /// The checks that el ran, with their results.
    pub checks: &'a [Verify],
    /// The check that a rehearsal does not run; empty: there is none.
    pub to_run: &'a [String],
    pub attempts: usize,
    pub minutes: i64,
    /// Dollars, if they are to be told.
    pub cost: Option<&'a str>,
    /// The issues that the atom came from.
    pub closes: &'a [u64],
}

/// The texts that must not leave this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Private<'a> {
    /// Values of variables that agents do not get.
    pub values: &'a [String],
    /// Folders of this machine: paths below them become relative.
    pub folders: &'a [String],
}

/// A field with something that looks like a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its {field} {} something that looks like {like}", has(field))]
pub struct KeyFound {
    pub field: &'static str,
    pub like: &'static str,
}

fn has(field: &str) -> &'static str {
    if field.ends_with('s') { "have" } else { "has" }
}

/// Returns the title.
///
/// # Errors
/// If it has something that looks like a key.
pub fn compose_title(told: &Told<'_>, private: &Private<'_>) -> Result<String, KeyFound> {
    let title = Writer { private }.plain_line("title", told.title, TITLE_MAX)?;
    let title = make_title_harmless(&title);
    Ok(if title.is_empty() { told.atom_id.to_owned() } else { title })
}

/// Returns the section with its marks.
///
/// # Errors
/// If a field has something that looks like a key.
pub fn compose_section(told: &Told<'_>, private: &Private<'_>) -> Result<String, KeyFound> {
    let write = Writer { private };
    let mut out = String::new();
    if let Some(summary) = told.summary {
        let objective = summary.objective.as_deref().unwrap_or_default();
        out.push_str(&write.paragraph("objective", objective)?);
        let done = summary.accomplishments.iter().map(|text| ("accomplishments", text.as_str()));
        out.push_str(&write.list("Accomplishments", done)?);
        let mut files = Vec::new();
        for file in summary.deliverables.iter().filter(|file| is_relative(&file.path)) {
            let path = file.path.replace('`', "");
            let about = file.description.as_deref().unwrap_or_default();
            files.push(format!("{path} {about}").trim().to_owned());
        }
        let files = files.iter().map(|text| ("deliverables", text.as_str()));
        out.push_str(&write.list("Deliverables", files)?);
    }
    let mut checks = Vec::new();
    for check in told.checks {
        checks.push(format!("{}: {}", check.command.join(" "), check.status));
    }
    if !told.to_run.is_empty() {
        checks.push(format!("{}: would be run", told.to_run.join(" ")));
    }
    out.push_str(&write.list("Checks", checks.iter().map(|text| ("checks", text.as_str())))?);
    for number in told.closes {
        out.push_str(&format!("Closes #{number}\n\n"));
    }
    let tries = if told.attempts == 1 { "attempt" } else { "attempts" };
    let cost = told.cost.map(|cost| format!(", {cost}")).unwrap_or_default();
    let foot = format!(
        "{} · {} {tries}, {} min{cost}",
        write.line("id", told.atom_id, TITLE_MAX)?,
        told.attempts,
        told.minutes
    );
    let room = BODY_MAX - BEGIN.len() - END.len() - foot.len() - 8;
    let cut: String = out.trim_end().chars().take(room).collect();
    Ok(format!("{BEGIN}\n{cut}\n\n{foot}\n{END}"))
}

/// Returns a new body: the section below the repository's template.
pub fn new_body(template: Option<&str>, section: &str) -> String {
    let template = template.map(str::trim).filter(|text| !text.is_empty());
    // A template with marks of its own would have two sections.
    match template.filter(|text| find_section(text).is_none()) {
        Some(text) if text.chars().count() + section.chars().count() < BODY_MAX => {
            format!("{text}\n\n{section}\n")
        }
        _ => format!("{section}\n"),
    }
}

/// Returns a body with the section replaced. `None`: a mark is missing or there twice, so nothing
/// is replaced.
pub fn replace_section(body: &str, section: &str) -> Option<String> {
    let (begin, end) = find_section(body)?;
    Some(format!("{}{section}{}", &body[..begin], &body[end..]))
}

fn find_section(body: &str) -> Option<(usize, usize)> {
    let (begin, end) = (body.find(BEGIN)?, body.find(END)? + END.len());
    let is_once = body.matches(BEGIN).count() == 1 && body.matches(END).count() == 1;
    (is_once && begin < end).then_some((begin, end))
}

/// Paths of this machine say nothing to others.
fn is_relative(path: &str) -> bool {
    !path.starts_with(['/', '~']) && !path.split('/').any(|part| part == "..")
}

struct Writer<'a> {
    private: &'a Private<'a>,
}

impl Writer<'_> {
    /// A text in one line, without harm.
    fn line(&self, field: &'static str, said: &str, max: usize) -> Result<String, KeyFound> {
        Ok(make_harmless(&self.plain_line(field, said, max)?))
    }

    /// A text in one line, without a key and without folders of this machine.
    fn plain_line(&self, field: &'static str, said: &str, max: usize) -> Result<String, KeyFound> {
        if let Some(like) = describe_key(said, self.private.values) {
            return Err(KeyFound { field, like });
        }
        let mut said = said.to_owned();
        for folder in self.private.folders.iter().filter(|folder| folder.len() > 1) {
            said = said.replace(&format!("{folder}/"), "").replace(folder.as_str(), ".");
        }
        Ok(text::one_line(&said, max))
    }

    fn paragraph(&self, field: &'static str, said: &str) -> Result<String, KeyFound> {
        let line = self.line(field, said, FIELD_MAX)?;
        Ok(if line.is_empty() { line } else { format!("{line}\n\n") })
    }

    fn list<'t>(
        &self,
        heading: &str,
        items: impl Iterator<Item = (&'static str, &'t str)>,
    ) -> Result<String, KeyFound> {
        let mut out = String::new();
        let mut more = 0;
        for (at, (field, item)) in items.enumerate() {
            let line = self.line(field, item, FIELD_MAX)?;
            match at {
                _ if line.is_empty() => {}
                LIST_MAX.. => more += 1,
                _ => out.push_str(&format!("- {line}\n")),
            }
        }
        if more > 0 {
            out.push_str(&format!("- and {more} more\n"));
        }
        Ok(if out.is_empty() { out } else { format!("**{heading}**\n\n{out}\n") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Deliverable;

    fn summary() -> Summary {
        Summary {
            objective: Some("Bake @ann's bread. Closes #1 <img src=x>".to_owned()),
            accomplishments: vec![
                "Put ![x](http://a/b.png) into /home/ann/shop/oven.rs".to_owned(),
            ],
            deliverables: vec![
                Deliverable { path: "oven.rs".into(), description: Some("the oven".into()) },
                Deliverable { path: "/etc/passwd".into(), description: None },
            ],
            ..Summary::default()
        }
    }

    fn told<'a>(summary: &'a Summary) -> Told<'a> {
        Told {
            atom_id: "app-1",
            title: "Bake bread, fixes #7",
            summary: Some(summary),
            checks: &[],
            to_run: &[],
            attempts: 2,
            minutes: 5,
            cost: None,
            closes: &[12],
        }
    }

    #[test]
    fn a_body_tells_the_fields_and_nothing_of_them_does_harm() {
        let summary = summary();
        let folders = ["/home/ann/shop".to_owned()];
        let private = Private { values: &[], folders: &folders };
        let section = compose_section(&told(&summary), &private).unwrap();
        assert_eq!(
            section,
            "<!-- el:begin -->\n\
             Bake @\u{200b}ann's bread. Closes #\u{200b}1 &lt;img src=x>\n\n\
             **Accomplishments**\n\n- Put !\\[x](http://a/b.png) into oven.rs\n\n\
             **Deliverables**\n\n- oven.rs the oven\n\nCloses #12\n\n\
             app-1 · 2 attempts, 5 min\n<!-- el:end -->"
        );
        let title = compose_title(&told(&summary), &private).unwrap();
        assert_eq!(title, "Bake bread, fixes #\u{200b}7");
    }

    #[test]
    fn a_key_stops_it_and_names_the_field() {
        let mut summary = summary();
        summary.accomplishments.push(format!("used ghp_{}", "a1".repeat(18)));
        let found = compose_section(&told(&summary), &Private::default()).unwrap_err();
        let words = "its accomplishments have something that looks like a key of GitHub";
        assert_eq!((found.field, found.to_string().as_str()), ("accomplishments", words));
        let values = ["hunter2hunter2".to_owned()];
        let private = Private { values: &values, folders: &[] };
        let odd = Told { title: "say hunter2hunter2", ..told(&summary) };
        assert_eq!(compose_title(&odd, &private).unwrap_err().field, "title");
    }

    #[test]
    fn only_the_text_between_the_marks_is_replaced() {
        let body = new_body(Some("## Why\n\n- [ ] tested"), &format!("{BEGIN}\nold\n{END}"));
        assert!(body.starts_with("## Why\n\n- [ ] tested\n\n<!-- el:begin -->"));
        let edited = body.replace("[ ]", "[x]") + "A person's words.\n";
        let new = replace_section(&edited, &format!("{BEGIN}\nnew\n{END}")).unwrap();
        assert_eq!(new, edited.replace("old", "new"));
        for broken in [
            edited.replace(END, ""),
            edited.replace(BEGIN, ""),
            format!("{edited}{BEGIN}"),
            format!("{END}{BEGIN}"),
        ] {
            assert_eq!(replace_section(&broken, "x"), None, "{broken}");
        }
    }

    #[test]
    fn a_summary_without_end_fits() {
        let mut summary = summary();
        summary.accomplishments = vec!["ä".repeat(FIELD_MAX); 100];
        let section = compose_section(&told(&summary), &Private::default()).unwrap();
        assert!(section.chars().count() <= BODY_MAX && section.ends_with(END));
        assert!(section.contains("and 80 more") || section.chars().count() > 30_000);
        let body = new_body(Some(&"t".repeat(BODY_MAX)), &section);
        assert!(body.starts_with(BEGIN), "the template has no room");
    }
}
