//! A series of figures as a table with bars.

use std::time::Duration;

use el_core::model::{Cost, Measure, Point, Series, Unit};

use super::page::Page;
use super::table::{Cell, Column, Table};
use super::{runs, style, time};

/// The longest bar, in columns.
const BAR: i64 = 24;

pub(crate) fn print_series(page: &mut Page, series: &Series) {
    page.push_heading(series.title);
    let told: Vec<&Point> =
        series.items.iter().filter(|point| has_figures(series, point)).collect();
    if told.is_empty() {
        let since = time::relative_time(series.until, series.since);
        return page.push_painted(style::DIM, &format!("nothing to tell since {since}"));
    }
    let heading = match series.by {
        "day" => "DAY",
        "agent" => "AGENT",
        "epic" => "EPIC",
        "model" => "MODEL",
        "cause" => "CAUSE",
        _ => "AGE",
    };
    let mut columns = vec![Column::new(heading).flexible()];
    columns.extend(series.measures.iter().map(|one| Column::new(heading_of(one)).align_right()));
    columns.push(Column::new("").hide_when_narrow(1));
    let mut table = Table::new(columns);
    let first = series.measures[0].name;
    let value = |point: &Point| point.values[first].unwrap_or(0);
    let most = told.iter().map(|point| value(point)).max().unwrap_or(0).max(1);
    for point in told {
        let mut cells = vec![Cell::styled(style::ID, name_of(series, point))];
        cells.extend(series.measures.iter().map(|one| Cell::new(figure(one, point))));
        let length = value(point).saturating_mul(BAR) / most;
        cells.push(Cell::styled(style::DIM, "▇".repeat(usize::try_from(length).unwrap_or(0))));
        table.push_row(cells);
    }
    table.print_table(page);
    if series.truncated {
        page.push_painted(style::WARNING, "what is older than these was left out");
    }
}

/// Headings are as short as the figures below them.
fn heading_of(measure: &Measure) -> &'static str {
    match measure.name {
        "closed" => "CLOSED",
        "wont_do" => "WON'T DO",
        "median_s" => "MEDIAN",
        "slowest_tenth_s" => "9 OF 10",
        "cost_micros" => "COST",
        "runs" => "ATTEMPTS",
        "per_closed_micros" => "EACH",
        "lost_micros" => "LOST",
        "first_attempts" => "FIRST",
        "share" => "SHARE",
        "atoms" => "ATOMS",
        _ => "OLDEST",
    }
}

/// Days on which nothing was are left out.
fn has_figures(series: &Series, point: &Point) -> bool {
    series.measures.iter().any(|one| point.values[one.name].unwrap_or(0) != 0)
}

fn name_of(series: &Series, point: &Point) -> String {
    match (&point.key, &point.label) {
        (Some(key), Some(label)) if series.by == "epic" => format!("{key} {label}"),
        (_, Some(label)) => label.clone(),
        (Some(key), None) => key.clone(),
        (None, None) if series.by == "epic" => "no epic".to_owned(),
        (None, None) => "not known".to_owned(),
    }
}

fn figure(measure: &Measure, point: &Point) -> String {
    let Some(value) = point.values[measure.name] else { return String::new() };
    match measure.unit {
        Unit::Count => value.to_string(),
        Unit::Percent => format!("{value} %"),
        Unit::Seconds => time::format_span(Duration::from_secs(u64::try_from(value).unwrap_or(0))),
        Unit::Micros => {
            let estimated = measure.estimated.and_then(|name| point.values[name]).unwrap_or(0);
            runs::format_cost(Cost { cost_micros: value, estimated_micros: estimated })
        }
    }
}
