//! Atoms from a Markdown task list.
//!
//! `- [ ] title` is an atom; a deeper item is a child; an atom with children is an epic; text that
//! is indented below an item is the description. Ticked items are done and left out; open children
//! stay, a level up. The rest (headings, prose between lists) is for people, and is told with the
//! line.

use el_core::exchange::outline::{self, Item, Kind, Outlined, Passed, PassedKind};
use el_core::model::IssueType;
use el_core::ops::NewAtom;

/// A task list, read.
#[derive(Debug, Default)]
pub(super) struct TaskList {
    pub(super) news: Vec<NewAtom>,
    /// The lines that made no atom.
    pub(super) passed: Vec<Passed>,
}

pub(super) fn read_task_list(text: &str) -> TaskList {
    let Outlined { items, mut passed } = outline::read_outline(text);
    // The position of each item in the result; `None` for ticked items and items that are no task.
    let mut places: Vec<Option<usize>> = Vec::with_capacity(items.len());
    let mut news: Vec<NewAtom> = Vec::new();
    for item in &items {
        let is_open = item.kind == Kind::Task { ticked: false };
        places.push(is_open.then_some(news.len()));
        if is_open {
            let parent = open_ancestor(&items, &places, item);
            if let Some(parent) = parent {
                news[parent].issue_type = Some(IssueType::Epic);
            }
            news.push(NewAtom {
                key: Some(batch_key(news.len())),
                title: item.title.clone(),
                description: item.text.clone(),
                parent: parent.map(batch_key),
                ..NewAtom::default()
            });
        }
    }
    passed.extend(items.iter().filter_map(|item| {
        let what = match item.kind {
            Kind::Heading(_) => PassedKind::Heading,
            Kind::Task { ticked: true } => PassedKind::Ticked,
            Kind::Task { ticked: false } => return None,
        };
        Some(Passed { line: item.line, what })
    }));
    passed.sort_by_key(|passed| passed.line);
    TaskList { news, passed }
}

fn open_ancestor(items: &[Item], places: &[Option<usize>], item: &Item) -> Option<usize> {
    let mut next = item.parent;
    while let Some(at) = next {
        if places[at].is_some() {
            return places[at];
        }
        next = items[at].parent;
    }
    None
}

/// A name within the batch that no id looks like.
fn batch_key(at: usize) -> String {
    format!("#{at}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> Vec<String> {
        let show = |new: &NewAtom| {
            let kind = if new.issue_type == Some(IssueType::Epic) { "epic " } else { "" };
            let parent =
                new.parent.as_deref().map(|parent| format!(" < {parent}")).unwrap_or_default();
            let text = if new.description.is_empty() {
                String::new()
            } else {
                format!(": {}", new.description)
            };
            format!("{kind}{}{parent}{text}", new.title)
        };
        read_task_list(text).news.iter().map(show).collect()
    }

    #[test]
    fn deeper_items_are_children_and_their_parents_epics() {
        let text = "# Plan\n\n- [ ] Storage\n  - [ ] Schema\n    STRICT tables.\n\n\
            \x20   - [ ] Migrations\n  * [ ] Queries\n- [ ] Docs\n";
        assert_eq!(
            outline(text),
            [
                "epic Storage",
                "epic Schema < #0: STRICT tables.",
                "Migrations < #1",
                "Queries < #0",
                "Docs"
            ]
        );
    }

    #[test]
    fn ticked_items_are_left_out_and_their_open_children_stay() {
        assert_eq!(
            outline(
                "- [ ] A\n  - [x] done\n    - [ ] open child\n- [X] gone\n  text of what is gone\n"
            ),
            ["epic A", "open child < #0"]
        );
    }

    #[test]
    fn text_at_the_margin_ends_an_item() {
        assert_eq!(
            outline("- [ ] A\n  about A\n\nProse in between.\n  indented prose\n1. [ ] B\n"),
            ["A: about A", "B"]
        );
    }

    #[test]
    fn code_in_a_description_is_no_task() {
        assert_eq!(
            outline("- [ ] A\n  ```\n  - [ ] not this\n  ```\n- [ ] B\n"),
            ["A: ```\n- [ ] not this\n```", "B"]
        );
        assert_eq!(outline("```\n- [ ] nor this\n```\n- [ ] C\n"), ["C"]);
    }

    #[test]
    fn a_heading_is_told_with_its_line() {
        let passed = read_task_list("Hello\n# Plan\nWhy.\n- [ ] A\n## Later\n| table |\n").passed;
        let told: Vec<_> = passed.iter().map(|passed| (passed.line, passed.what)).collect();
        let heading = PassedKind::Heading;
        assert_eq!(told, [(1, PassedKind::Prose), (2, heading), (5, heading)]);
    }

    #[test]
    fn what_only_looks_like_a_task_is_none() {
        assert!(outline("- [] x\n- [-] y\n-[ ] z\n- [ ]\n- plain\n[ ] bare\n").is_empty());
    }
}
