//! Plans in Markdown: task lists, and headings of the second and third level.
//!
//! In a text with task lists, every task is an atom, and a heading is the epic of the tasks below.
//! In a text without, each `##` is an atom and each `###` a child, with the text below as
//! description. A `###` called Priority, Type, Acceptance, Assignee, Labels or Depends on sets that
//! field of the atom above.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::outline::{self, Item, Kind};
use super::plan_field::field_name;
use super::record::{Batch, Record, RecordBond};
use super::{NoteKind, Tracker};
use crate::model::{BondKind, IssueType, Status};
use crate::text;

pub(super) fn read_plan(bytes: &[u8], name: &str) -> Batch {
    let mut batch = Batch::new(Tracker::Markdown);
    batch.source = format!("{}:{name}", Tracker::Markdown.as_str());
    let text = text_lines(bytes, &mut batch);
    let outline = outline::read_outline(text.strip_prefix('\u{feff}').unwrap_or(&text));
    let items = outline.items;
    let plan = Plan::new(&items);
    let mut notes = std::mem::take(&mut batch.notes);
    for passed in &outline.passed {
        notes.add(NoteKind::LeftOut, passed.what.as_text(), &format!("line {}", passed.line));
    }
    for (at, item) in items.iter().enumerate() {
        let place = format!("line {}", item.line);
        match &plan.roles[at] {
            Role::Atom => {
                let mut draft =
                    Draft::new(item.line, plan.ids[at].clone(), plan.item_fields(at), &mut notes);
                match read_record(&mut draft, &plan, at) {
                    Ok(record) => {
                        batch.records.push(record);
                        batch.bonds.extend(plan.item_bonds(at));
                    }
                    Err(why) => batch.add_error(item.line, why),
                }
            }
            Role::Field => {}
            Role::Title => {
                for line in &item.lines {
                    let what = "the text below the document's title is for people";
                    notes.add(NoteKind::LeftOut, what, &format!("line {line}"));
                }
            }
            Role::Prose => notes.add(
                NoteKind::LeftOut,
                "a heading without a task below it is for people",
                &place,
            ),
        }
    }
    batch.notes = notes;
    batch
}

/// The text, in which a line that is none is blank.
fn text_lines<'a>(bytes: &'a [u8], batch: &mut Batch) -> Cow<'a, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    let mut line_or_error = |(at, line)| {
        std::str::from_utf8(line).unwrap_or_else(|_| {
            batch.add_error(at + 1, "it is no UTF-8 text");
            ""
        })
    };
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    lines.map(&mut line_or_error).collect::<Vec<_>>().join("\n").into()
}

#[derive(Debug, PartialEq, Eq)]
enum Role {
    Atom,
    /// A field of the atom above.
    Field,
    /// The document's own title.
    Title,
    Prose,
}

struct Plan<'a> {
    items: &'a [Item],
    roles: Vec<Role>,
    /// By item: the path of titles from the top. A later import finds the atom by the path.
    ids: Vec<String>,
    children: Vec<Vec<usize>>,
}

impl<'a> Plan<'a> {
    fn new(items: &'a [Item]) -> Plan<'a> {
        let has_tasks = items.iter().any(|item| matches!(item.kind, Kind::Task { .. }));
        let mut children = vec![Vec::new(); items.len()];
        let mut has_task_below = vec![false; items.len()];
        for (at, item) in items.iter().enumerate() {
            if let Some(parent) = item.parent {
                children[parent].push(at);
            }
        }
        for (at, item) in items.iter().enumerate().rev() {
            has_task_below[at] |= matches!(item.kind, Kind::Task { .. });
            if let (Some(parent), true) = (item.parent, has_task_below[at]) {
                has_task_below[parent] = true;
            }
        }
        let role = |(at, item): (usize, &Item)| match item.kind {
            Kind::Task { .. } => Role::Atom,
            Kind::Heading(1) => Role::Title,
            Kind::Heading(_) if has_tasks => {
                if has_task_below[at] {
                    Role::Atom
                } else {
                    Role::Prose
                }
            }
            Kind::Heading(3)
                if item.parent.is_some_and(|p| items[p].kind == Kind::Heading(2))
                    && field_name(item).is_some() =>
            {
                Role::Field
            }
            Kind::Heading(_) => Role::Atom,
        };
        let roles: Vec<Role> = items.iter().enumerate().map(role).collect();
        let ids = item_ids(items, &roles);
        Plan { items, roles, ids, children }
    }

    fn atom_above(&self, at: usize) -> Option<usize> {
        let mut next = self.items[at].parent;
        while let Some(parent) = next {
            if self.roles[parent] == Role::Atom {
                return Some(parent);
            }
            next = self.items[parent].parent;
        }
        None
    }

    fn has_children(&self, at: usize) -> bool {
        self.children[at]
            .iter()
            .any(|child| self.roles[*child] == Role::Atom || self.has_children(*child))
    }

    /// Returns true if the item is ticked, or is a heading above ticked items only.
    fn is_done(&self, at: usize) -> bool {
        match self.items[at].kind {
            Kind::Task { ticked } => ticked,
            Kind::Heading(_) => {
                let mut below = self.children[at]
                    .iter()
                    .filter(|child| self.roles[**child] == Role::Atom)
                    .peekable();
                below.peek().is_some() && below.all(|child| self.is_done(*child))
            }
        }
    }

    /// Returns the fields of an item as an object.
    fn item_fields(&self, at: usize) -> Map<String, Value> {
        let item = &self.items[at];
        let mut object = Map::new();
        object.insert("title".to_owned(), item.title.clone().into());
        let mut description = item.text.clone();
        for child in self.children[at].iter().filter(|child| self.roles[**child] == Role::Field) {
            let said = &self.items[*child];
            match field_name(said) {
                Some("description" | "design" | "notes") => {
                    if !description.is_empty() {
                        description.push_str("\n\n");
                    }
                    if field_name(said) != Some("description") {
                        description.push_str(&format!("## {}\n\n", said.title));
                    }
                    description.push_str(&said.text);
                }
                Some(key @ ("labels" | "needs")) => {
                    object.insert(key.to_owned(), json!(split_list(&said.text)));
                }
                Some("depends") | None => {}
                Some(key) => {
                    object.insert(key.to_owned(), said.text.clone().into());
                }
            }
        }
        object.insert("description".to_owned(), description.into());
        object
    }

    /// Returns the bonds of an item: dependencies are titles of other items in the plan, or ids.
    fn item_bonds(&self, at: usize) -> Vec<RecordBond> {
        let fields = self.children[at].iter().filter(|c| {
            self.roles[**c] == Role::Field && field_name(&self.items[**c]) == Some("depends")
        });
        let wanted = fields.flat_map(|child| split_list(&self.items[*child].text));
        let bond = |text: String| {
            let named = self.items.iter().position(|item| item.title.eq_ignore_ascii_case(&text));
            let source = named
                .filter(|other| self.roles[*other] == Role::Atom)
                .map_or(text, |other| self.ids[other].clone());
            let (line, owner) = (self.items[at].line, self.ids[at].clone());
            RecordBond {
                line,
                target: owner.clone(),
                owner,
                source,
                kind: BondKind::Blocks,
                created_at: None,
            }
        };
        wanted.map(bond).collect()
    }
}

/// A list with commas, or of lines with bullets.
fn split_list(text: &str) -> Vec<String> {
    text.split([',', '\n'])
        .map(|word| word.trim().trim_start_matches(['-', '*']).trim().trim_matches('`').to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns the path of titles of each item; a number tells equal paths apart.
fn item_ids(items: &[Item], roles: &[Role]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::with_capacity(items.len());
    let mut taken: HashMap<String, usize> = HashMap::new();
    for (item, role) in items.iter().zip(roles) {
        let path = match item.parent.filter(|parent| roles[*parent] != Role::Title) {
            Some(parent) => format!("{} / {}", ids[parent], item.title),
            None => item.title.clone(),
        };
        // A path of titles may be longer than any id should be.
        let path: String =
            if path.len() > 400 { format!("…{}", text::tail_bytes(&path, 400)) } else { path };
        let count = if *role == Role::Atom {
            taken.entry(path.clone()).and_modify(|n| *n += 1).or_insert(1)
        } else {
            &mut 1
        };
        ids.push(if *count > 1 { format!("{path} ({count})") } else { path });
    }
    ids
}

fn read_record(draft: &mut Draft<'_>, plan: &Plan<'_>, at: usize) -> Result<Record, String> {
    let title = draft.take_title()?;
    let description = draft.long_text("description")?;
    let acceptance = draft.long_text("acceptance")?;
    let said = draft.issue_type("issue_type", |_| None);
    Ok(Record {
        run_options: None,
        needs: Some(draft.take_labels("needs")).filter(|needs| !needs.is_empty()),
        line: draft.line,
        id: draft.id.clone(),
        names: Vec::new(),
        title,
        description,
        acceptance: Some(acceptance).filter(|text| !text.is_empty()),
        status: if plan.is_done(at) { Status::Closed } else { Status::Open },
        issue_type: if plan.has_children(at) { IssueType::Epic } else { said },
        priority: draft.take_priority(),
        labels: draft.take_labels("labels"),
        assignee: draft
            .take_text("assignee")
            .and_then(|who| draft.check_name("assignee", who.trim().trim_start_matches('@'))),
        parent: plan.atom_above(at).map(|parent| plan.ids[parent].clone()),
        defer_until: None,
        close_reason: None,
        created_by: None,
        created_at: None,
        updated_at: None,
        closed_at: None,
        metadata: draft.finish_metadata(Tracker::Markdown.as_str(), Map::new()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> Vec<String> {
        let batch = read_plan(text.as_bytes(), "plan.md");
        assert!(batch.bad.is_empty(), "{:?}", batch.bad);
        let show = |r: &Record| {
            let parent =
                r.parent.as_deref().map(|parent| format!(" < {parent}")).unwrap_or_default();
            let text = if r.description.is_empty() {
                String::new()
            } else {
                format!(": {}", r.description)
            };
            format!("{} {} {}{parent}{text}", r.status, r.issue_type, r.id)
        };
        batch.records.iter().map(show).collect()
    }

    #[test]
    fn headings_hold_the_tasks_below_them() {
        assert_eq!(
            outline(
                "# Plan\n\n## Storage\nAbout it.\n- [x] Schema\n- [ ] Queries\n  - [ ] Index\n\n\
                 ## Done\n- [x] Ids\n\n## Background\nProse.\n"
            ),
            [
                "open epic Storage: About it.",
                "closed task Storage / Schema < Storage",
                "open epic Storage / Queries < Storage",
                "open task Storage / Queries / Index < Storage / Queries",
                "closed epic Done",
                "closed task Done / Ids < Done",
            ]
        );
    }

    #[test]
    fn a_plan_of_headings_alone_is_atoms_and_their_children() {
        assert_eq!(
            outline("# T\n## Storage\nFiles.\n### Schema\nSTRICT.\n### Queries\n## Docs\n"),
            [
                "open epic Storage: Files.",
                "open task Storage / Schema < Storage: STRICT.",
                "open task Storage / Queries < Storage",
                "open task Docs"
            ]
        );
    }

    #[test]
    fn fields_below_a_heading_say_something_of_it() {
        let text = "## Fix it\n### Priority\n1\n### Type\nbug\n### Labels\napi, big one\n\
                    ### Needs\ngpu\n\
                    ### Depends on\n- Other\n- bd-9\n### Acceptance Criteria\nIt works.\n\
                    ## Other\n";
        let batch = read_plan(text.as_bytes(), "plan.md");
        let first = &batch.records[0];
        assert_eq!(
            (first.priority.value(), first.issue_type, first.labels.join(" ").as_str()),
            (1, IssueType::Bug, "api big-one")
        );
        assert_eq!(first.needs, Some(vec!["gpu".to_owned()]));
        assert_eq!(first.acceptance.as_deref(), Some("It works."));
        let sources: Vec<_> = batch.bonds.iter().map(|b| b.source.as_str()).collect();
        assert_eq!(sources, ["Other", "bd-9"]);
        assert_eq!(batch.source, "markdown:plan.md");
    }

    #[test]
    fn what_is_left_out_is_noted_with_its_line() {
        let noted = |text: &str| {
            let notes = read_plan(text.as_bytes(), "plan.md").notes.into_list();
            let mut lines: Vec<_> = notes.iter().flat_map(|note| note.places.clone()).collect();
            lines.sort();
            lines
        };
        let text = "Hello\n- [ ] A\n- [~] halfway\n- [ ]no space\n";
        assert_eq!(noted(text), ["line 1", "line 3", "line 4"]);
        let below_the_title = "# T\n- [ ] A\n\nprose\n\n> - [ ] quoted\n\n| - [ ] b |\n";
        assert_eq!(noted(below_the_title), ["line 4", "line 6", "line 8"]);
    }

    #[test]
    fn a_document_without_tasks_is_no_plan() {
        assert!(!super::super::is_plan("# el\n\n## Install\nmake\n\n## Use\n- a\n- b\n"));
        assert!(
            super::super::is_plan("## Fix it\n### Priority\n1\n")
                && super::super::is_plan("# T\n- [ ] a\n")
        );
    }

    #[test]
    fn the_same_title_twice_is_two_atoms() {
        assert_eq!(outline("- [ ] A\n- [ ] A\n"), ["open task A", "open task A (2)"]);
    }
}
