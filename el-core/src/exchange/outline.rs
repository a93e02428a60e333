//! Markdown as an outline: headings of the first three levels, and items of task lists, each with
//! the text below.
//!
//! `- [ ] title` is a task, a deeper task is a child, and indented text below a task belongs to the
//! task. Text at the margin ends a list and belongs to the heading above. Code fences and
//! quotations are text and comments are dropped, as in CommonMark. Deeper headings are text too.

use crate::text::markdown::{Line, LineKind, Markdown};

/// The kind of an item in an outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A heading of level 1 to 3.
    Heading(u8),
    Task {
        ticked: bool,
    },
}

/// A heading or a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Counts from 1.
    pub line: usize,
    pub kind: Kind,
    pub title: String,
    /// The text below the item, without indentation.
    pub text: String,
    /// Below a heading of level 1: the lines of the text that are not blank.
    pub lines: Vec<usize>,
    /// The item above in the tree: a task stands below a task or a heading, a heading below a
    /// heading.
    pub parent: Option<usize>,
}

/// A line that is neither heading nor task and belongs to no item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    pub line: usize,
    pub what: PassedKind,
}

/// The kind of a line that was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassedKind {
    /// `- [~] title` and other boxes that are neither `[ ]` nor `[x]`.
    UnknownBox,
    /// `- [ ]title`, or a box without a title.
    BadTask,
    FrontMatter,
    Comment,
    /// A fence that never ends; the lines below are read as usual.
    OpenFence,
    /// A line of text above the first heading or task.
    Prose,
    /// A heading with its text, for a reader that makes no atoms of headings.
    Heading,
    /// A ticked item, for a reader that makes atoms of open ones only.
    Ticked,
}

impl PassedKind {
    pub const fn as_text(self) -> &'static str {
        match self {
            PassedKind::UnknownBox => "a box that is neither [ ] nor [x] makes no task",
            PassedKind::BadTask => "a box without a space and a title behind it makes no task",
            PassedKind::FrontMatter => "front matter is for other programs",
            PassedKind::Comment => "a comment is for people",
            PassedKind::OpenFence => "a code fence never ends; what is below it is read as text",
            PassedKind::Prose => "text that belongs to no task is for people",
            PassedKind::Heading => "a heading and its text make no atom here; el import makes one",
            PassedKind::Ticked => {
                "a ticked item is left out here, with its text; el import takes it, as closed"
            }
        }
    }
}

/// A text as headings and tasks, with all passed lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outlined {
    /// In order.
    pub items: Vec<Item>,
    /// In line order.
    pub passed: Vec<Passed>,
}

impl Outlined {
    pub fn has_tasks(&self) -> bool {
        self.items.iter().any(|item| matches!(item.kind, Kind::Task { .. }))
    }
}

/// Every heading and task, in order.
pub fn read_outline(text: &str) -> Outlined {
    let markdown = Markdown::read(text);
    let lines: Vec<Line<'_>> = markdown.lines().collect();
    let mut outline = Outline::default();
    let mut rest = lines.as_slice();
    if let Some(end) = front_matter(&lines) {
        outline.note_passed(1, PassedKind::FrontMatter);
        rest = &lines[end..];
    }
    while let Some((line, below)) = rest.split_first() {
        rest = outline.take_line(line, below);
    }
    let mut outlined = outline.outlined;
    for item in &mut outlined.items {
        item.text = dedent(&item.text);
    }
    let mut pass = |line, what| outlined.passed.push(Passed { line, what });
    markdown.comment_lines().iter().for_each(|lines| pass(lines.start, PassedKind::Comment));
    markdown.open_fences().iter().for_each(|line| pass(*line, PassedKind::OpenFence));
    outlined.passed.sort_by_key(|passed| passed.line);
    outlined
}

/// How many lines the front matter takes: `---`, keys and values, `---`.
fn front_matter(lines: &[Line<'_>]) -> Option<usize> {
    let (first, rest) = lines.split_first()?;
    if first.text.trim_end() != "---" {
        return None;
    }
    let end = rest.iter().position(|line| matches!(line.text.trim_end(), "---" | "..."))?;
    let is_key = |line: &Line<'_>| {
        let text = line.text.trim();
        text.is_empty()
            || text.contains(':')
            || text.starts_with(['-', '#'])
            || line.indent_columns() > 0
    };
    (end > 0 && rest[..end].iter().all(is_key)).then_some(end + 2)
}

#[derive(Default)]
struct Outline {
    outlined: Outlined,
    /// The open headings by level, and the open tasks by indentation.
    headings: Vec<(u8, usize)>,
    tasks: Vec<(usize, usize)>,
}

impl Outline {
    /// Takes a line, and returns the lines that follow.
    fn take_line<'l, 't>(&mut self, line: &Line<'t>, below: &'l [Line<'t>]) -> &'l [Line<'t>] {
        let content = line.text.trim_start();
        let indent = line.indent_columns();
        let continues = self.tasks.last().is_some_and(|(at, _)| indent > *at);
        if line.kind != LineKind::Text {
            if line.kind == LineKind::Fence && !continues {
                self.tasks.clear();
            }
            self.add_description(line);
            return below;
        }
        match parse_checkbox(content) {
            Some(Ok((ticked, title))) => {
                self.add_task(line.number, indent, ticked, title);
                return below;
            }
            Some(Err(what)) => {
                self.note_passed(line.number, what);
                if !continues {
                    self.tasks.clear();
                }
                if self.open_item().is_some() {
                    self.add_description(line);
                }
                return below;
            }
            None => {}
        }
        if !continues && let Some((level, title)) = parse_heading(line.text) {
            self.add_heading(line.number, level, title);
            return below;
        }
        if !continues
            && let Some((next, below)) = below.split_first()
            && let Some(level) = underline_level(next)
            && indent < 4
            && !content.is_empty()
            && !content.starts_with(['-', '*', '+', '>', '|', '#'])
        {
            self.add_heading(line.number, level, content.trim_end());
            return below;
        }
        // Text at the margin ends the list.
        if !content.is_empty() && !continues {
            self.tasks.clear();
        }
        self.add_description(line);
        below
    }

    fn add_task(&mut self, line: usize, indent: usize, ticked: bool, title: &str) {
        while self.tasks.last().is_some_and(|(at, _)| *at >= indent) {
            self.tasks.pop();
        }
        let parent = self.open_item();
        self.tasks.push((indent, self.outlined.items.len()));
        self.push(line, Kind::Task { ticked }, title, parent);
    }

    fn add_heading(&mut self, line: usize, level: u8, title: &str) {
        self.tasks.clear();
        while self.headings.last().is_some_and(|(other, _)| *other >= level) {
            self.headings.pop();
        }
        let parent = self.headings.last().map(|(_, at)| *at);
        self.headings.push((level, self.outlined.items.len()));
        self.push(line, Kind::Heading(level), title, parent);
    }

    fn push(&mut self, line: usize, kind: Kind, title: &str, parent: Option<usize>) {
        let (title, text) = (title.to_owned(), String::new());
        self.outlined.items.push(Item { line, kind, title, text, lines: Vec::new(), parent });
    }

    fn note_passed(&mut self, line: usize, what: PassedKind) {
        self.outlined.passed.push(Passed { line, what });
    }

    fn open_item(&self) -> Option<usize> {
        self.tasks.last().map(|(_, at)| *at).or(self.headings.last().map(|(_, at)| *at))
    }

    /// Puts a line below the item that is open.
    fn add_description(&mut self, line: &Line<'_>) {
        if let Some(item) = self.open_item().and_then(|at| self.outlined.items.get_mut(at)) {
            item.text.push_str(line.text);
            item.text.push('\n');
            if item.kind == Kind::Heading(1) && !line.text.trim().is_empty() {
                item.lines.push(line.number);
            }
        } else if !line.text.trim().is_empty() {
            self.note_passed(line.number, PassedKind::Prose);
        }
    }
}

/// `# title` to `### title`, at the margin.
fn parse_heading(line: &str) -> Option<(u8, &str)> {
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

/// A row of `=` or `-` below a title.
fn underline_level(line: &Line<'_>) -> Option<u8> {
    let text = line.text.trim();
    let is_row = |mark: u8| text.len() >= 3 && text.bytes().all(|b| b == mark);
    match line.kind {
        LineKind::Text if is_row(b'=') => Some(1),
        LineKind::Text if is_row(b'-') => Some(2),
        _ => None,
    }
}

/// Reads a checkbox: `- [ ] title`, with `-`, `*`, `+` or a number. Returns an error if the box
/// makes no task, and `None` if there is no box.
fn parse_checkbox(content: &str) -> Option<Result<(bool, &str), PassedKind>> {
    let rest = list_item(content)?.strip_prefix('[')?;
    let mut characters = rest.chars();
    let mark = characters.next()?;
    let title = characters.as_str().strip_prefix(']')?;
    if title.starts_with('(') {
        // `[x](link)` names something.
        return None;
    }
    let ticked = match mark {
        ' ' | '\u{a0}' => false,
        'x' | 'X' => true,
        _ => return Some(Err(PassedKind::UnknownBox)),
    };
    let name = title.trim();
    let is_task = title.starts_with([' ', '\t']) && !name.is_empty();
    Some(if is_task { Ok((ticked, name)) } else { Err(PassedKind::BadTask) })
}

/// Returns the text after the mark of a list.
fn list_item(content: &str) -> Option<&str> {
    let rest = match content.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let digits =
                content.len() - content.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            content.get(digits..).filter(|_| digits > 0)?.strip_prefix(['.', ')'])?
        }
    };
    Some(rest.strip_prefix([' ', '\t'])?.trim_start())
}

/// How the plain bullets of a text become tasks; `None` if it has no list. `file` names the text.
pub fn bullet_hint(file: &str, text: &str) -> Option<String> {
    let markdown = Markdown::read(text);
    let is_item = |line: &Line<'_>| {
        line.kind == LineKind::Text && list_item(line.text.trim_start()).is_some()
    };
    let first = markdown.lines().find(is_item)?.number;
    Some(format!(
        "the plain bullets (the first is in line {first}) become tasks with: \
         sed -E 's/^( *)([-*+]|[0-9]+[.)]) /\\1- [ ] /' {file} | el import --from markdown -"
    ))
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
mod tests;
