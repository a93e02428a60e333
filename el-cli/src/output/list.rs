//! The JSON shape of lists, and the line that tells people what was left out.

use el_core::ops::{Page as CorePage, Streamed};
use schemars::JsonSchema;
use serde::Serialize;

use super::page::Page;
use super::printer::{ListWriter, Printer};
use super::style;
use super::table::{Cell, Table};
use crate::{CommandError, Exit, Result};

/// Bytes of a table that are held at most, about, before they are written.
const TEXT_HELD: usize = 1 << 20;

/// `{"count","total","truncated","items"}`: nothing is cut without saying so.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct List<'a, T> {
    /// The number of items here.
    count: usize,
    /// The number of items that exist.
    total: usize,
    truncated: bool,
    items: &'a [T],
    #[serde(skip)]
    is_capped: bool,
}

impl<'a, T> List<'a, T> {
    /// All there are.
    pub(crate) fn complete(items: &'a [T]) -> List<'a, T> {
        List { count: items.len(), total: items.len(), truncated: false, items, is_capped: false }
    }

    /// A page of a longer list.
    pub(crate) fn from_page(page: &'a CorePage<T>) -> List<'a, T> {
        let total = usize::try_from(page.total).unwrap_or(0).max(page.items.len());
        List {
            count: page.items.len(),
            total,
            truncated: page.items.len() < total,
            items: &page.items,
            is_capped: page.is_capped,
        }
    }

    /// Returns true if there may be more than the total: counting stopped there.
    pub(crate) fn is_capped(&self) -> bool {
        self.is_capped
    }

    /// The line below a table: `3 atoms`, or `50 of 233 atoms; --limit 0 shows all`.
    pub(crate) fn print_footer(&self, page: &mut Page, one: &str, many: &str) {
        print_counts(page, (self.count, self.total, self.is_capped), [one, many]);
    }

    /// The same; below an empty table, `none` for people.
    pub(crate) fn print_end(&self, page: &mut Page, [one, many, none]: [&str; 3]) {
        if self.items.is_empty() && !page.is_quiet() {
            return page.push_painted(style::DIM, none);
        }
        self.print_footer(page, one, many);
    }
}

fn print_counts(page: &mut Page, counts: (usize, usize, bool), [one, many]: [&str; 2]) {
    let (count, total, is_capped) = counts;
    let is_cut = count < total;
    if page.is_quiet() || page.width().is_none() && !is_cut {
        return;
    }
    let noun = if total == 1 { one } else { many };
    let text = if is_cut {
        let more = if is_capped { " or more" } else { "" };
        format!("{count} of {total}{more} {noun}; --limit 0 shows all")
    } else {
        format!("{total} {noun}")
    };
    page.push_blank();
    page.push_painted(style::DIM, &text);
}

/// A single value if a single id was named, a list if several were.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OneOrMany<'a, T> {
    One(&'a T),
    Many(List<'a, T>),
}

impl<'a, T> OneOrMany<'a, T> {
    /// `asked`: how many were named.
    pub(crate) fn for_request(asked: usize, changed: &'a [T]) -> OneOrMany<'a, T> {
        match changed {
            [one] if asked == 1 => OneOrMany::One(one),
            several => OneOrMany::Many(List::complete(several)),
        }
    }
}

/// Takes items singly, each time after their total.
type TakeItem<'a, T> = dyn FnMut(Streamed<T>) -> el_core::Result<()> + 'a;

/// Prints a list for robots, item by item. `head` holds keys before the list's own, as JSON, each
/// with its comma; `limit`: no more items come.
pub(crate) fn stream_list<T: Serialize>(
    printer: &Printer,
    head: &str,
    limit: Option<i64>,
    read: impl FnOnce(&mut TakeItem<'_, T>) -> el_core::Result<()>,
) -> Result<Exit> {
    let mut list = Stream { list: printer.list_writer(head), limit, failed: None };
    let read = read(&mut |next| {
        list.push(next, |list, item| list.push_item(&item));
        Ok(())
    });
    list.finish(read)
}

/// Takes items that are JSON already.
type TakeLine<'a> = dyn FnMut(Streamed<&[u8]>) -> el_core::Result<()> + 'a;

/// The same for items that are JSON already.
pub(crate) fn stream_lines(
    printer: &Printer,
    read: impl FnOnce(&mut TakeLine<'_>) -> el_core::Result<()>,
) -> Result<Exit> {
    let mut list = Stream { list: printer.list_writer(""), limit: None, failed: None };
    let read = read(&mut |next| {
        list.push(next, |list, line| list.push_json(line));
        Ok(())
    });
    list.finish(read)
}

/// A list that is being read, and the first fault of printing it.
struct Stream<'a> {
    list: ListWriter<'a>,
    limit: Option<i64>,
    failed: Option<CommandError>,
}

impl<'a> Stream<'a> {
    fn push<T>(
        &mut self,
        next: Streamed<T>,
        write: impl FnOnce(&mut ListWriter<'a>, T) -> Result<()>,
    ) {
        match next {
            Streamed::Total(total) => {
                self.list.begin(total, self.limit.unwrap_or(total).min(total))
            }
            Streamed::Item(item) if self.failed.is_none() => {
                self.failed = write(&mut self.list, item).err();
            }
            Streamed::Item(_) => {}
        }
    }

    fn finish(self, read: el_core::Result<()>) -> Result<Exit> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        read?;
        self.list.finish()?;
        Ok(Exit::Done)
    }
}

/// Prints a table for people, row by row, of a list that `read` gives twice: first for the widths.
/// Returns the number of rows.
pub(crate) fn stream_table<T>(
    printer: &Printer,
    mut table: Table,
    [one, many, none]: [&str; 3],
    row_cells: impl Fn(&T) -> Vec<Cell>,
    read: impl FnOnce(&mut TakeItem<'_, T>) -> el_core::Result<()>,
) -> Result<usize> {
    let mut page = printer.new_page();
    let (mut totals, mut count, mut total) = (0, 0, 0);
    let (mut widths, mut failed) = (Vec::new(), None);
    let read = read(&mut |next| {
        match next {
            Streamed::Total(found) => {
                (totals, total) = (totals + 1, found);
                if totals == 2 && count > 0 {
                    widths = table.print_heading(&mut page);
                }
            }
            Streamed::Item(item) if totals == 1 => {
                table.measure_row(&row_cells(&item));
                count += 1;
            }
            Streamed::Item(item) if failed.is_none() => {
                table.print_row(&mut page, &row_cells(&item), &widths);
                let text = page.take_beyond(TEXT_HELD);
                failed = text.and_then(|text| printer.write_bytes(text.as_bytes()).err());
            }
            Streamed::Item(_) => {}
        }
        Ok(())
    });
    if let Some(error) = failed {
        return Err(error);
    }
    read?;
    let total = usize::try_from(total).unwrap_or(0).max(count);
    if count > 0 {
        print_counts(&mut page, (count, total, false), [one, many]);
    } else if !page.is_quiet() && !none.is_empty() {
        page.push_painted(style::DIM, none);
    }
    printer.write_bytes(page.into_text().as_bytes())?;
    Ok(count)
}

/// `--limit` and `--offset`.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Window {
    /// At most this many; 0 means all [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// Leave out this many first
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    offset: u32,
}

impl Window {
    pub(crate) fn limit(&self) -> Option<i64> {
        self.limit.filter(|limit| *limit > 0).map(i64::from)
    }

    /// Returns true if nothing is left out.
    pub(crate) fn is_all(&self) -> bool {
        self.limit().is_none() && self.offset == 0
    }

    pub(crate) fn offset(&self) -> i64 {
        i64::from(self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn footer(items: &[u8], total: i64, width: Option<usize>) -> String {
        let page_of = CorePage::of_total(items.to_vec(), total);
        let mut page = Page::new(false, width, false);
        List::from_page(&page_of).print_footer(&mut page, "atom", "atoms");
        page.into_text()
    }

    #[test]
    fn a_cut_is_always_told() {
        assert_eq!(footer(&[1, 2], 9, Some(80)), "\n2 of 9 atoms; --limit 0 shows all\n");
        assert_eq!(footer(&[1, 2], 9, None), "\n2 of 9 atoms; --limit 0 shows all\n");
        assert_eq!(footer(&[1], 1, Some(80)), "\n1 atom\n");
        assert_eq!(footer(&[1], 1, None), "");

        let counted_in_part = CorePage { items: vec![1], total: 1000, is_capped: true };
        let mut page = Page::new(false, None, false);
        List::from_page(&counted_in_part).print_footer(&mut page, "atom", "atoms");
        assert_eq!(page.into_text(), "\n1 of 1000 or more atoms; --limit 0 shows all\n");
    }
}
