//! Tables with aligned columns, by the display width of each character.
//!
//! On a terminal a table never wraps. First the flexible column shrinks, then spare columns are
//! left out, then the flexible column shrinks to nothing readable. In a pipe nothing is cut.

use anstyle::Style;
use el_core::model::Priority;
use unicode_width::UnicodeWidthStr;

use super::page::Page;
use super::{sanitize, style};

const GAP: usize = 2;
/// The least width of the flexible column while another column can be left out.
const COMFORTABLE: usize = 24;
const LEAST: usize = 4;

/// A column's heading, and its behaviour when space is short.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    heading: &'static str,
    right: bool,
    flexible: bool,
    /// The higher, the sooner the column goes; `None` stays.
    spare: Option<u8>,
}

impl Column {
    pub(crate) const fn new(heading: &'static str) -> Column {
        Column { heading, right: false, flexible: false, spare: None }
    }

    /// Numbers are aligned to the right.
    pub(crate) const fn align_right(mut self) -> Column {
        self.right = true;
        self
    }

    /// Takes the room that is left, and is cut with `…` when that is too little.
    pub(crate) const fn flexible(mut self) -> Column {
        self.flexible = true;
        self
    }

    /// May be left out of a narrow terminal; the highest number goes first.
    pub(crate) const fn hide_when_narrow(mut self, order: u8) -> Column {
        self.spare = Some(order);
        self
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A cell with a text of any origin.
    pub(crate) fn new(text: impl AsRef<str>) -> Cell {
        Cell::styled(style::PLAIN, text)
    }

    pub(crate) fn styled(style: Style, text: impl AsRef<str>) -> Cell {
        Cell { text: sanitize::one_line(text.as_ref()).into_owned(), style }
    }

    /// `P1`, in the colour of the priority.
    pub(crate) fn priority(priority: Priority) -> Cell {
        let level = priority.value();
        Cell::styled(style::priority_style(level), format!("P{level}"))
    }

    pub(crate) fn empty() -> Cell {
        Cell { text: String::new(), style: style::PLAIN }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    /// The widest cell of each column, of all rows that were measured.
    widest: Vec<usize>,
    is_empty: bool,
    heading: bool,
    indent: usize,
}

impl Table {
    pub(crate) fn new(columns: impl IntoIterator<Item = Column>) -> Table {
        let columns: Vec<Column> = columns.into_iter().collect();
        let widest = vec![0; columns.len()];
        Table { columns, rows: Vec::new(), widest, is_empty: true, heading: true, indent: 0 }
    }

    /// A list of names and values: no headings, indented.
    pub(crate) fn without_heading(mut self, indent: usize) -> Table {
        self.heading = false;
        self.indent = indent;
        self
    }

    pub(crate) fn push_row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = cells.into_iter().collect();
        self.measure_row(&row);
        self.rows.push(row);
    }

    /// Gives the columns room for a row that is printed later and not kept.
    pub(crate) fn measure_row(&mut self, row: &[Cell]) {
        for (widest, cell) in self.widest.iter_mut().zip(row) {
            *widest = cell.text.width().max(*widest);
        }
        self.is_empty = false;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Prints names with their values; a name without a value is left out.
    pub(crate) fn print_facts<'a>(
        page: &mut Page,
        facts: impl IntoIterator<Item = (&'a str, Option<String>)>,
    ) {
        let columns = [Column::new("NAME"), Column::new("VALUE").flexible()];
        let mut table = Table::new(columns).without_heading(0);
        for (name, value) in facts {
            if let Some(value) = value {
                table.push_row([Cell::styled(style::DIM, name), Cell::new(value)]);
            }
        }
        table.print_table(page);
    }

    /// The lines of the table, as wide as the page.
    pub(crate) fn lines_for(&self, page: &Page) -> Vec<String> {
        let mut own = page.new_alike();
        self.print_table(&mut own);
        own.into_text().lines().map(str::to_owned).collect()
    }

    /// Prints the table without columns that are empty in every row.
    pub(crate) fn print_table(&self, page: &mut Page) {
        let widths = self.print_heading(page);
        for row in &self.rows {
            self.print_row(page, row, &widths);
        }
    }

    /// Prints the headings, and returns the widths for [`Table::print_row`].
    pub(crate) fn print_heading(&self, page: &mut Page) -> Vec<Option<usize>> {
        let widths = self.column_widths(page.width());
        if self.heading {
            let cells: Vec<Cell> =
                self.columns.iter().map(|c| Cell::styled(style::HEADER, c.heading)).collect();
            self.print_row(page, &cells, &widths);
        }
        widths
    }

    pub(crate) fn print_row(&self, page: &mut Page, cells: &[Cell], widths: &[Option<usize>]) {
        let mut line = String::new();
        // Spaces owed before the next text: written only then, so that no line ends in spaces.
        let mut owed = self.indent;
        for ((column, cell), width) in self.columns.iter().zip(cells).zip(widths) {
            let Some(width) = *width else { continue };
            let text = sanitize::truncate_to(&cell.text, width);
            let missing = width.saturating_sub(text.width());
            owed += if column.right { missing } else { 0 };
            if !text.is_empty() {
                line.extend(std::iter::repeat_n(' ', owed));
                line.push_str(&page.paint(cell.style, &text));
                owed = 0;
            }
            owed += GAP + if column.right { 0 } else { missing };
        }
        page.push_line(line);
    }

    /// The width of each column; `None` for a hidden column.
    fn column_widths(&self, room: Option<usize>) -> Vec<Option<usize>> {
        let mut widths: Vec<Option<usize>> = (0..self.columns.len())
            .map(|index| match self.widest[index] {
                0 if !self.is_empty => None,
                widest => Some(widest.max(if self.heading {
                    self.columns[index].heading.width()
                } else {
                    0
                })),
            })
            .collect();
        let Some(room) = room else { return widths };
        let room = room.saturating_sub(self.indent);
        while total_width(&widths) > room {
            let over = total_width(&widths) - room;
            let flexible = self
                .columns
                .iter()
                .position(|c| c.flexible)
                .filter(|&index| widths[index].is_some());
            let shrunk =
                flexible.and_then(|index| widths[index]).map(|width| width.saturating_sub(over));
            if let (Some(index), Some(shrunk)) = (flexible, shrunk)
                && shrunk >= COMFORTABLE
            {
                widths[index] = Some(shrunk);
                break;
            }
            if let Some(index) = self.next_to_spare(&widths) {
                widths[index] = None;
                continue;
            }
            if let (Some(index), Some(shrunk)) = (flexible, shrunk) {
                widths[index] = Some(shrunk.max(LEAST));
            }
            break;
        }
        widths
    }

    fn next_to_spare(&self, widths: &[Option<usize>]) -> Option<usize> {
        (0..self.columns.len())
            .filter(|&index| widths[index].is_some() && self.columns[index].spare.is_some())
            .max_by_key(|&index| self.columns[index].spare)
    }
}

fn total_width(widths: &[Option<usize>]) -> usize {
    let shown: Vec<usize> = widths.iter().flatten().copied().collect();
    shown.iter().sum::<usize>() + GAP * shown.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new([
            Column::new("ID"),
            Column::new("PRI").align_right(),
            Column::new("TITLE").flexible(),
            Column::new("UPDATED").hide_when_narrow(1),
        ]);
        table.push_row([
            Cell::new("app-q5e6"),
            Cell::new("1"),
            Cell::new("Fix the parser of dates"),
            Cell::new("3m ago"),
        ]);
        table.push_row([Cell::new("app-x2"), Cell::new("2"), Cell::new("漢字"), Cell::empty()]);
        table
    }

    fn printed(table: &Table, width: Option<usize>) -> String {
        let mut page = Page::new(false, width, false);
        table.print_table(&mut page);
        page.into_text()
    }

    #[test]
    fn columns_line_up_and_no_line_ends_in_spaces() {
        insta::assert_snapshot!(printed(&sample(), None), @r"
        ID        PRI  TITLE                    UPDATED
        app-q5e6    1  Fix the parser of dates  3m ago
        app-x2      2  漢字
        ");
        assert!(printed(&sample(), None).lines().all(|line| !line.ends_with(' ')));
    }

    #[test]
    fn a_narrow_terminal_loses_the_spare_column_then_the_end_of_the_title() {
        insta::assert_snapshot!(printed(&sample(), Some(40)), @r"
        ID        PRI  TITLE
        app-q5e6    1  Fix the parser of dates
        app-x2      2  漢字
        ");
        insta::assert_snapshot!(printed(&sample(), Some(30)), @r"
        ID        PRI  TITLE
        app-q5e6    1  Fix the parser…
        app-x2      2  漢字
        ");
    }

    #[test]
    fn an_empty_column_is_left_out() {
        let mut table = Table::new([Column::new("A"), Column::new("B"), Column::new("C")]);
        table.push_row([Cell::new("1"), Cell::empty(), Cell::new("3")]);
        assert_eq!(printed(&table, None), "A  C\n1  3\n");
    }

    #[test]
    fn cells_cannot_carry_control_codes() {
        let mut table = Table::new([Column::new("A")]);
        table.push_row([Cell::new("\x1b[2Jx\ny")]);
        assert_eq!(printed(&table, None), "A\nx y\n");
    }
}
