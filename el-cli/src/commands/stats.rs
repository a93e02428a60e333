use std::time::Duration;

use el_core::model::{Priority, Series, SeriesName};
use el_core::ops::{self, Counts, SERIES_DAYS_MAX, Stats};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{Cell, Column, Page, Table, count, pauses, runs, series, style, time};
use crate::values::word_parser;
use crate::{App, Exit, Result};

/// Show the project in numbers
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el stats
  el stats --series done
  el stats --series cost_by_agent --days 7
  el stats --series lead_time --robot | jq '.data.items[] | [.key, .values.median_s]'

The web board (el serve) plots the series. Days are those of your zone.")]
pub(crate) struct Args {
    /// Figures by day, agent, epic, model, cause or age
    #[arg(long, value_name = "NAME", value_parser = word_parser::<SeriesName>())]
    series: Option<SeriesName>,
    /// How many days a series tells of, the present day included
    #[arg(long, value_name = "N", requires = "series", default_value_t = DAYS,
        value_parser = clap::value_parser!(u16).range(1..=SERIES_DAYS_MAX as i64))]
    days: u16,
}

const DAYS: u16 = 30;

/// The answer: the project in numbers, or a series.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "names the two answers for the schema; each is printed where it is made"
)]
pub(in crate::commands) enum Answer {
    Stats(Box<Stats>),
    Series(Series),
}

/// The longest bar, in columns.
const BAR: i64 = 24;

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    if let Some(name) = args.series {
        let (days, ahead) = (usize::from(args.days), time::minutes_ahead(app.now()));
        let found = ops::series(&app.open_for_reading()?, name, days, ahead, app.now())?;
        return app.printer.emit(&found, |page| series::print_series(page, &found));
    }
    let stats = ops::stats(&app.open_for_reading()?, app.now())?;
    app.printer.emit(&stats, |page| print_stats(page, &stats))
}

fn print_stats(page: &mut Page, stats: &Stats) {
    let ready = page.paint(style::GOOD, &format!("{} ready", stats.ready));
    page.push_line(format!("{}, {ready}", count::with_noun(stats.total, "atom")));
    if let Some(pause) = &stats.pause {
        page.push_painted(style::WARNING, &pauses::pause_sentence(pause));
    }
    print_bars(page, "By status", &stats.by_status, |word| {
        (style::status_style(word), word.to_owned())
    });
    print_bars(page, "By type", &stats.by_type, |word| (style::PLAIN, word.to_owned()));
    print_bars(page, "By priority, of what is not over", &stats.by_priority, |word| match word
        .parse::<Priority>(
    ) {
        Ok(priority) => (
            style::priority_style(priority.value()),
            format!("P{} {}", priority.value(), priority.as_word()),
        ),
        Err(_) => (style::PLAIN, word.to_owned()),
    });
    let of_runs = &stats.runs;
    if of_runs.total > 0 {
        print_bars(page, "Runs by outcome", &of_runs.by_outcome, |word| {
            (style::outcome_style(word), word.to_owned())
        });
        page.push_blank();
        let spent = [
            Some(format!("{}, {} live", count::with_noun(of_runs.total, "run"), of_runs.live)),
            Some(time::format_span(Duration::from_secs(
                u64::try_from(of_runs.seconds).unwrap_or(0),
            ))),
            (of_runs.turns > 0).then(|| runs::count_turns(of_runs.turns)),
            Some(runs::short_count(of_runs.tokens_in + of_runs.tokens_out))
                .filter(|text| !text.is_empty())
                .map(|text| format!("{text} tokens")),
            Some(runs::format_cost(of_runs.cost)).filter(|text| !text.is_empty()),
        ];
        page.push_line(spent.into_iter().flatten().collect::<Vec<_>>().join(" · "));
    }
}

fn print_bars(
    page: &mut Page,
    heading: &str,
    counts: &Counts,
    name: impl Fn(&str) -> (anstyle::Style, String),
) {
    let most = counts.values().copied().max().unwrap_or(0);
    if most == 0 {
        return;
    }
    page.push_section(heading);
    let mut table = Table::new([
        Column::new("NAME"),
        Column::new("COUNT").align_right(),
        Column::new("BAR").hide_when_narrow(1),
    ])
    .without_heading(2);
    for (word, &count) in counts {
        let (style, name) = name(word);
        let length = if count > 0 { (count.saturating_mul(BAR) / most).max(1) } else { 0 };
        let bar = "▇".repeat(usize::try_from(length).unwrap_or(0));
        table.push_row([
            Cell::styled(style, name),
            Cell::new(count.to_string()),
            Cell::styled(style, bar),
        ]);
    }
    table.print_table(page);
}
