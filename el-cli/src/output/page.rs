//! A human view in the making: text, gathered in memory and written at once by the printer.

use anstyle::Style;

use super::{sanitize, style, wrap};

#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    color: bool,
    width: Option<usize>,
    quiet: bool,
}

impl Page {
    pub(crate) fn new(color: bool, width: Option<usize>, quiet: bool) -> Page {
        Page { text: String::new(), color, width, quiet }
    }

    /// The columns of the terminal; `None` in a pipe, where nothing is cut or wrapped.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// `-q`: print the bare answer (ids) without a sentence.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Adds a line. The caller has sanitized every foreign text ([`sanitize::one_line`]).
    pub(crate) fn push_line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    pub(crate) fn push_blank(&mut self) {
        self.text.push('\n');
    }

    /// Adds a line in one style.
    pub(crate) fn push_painted(&mut self, style: Style, text: &str) {
        self.push_line(paint_if(self.color, style, text));
    }

    /// An empty page of the same width and colour.
    pub(crate) fn new_alike(&self) -> Page {
        Page::new(self.color, self.width, self.quiet)
    }

    /// A heading above a part of the view.
    pub(crate) fn push_heading(&mut self, text: &str) {
        self.push_painted(style::TITLE, text);
    }

    /// A blank line and a heading, between two parts of the view.
    pub(crate) fn push_section(&mut self, heading: &str) {
        self.push_blank();
        self.push_heading(heading);
    }

    /// A section with a text of any origin; an empty text leaves the section out.
    pub(crate) fn push_text_section(&mut self, heading: &str, text: Option<&str>) {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            self.push_section(heading);
            self.push_paragraph(text, 2);
        }
    }

    /// A line that begins with what was done: `Exported 3 atoms to plan.jsonl`. The caller has
    /// sanitized `rest`.
    pub(crate) fn push_done(&mut self, done: &str, rest: &str) {
        let done = self.paint(style::GOOD, done);
        self.push_line(format!("{done} {rest}"));
    }

    /// Text of any origin and length, cleaned, wrapped to the terminal and indented.
    pub(crate) fn push_paragraph(&mut self, text: &str, indent: usize) {
        let clean = sanitize::multi_line(text.trim_end());
        for line in wrap::wrap_text(&clean, self.width.map(|width| width.saturating_sub(indent))) {
            if !line.is_empty() {
                self.text.extend(std::iter::repeat_n(' ', indent));
            }
            self.push_line(line);
        }
    }

    /// The text in a style, where colour is on. The text must be clean already.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        paint_if(self.color, style, text)
    }

    /// Takes the text so far if it is longer than that.
    pub(crate) fn take_beyond(&mut self, length: usize) -> Option<String> {
        (self.text.len() > length).then(|| std::mem::take(&mut self.text))
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

pub(crate) fn paint_if(color: bool, style: Style, text: &str) -> String {
    if color && !style.is_plain() && !text.is_empty() {
        format!("{}{text}{}", style.render(), style.render_reset())
    } else {
        text.to_owned()
    }
}
