//! Markdown as an outline: headings of the first three levels, and the items of task lists, each
//! with the text below it.
//!
//! `- [ ] title` is a task; a deeper one is its child; text that is indented below it is its own.
//! Text at the margin ends a list and belongs to the heading above. What stands in a code fence is
//! text. Deeper headings are text too.

/// What an item of an outline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A heading of this level, 1 to 3.
    Heading(u8),
    Task {
        ticked: bool,
    },
}

/// One heading or task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Counts from 1.
    pub line: usize,
    pub kind: Kind,
    pub title: String,
    /// The text below it, without its indentation.
    pub text: String,
    /// The item that it stands below: a task's is a task or a heading, a heading's a heading.
    pub parent: Option<usize>,
}

/// Every heading and task, in order.
pub fn read(text: &str) -> Vec<Item> {
    let mut outline = Outline::default();
    for (at, line) in text.lines().enumerate() {
        outline.line(at + 1, line);
    }
    for item in &mut outline.items {
        item.text = dedent(&item.text);
    }
    outline.items
}

#[derive(Default)]
struct Outline {
    items: Vec<Item>,
    /// The headings that are open, by their levels, and the tasks, by their indentation.
    headings: Vec<(u8, usize)>,
    tasks: Vec<(usize, usize)>,
    in_fence: bool,
}

impl Outline {
    fn line(&mut self, number: usize, line: &str) {
        let indent = indent_of(line);
        let content = line.trim_start();
        let continues = self.tasks.last().is_some_and(|(at, _)| indent > *at);
        if content.starts_with("```") || content.starts_with("~~~") {
            self.in_fence = !self.in_fence;
            if !continues {
                self.tasks.clear();
            }
            self.describe(line);
            return;
        }
        if !self.in_fence {
            if let Some((ticked, title)) = task(content) {
                self.task(number, indent, ticked, title);
                return;
            }
            if let Some((level, title)) = heading(line).filter(|_| !continues) {
                self.heading(number, level, title);
                return;
            }
            // Text at the margin ends the list.
            if !content.is_empty() && !continues {
                self.tasks.clear();
            }
        }
        self.describe(line);
    }

    fn task(&mut self, line: usize, indent: usize, ticked: bool, title: &str) {
        while self.tasks.last().is_some_and(|(at, _)| *at >= indent) {
            self.tasks.pop();
        }
        let parent =
            self.tasks.last().map(|(_, at)| *at).or(self.headings.last().map(|(_, at)| *at));
        self.tasks.push((indent, self.items.len()));
        self.items.push(Item {
            line,
            kind: Kind::Task { ticked },
            title: title.to_owned(),
            text: String::new(),
            parent,
        });
    }

    fn heading(&mut self, line: usize, level: u8, title: &str) {
        self.tasks.clear();
        while self.headings.last().is_some_and(|(other, _)| *other >= level) {
            self.headings.pop();
        }
        let parent = self.headings.last().map(|(_, at)| *at);
        self.headings.push((level, self.items.len()));
        self.items.push(Item {
            line,
            kind: Kind::Heading(level),
            title: title.to_owned(),
            text: String::new(),
            parent,
        });
    }

    /// Puts a line below the item that is open.
    fn describe(&mut self, line: &str) {
        let open = self.tasks.last().map(|(_, at)| *at).or(self.headings.last().map(|(_, at)| *at));
        if let Some(item) = open.and_then(|at| self.items.get_mut(at)) {
            item.text.push_str(line);
            item.text.push('\n');
        }
    }
}

/// `# title` to `### title`, at the margin.
fn heading(line: &str) -> Option<(u8, &str)> {
    let rest = line.trim_start_matches('#');
    let level =
        u8::try_from(line.len() - rest.len()).ok().filter(|level| (1..=3).contains(level))?;
    let title = rest.strip_prefix([' ', '\t'])?.trim();
    // A closing row of `#` is no part of the title.
    let bare = title.trim_end_matches('#');
    let title = if bare.len() < title.len() && (bare.is_empty() || bare.ends_with(' ')) {
        bare.trim_end()
    } else {
        title
    };
    (!title.is_empty()).then_some((level, title))
}

/// `- [ ] title`, with `*` or `+` or a number for the dash.
fn task(content: &str) -> Option<(bool, &str)> {
    let rest = match content.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let digits =
                content.len() - content.trim_start_matches(|c: char| c.is_ascii_digit()).len();
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
    let common = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let lines: Vec<&str> =
        text.lines().map(|line| line.get(common..).unwrap_or_default().trim_end()).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn outline(text: &str) -> Vec<String> {
        let show = |item: &Item| {
            let mark = match item.kind {
                Kind::Heading(level) => "#".repeat(usize::from(level)),
                Kind::Task { ticked } => if ticked { "[x]" } else { "[ ]" }.to_owned(),
            };
            let parent = item.parent.map(|parent| format!(" < {parent}")).unwrap_or_default();
            let text =
                if item.text.is_empty() { String::new() } else { format!(": {}", item.text) };
            format!("{mark} {}{parent}{text}", item.title)
        };
        read(text).iter().map(show).collect()
    }

    #[test]
    fn tasks_stand_below_their_headings_and_deeper_ones_below_tasks() {
        assert_eq!(
            outline(
                "# Plan ##\nWhy.\n## Storage\n- [ ] Schema\n  STRICT.\n  - [x] Ids\n\nProse.\n### Later\n- [ ] Views\n## Docs\n"
            ),
            [
                "# Plan: Why.",
                "## Storage < 0: Prose.",
                "[ ] Schema < 1: STRICT.",
                "[x] Ids < 2",
                "### Later < 1",
                "[ ] Views < 4",
                "## Docs < 0"
            ]
        );
    }

    #[test]
    fn code_is_text_and_so_are_deep_headings_and_indented_ones() {
        assert_eq!(
            outline("## A\n```\n# comment\n- [ ] no\n```\n#### deep\n#hashtag\n"),
            ["## A: ```\n# comment\n- [ ] no\n```\n#### deep\n#hashtag"]
        );
        assert_eq!(outline("- [ ] A\n  # indented\n"), ["[ ] A: # indented"]);
    }

    proptest! {
        #[test]
        fn no_text_panics_and_parents_come_first(text in "([-*#0-9.\\[\\]xX `\t]|[a-zé]|\n){0,200}") {
            for (at, item) in read(&text).iter().enumerate() {
                prop_assert!(item.parent.is_none_or(|parent| parent < at));
                prop_assert!(!item.title.trim().is_empty());
            }
        }
    }
}
