//! A text as lines, with what a line's surroundings say of it: whether it stands in a fence.

/// One line, without the blanks around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    /// Columns before the text.
    pub(super) indent: usize,
    /// It stands in a fenced block: no heading and no list, whatever it looks like.
    pub(super) fenced: bool,
}

impl<'a> Line<'a> {
    pub(super) fn plain(text: &'a str) -> Line<'a> {
        Line { text: text.trim(), indent: 0, fenced: false }
    }
}

/// The text's first `max` bytes, on a character's border; tells if that is not all.
pub(super) fn head(text: &str, max: usize, is_cut: impl FnOnce()) -> &str {
    if text.len() <= max {
        return text;
    }
    is_cut();
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Splits a text into lines, whatever ends them. Quote marks, fence marks and comments are taken
/// off; a fence around the whole text counts as none, and so does one that never ends.
pub(super) fn split(text: &str) -> Vec<Line<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let raw: Vec<&str> = text
        .split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
        .collect();
    let wrapped = wrapping(&raw);
    let mut lines = Vec::with_capacity(raw.len());
    let mut open: Option<Fence> = None;
    for (at, line) in raw.iter().enumerate() {
        let line = unquoted(line);
        let text = line.trim();
        if wrapped.contains(&Some(at)) {
            continue;
        }
        match (&open, Fence::of(text)) {
            (Some(fence), Some(mark)) if mark.closes(fence) => open = None,
            (None, Some(mark)) => open = Some(Fence { from: lines.len(), ..mark }),
            _ if open.is_none() && text.starts_with("<!--") && text.ends_with("-->") => {}
            _ => lines.push(Line { text, indent: indent(line), fenced: open.is_some() }),
        }
    }
    if let Some(fence) = open {
        for line in &mut lines[fence.from..] {
            line.fenced = false;
        }
    }
    lines
}

/// The first and the last line, if they are a fence around everything.
fn wrapping(raw: &[&str]) -> [Option<usize>; 2] {
    let said = |line: &&str| !line.trim().is_empty();
    let (Some(first), Some(last)) = (raw.iter().position(said), raw.iter().rposition(said)) else {
        return [None, None];
    };
    let Some(fence) = Fence::of(raw[first].trim()) else { return [None, None] };
    if !matches!(fence.info.to_ascii_lowercase().as_str(), "" | "md" | "markdown" | "text") {
        return [None, None];
    }
    let closes =
        last > first && Fence::of(raw[last].trim()).is_some_and(|mark| mark.closes(&fence));
    // Without an end it is one all the same if it says that it holds markdown.
    match (closes, fence.info.is_empty()) {
        (true, _) => [Some(first), Some(last)],
        (false, false) => [Some(first), None],
        (false, true) => [None, None],
    }
}

struct Fence<'a> {
    mark: char,
    length: usize,
    info: &'a str,
    /// The line after which it began.
    from: usize,
}

impl<'a> Fence<'a> {
    fn of(text: &'a str) -> Option<Fence<'a>> {
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = text.trim_start_matches(mark);
        let length = text.len() - rest.len();
        (length >= 3 && !rest.contains('`')).then(|| Fence {
            mark,
            length,
            info: rest.trim(),
            from: 0,
        })
    }

    fn closes(&self, open: &Fence<'_>) -> bool {
        self.mark == open.mark && self.length >= open.length && self.info.is_empty()
    }
}

/// Without the marks of a quotation.
fn unquoted(line: &str) -> &str {
    let mut rest = line;
    while let Some(inner) = rest.trim_start().strip_prefix('>') {
        rest = inner.strip_prefix(' ').unwrap_or(inner);
    }
    rest
}

fn indent(line: &str) -> usize {
    let mut columns = 0;
    for c in line.chars() {
        match c {
            ' ' => columns += 1,
            '\t' => columns += 4 - columns % 4,
            _ => break,
        }
    }
    columns
}

/// A line that only divides: `---`, `***`, `===`, `___`, `- - -`.
pub(super) fn is_rule(text: &str) -> bool {
    let mut marks = text.chars().filter(|c| !c.is_whitespace());
    let Some(first) = marks.next().filter(|c| matches!(c, '-' | '=' | '*' | '_')) else {
        return false;
    };
    let mut count = 1;
    marks.all(|c| {
        count += 1;
        c == first
    }) && count >= 3
}

/// At most `max` characters, without control characters; cut with `…`.
pub(super) fn cut(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max * 4));
    let mut count = 0;
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.next_if_eq(&'[').is_some() {
            // A colour or a movement: its parameters and its letter go with it.
            while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
            chars.next_if(|c| matches!(c, '@'..='~'));
            continue;
        }
        if c.is_control() && !matches!(c, '\n' | '\t') {
            continue;
        }
        count += 1;
        if count > max {
            out.push('…');
            break;
        }
        out.push(c);
    }
    out
}
