//! An atom as a text that a person edits: a line for each short field, then the long texts.

use el_core::model::{Atom, IssueType, Priority};
use el_core::ops::AtomPatch;

use crate::{CommandError, Result};

/// The fields that can be edited, as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) title: String,
    pub(super) issue_type: String,
    pub(super) priority: String,
    pub(super) labels: Vec<String>,
    pub(super) needs: Vec<String>,
    pub(super) assignee: String,
    pub(super) parent: String,
    pub(super) description: String,
    pub(super) acceptance: String,
}

impl Fields {
    pub(super) fn from_atom(atom: &Atom) -> Fields {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Fields {
            title: atom.title.clone(),
            issue_type: atom.issue_type.to_string(),
            priority: atom.priority.as_word().to_owned(),
            labels: atom.labels.clone(),
            needs: atom.needs.clone(),
            assignee: text(&atom.assignee),
            parent: text(&atom.parent_id),
            description: atom.description.clone(),
            acceptance: text(&atom.acceptance),
        }
        .in_normal_form()
    }

    /// As a text that was written and read again has it.
    fn in_normal_form(self) -> Fields {
        Fields {
            title: self.title.trim().to_owned(),
            description: normal(&self.description),
            acceptance: normal(&self.acceptance),
            ..self
        }
    }

    /// The names of the fields in which two differ.
    pub(super) fn differing(&self, other: &Fields) -> Vec<&'static str> {
        let pairs = [
            ("title", self.title == other.title),
            ("type", self.issue_type == other.issue_type),
            ("priority", self.priority == other.priority),
            ("labels", self.labels == other.labels),
            ("needs", self.needs == other.needs),
            ("assignee", self.assignee == other.assignee),
            ("parent", self.parent == other.parent),
            ("description", self.description == other.description),
            ("acceptance", self.acceptance == other.acceptance),
        ];
        pairs.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect()
    }

    pub(super) fn issue_type(&self) -> Result<IssueType> {
        Ok(self.issue_type.parse()?)
    }

    pub(super) fn priority(&self) -> Result<Priority> {
        Ok(self.priority.parse()?)
    }

    /// The change from `before` to this.
    pub(super) fn patch(&self, before: &Fields) -> Result<AtomPatch> {
        let optional = |text: &String| (!text.is_empty()).then(|| text.clone());
        let missing = |from: &Fields, to: &Fields| -> Vec<String> {
            from.labels.iter().filter(|label| !to.labels.contains(label)).cloned().collect()
        };
        let mut patch = AtomPatch {
            add_labels: missing(self, before),
            remove_labels: missing(before, self),
            ..AtomPatch::default()
        };
        for field in self.differing(before) {
            match field {
                "title" => patch.title = Some(self.title.clone()),
                "type" => patch.issue_type = Some(self.issue_type()?),
                "priority" => patch.priority = Some(self.priority()?),
                "needs" => patch.needs = Some(self.needs.clone()),
                "assignee" => patch.assignee = Some(optional(&self.assignee)),
                "parent" => patch.parent = Some(optional(&self.parent)),
                "description" => patch.description = Some(self.description.clone()),
                "acceptance" => patch.acceptance = Some(optional(&self.acceptance)),
                _ => {}
            }
        }
        Ok(patch)
    }
}

/// Without the white space at its ends that no editor keeps.
fn normal(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines.join("\n").trim_end().trim_start_matches('\n').to_owned()
}

/// The lines that part the text, longer than any such line in the atom's own texts.
#[derive(Debug)]
pub(super) struct Form {
    description: String,
    acceptance: String,
    scissors: String,
}

impl Form {
    pub(super) fn new(fields: &Fields) -> Form {
        let lines = fields.description.lines().chain(fields.acceptance.lines());
        let longest = lines.map(|line| line.chars().take_while(|c| *c == '-').count()).max();
        let dashes = "-".repeat(longest.unwrap_or(0).max(3) + 1);
        Form {
            description: format!("{dashes} description"),
            acceptance: format!("{dashes} acceptance (how one can tell that it is done)"),
            scissors: format!("{dashes} >8 {dashes}"),
        }
    }

    pub(super) fn write(&self, fields: &Fields, help: &str) -> String {
        format!(
            "title: {}\ntype: {}\npriority: {}\nlabels: {}\nneeds: {}\nassignee: {}\nparent: {}\n\
             {}\n{}\n{}\n{}\n{}\n\
             Text below this line is not read. Nothing changes if the text is saved as it \
             was,\nor emptied.\n{help}\n",
            fields.title,
            fields.issue_type,
            fields.priority,
            fields.labels.join(", "),
            fields.needs.join(", "),
            fields.assignee,
            fields.parent,
            self.description,
            fields.description,
            self.acceptance,
            fields.acceptance,
            self.scissors,
        )
    }

    /// Reads the text again. A missing line leaves the field unchanged. `None` if all lines are
    /// missing.
    ///
    /// # Errors
    /// At the first line that is no field.
    pub(super) fn read(&self, text: &str, before: &Fields) -> Result<Option<Fields>> {
        let mut fields = before.clone();
        // The lines below each mark.
        let mut long: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut is_empty = true;
        // Some editors begin a file with a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        for (at, line) in text.lines().enumerate() {
            let mark = line.trim_end();
            if mark == self.scissors {
                break;
            }
            is_empty &= line.trim().is_empty();
            if mark == self.description || mark == self.acceptance {
                long.push((mark, Vec::new()));
            } else if let Some((_, lines)) = long.last_mut() {
                lines.push(line);
            } else if !line.trim().is_empty() {
                fields.set(line).map_err(|message| {
                    CommandError::invalid_value("text", format!("line {}: {message}", at + 1))
                })?;
            }
        }
        for (mark, lines) in long {
            let text = normal(&lines.join("\n"));
            match mark == self.description {
                true => fields.description = text,
                false => fields.acceptance = text,
            }
        }
        Ok((!is_empty).then_some(fields))
    }
}

impl Fields {
    fn set(&mut self, line: &str) -> Result<(), String> {
        let known = "title, type, priority, labels, needs, assignee and parent";
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| format!("'{line}' is no field; there are {known}"))?;
        let value = value.trim().to_owned();
        match name.trim() {
            "title" => self.title = value,
            "type" => self.issue_type = value,
            "priority" => self.priority = value,
            "assignee" => self.assignee = value,
            "parent" => self.parent = value,
            "labels" => self.labels = label_list(&value),
            "needs" => self.needs = label_list(&value),
            other => return Err(format!("there is no field '{other}'; there are {known}")),
        }
        Ok(())
    }
}

fn label_list(text: &str) -> Vec<String> {
    let labels = text.split(',').map(str::trim).filter(|label| !label.is_empty());
    let mut labels: Vec<String> = labels.map(str::to_owned).collect();
    labels.sort();
    labels.dedup();
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Fields {
        Fields {
            title: "Fix: the parser".to_owned(),
            issue_type: "bug".to_owned(),
            priority: "high".to_owned(),
            labels: vec!["a".to_owned(), "b".to_owned()],
            needs: vec!["gpu".to_owned()],
            description: "# Offsets\n\n---- description\n---- >8 ----\nend".to_owned(),
            ..Fields::default()
        }
    }

    #[test]
    fn what_is_written_is_read_whatever_stands_in_the_texts() {
        let before = fields();
        let form = Form::new(&before);
        let text = form.write(&before, "help: me");
        assert_eq!(form.read(&text, &Fields::default()).unwrap(), Some(before.clone()));
        let with_crlf = text.replace('\n', "\r\n");
        assert_eq!(form.read(&with_crlf, &Fields::default()).unwrap(), Some(before));
    }

    #[test]
    fn only_what_differs_is_changed() {
        let before = fields();
        let form = Form::new(&before);
        let text = form.write(&before, "");
        let text =
            text.replace("priority: high", "priority: 3").replace("labels: a, b", "labels: b, c");
        let after = form.read(&text, &before).unwrap().unwrap();
        let patch = after.patch(&before).unwrap();
        let want = AtomPatch {
            priority: Some("low".parse().unwrap()),
            add_labels: vec!["c".to_owned()],
            remove_labels: vec!["a".to_owned()],
            ..AtomPatch::default()
        };
        assert_eq!(patch, want);
    }

    #[test]
    fn a_line_that_is_no_field_is_named_and_an_empty_text_is_none() {
        let before = fields();
        let form = Form::new(&before);
        let error = form.read("title: x\nstatus: closed\n", &before).unwrap_err();
        assert!(error.message().contains("line 2: there is no field 'status'"), "{error}");
        assert_eq!(form.read(&format!("\n \n{}\nhelp", form.scissors), &before).unwrap(), None);
    }
}
