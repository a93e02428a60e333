//! Atoms from a Markdown task list.
//!
//! `- [ ] title` is an atom; a deeper one is its child; an atom with children is an epic; text that is indented below
//! an item is its description. Ticked items are done and left out; their open children stay, one level up. Everything
//! else (headings, prose between lists) is for people.

use el_core::model::IssueType;
use el_core::ops::NewAtom;

/// An open ancestor, or one that was ticked and left out.
struct Level {
    indent: usize,
    /// Where in the result it is.
    at: Option<usize>,
}

pub(super) fn read(text: &str) -> Vec<NewAtom> {
    let mut news: Vec<NewAtom> = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    let mut in_fence = false;
    for line in text.lines() {
        let indent = indent_of(line);
        let content = line.trim_start();
        let continues = levels.last().is_some_and(|level| indent > level.indent);
        if content.starts_with("```") || content.starts_with("~~~") {
            in_fence = !in_fence;
            if continues {
                describe(&mut news, &levels, line);
            } else {
                levels.clear();
            }
            continue;
        }
        let item = if in_fence { None } else { task(content) };
        match item {
            Some((ticked, title)) => {
                while levels.last().is_some_and(|level| level.indent >= indent) {
                    levels.pop();
                }
                let parent = levels.iter().rev().find_map(|level| level.at);
                let at = (!ticked).then_some(news.len());
                if !ticked {
                    news.push(new_atom(news.len(), title, parent.map(key)));
                    if let Some(parent) = parent {
                        news[parent].issue_type = Some(IssueType::Epic);
                    }
                }
                levels.push(Level { indent, at });
            }
            None if content.is_empty() || continues => describe(&mut news, &levels, line),
            // Text at the margin ends the list.
            None if !in_fence => levels.clear(),
            None => {}
        }
    }
    for new in &mut news {
        new.description = dedent(&new.description);
    }
    news
}

fn new_atom(at: usize, title: &str, parent: Option<String>) -> NewAtom {
    NewAtom { key: Some(key(at)), title: title.to_owned(), parent, ..NewAtom::default() }
}

/// A name within the batch that no id looks like.
fn key(at: usize) -> String {
    format!("#{at}")
}

/// `- [ ] title`, with `*` or `+` or a number for the dash.
fn task(content: &str) -> Option<(bool, &str)> {
    let rest = match content.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let digits = content.len() - content.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            content.get(digits..).filter(|_| digits > 0)?.strip_prefix(['.', ')'])?
        }
    };
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start().strip_prefix('[')?;
    let mut characters = rest.chars();
    let ticked = match characters.next()? {
        ' ' => false,
        'x' | 'X' => true,
        _ => return None,
    };
    let title = characters.as_str().strip_prefix(']')?;
    let title = title.strip_prefix([' ', '\t'])?.trim();
    (!title.is_empty()).then_some((ticked, title))
}

fn describe(news: &mut [NewAtom], levels: &[Level], line: &str) {
    if let Some(new) = levels.last().and_then(|level| level.at).and_then(|at| news.get_mut(at)) {
        new.description.push_str(line);
        new.description.push('\n');
    }
}

/// Columns of white space at the start; a tab counts four.
fn indent_of(line: &str) -> usize {
    line.chars()
        .map_while(|c| match c {
            ' ' => Some(1),
            '\t' => Some(4),
            _ => None,
        })
        .sum()
}

/// Removes the white space that all lines begin with, and blank lines around.
fn dedent(text: &str) -> String {
    let common =
        text.lines().filter(|line| !line.trim().is_empty()).map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines: Vec<&str> = text.lines().map(|line| line.get(common..).unwrap_or_default().trim_end()).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> Vec<String> {
        let show = |new: &NewAtom| {
            let kind = if new.issue_type == Some(IssueType::Epic) { "epic " } else { "" };
            let parent = new.parent.as_deref().map(|parent| format!(" < {parent}")).unwrap_or_default();
            let text = if new.description.is_empty() { String::new() } else { format!(": {}", new.description) };
            format!("{kind}{}{parent}{text}", new.title)
        };
        read(text).iter().map(show).collect()
    }

    #[test]
    fn deeper_items_are_children_and_their_parents_epics() {
        let text =
            "# Plan\n\n- [ ] Storage\n  - [ ] Schema\n    STRICT tables.\n\n    - [ ] Migrations\n  * [ ] Queries\n- [ ] Docs\n";
        assert_eq!(
            outline(text),
            ["epic Storage", "epic Schema < #0: STRICT tables.", "Migrations < #1", "Queries < #0", "Docs"]
        );
    }

    #[test]
    fn ticked_items_are_left_out_and_their_open_children_stay() {
        assert_eq!(
            outline("- [ ] A\n  - [x] done\n    - [ ] open child\n- [X] gone\n  text of what is gone\n"),
            ["epic A", "open child < #0"]
        );
    }

    #[test]
    fn text_at_the_margin_ends_an_item() {
        assert_eq!(outline("- [ ] A\n  about A\n\nProse in between.\n  indented prose\n1. [ ] B\n"), ["A: about A", "B"]);
    }

    #[test]
    fn code_in_a_description_is_no_task() {
        assert_eq!(outline("- [ ] A\n  ```\n  - [ ] not this\n  ```\n- [ ] B\n"), ["A: ```\n- [ ] not this\n```", "B"]);
        assert_eq!(outline("```\n- [ ] nor this\n```\n- [ ] C\n"), ["C"]);
    }

    #[test]
    fn what_only_looks_like_a_task_is_none() {
        assert!(outline("- [] x\n- [-] y\n-[ ] z\n- [ ]\n- plain\n[ ] bare\n").is_empty());
    }
}
