//! Human output of runs.

use std::time::Duration;

use el_agents::worker::this_host;
use el_core::model::{Cost, Run, Stamp, Timestamp};

use super::page::Page;
use super::table::{Cell, Column, Table};
use super::{sanitize, style, time};

/// The state of a run in a word: its outcome, `cancelling`, `running`, or `silent` after its lease
/// is over.
pub(crate) fn state_word(run: &Run, now: Timestamp) -> &'static str {
    match run.outcome {
        Some(outcome) => outcome.as_str(),
        None if run.cancel_requested.is_some() => "cancelling",
        None if run.lease_until < now => "silent",
        None => "running",
    }
}

/// The host, if it is not this one.
pub(crate) fn host_elsewhere(host: Option<&str>) -> Option<String> {
    let host = host.filter(|host| *host != this_host())?;
    Some(sanitize::one_line(host).into_owned())
}

/// The name, and after it the host if that is not this one.
pub(crate) fn name_and_host(name: &str, host: Option<&str>) -> String {
    match host_elsewhere(host) {
        Some(host) => format!("{name} on {host}"),
        None => name.to_owned(),
    }
}

/// The host of a run if that is not this one.
pub(crate) fn host_of_run(run: &Run) -> Option<String> {
    host_elsewhere(run.supervisor.as_ref().and_then(Stamp::host))
}

/// The agent of a run, and its host if that is not this one.
pub(crate) fn agent_and_host(run: &Run) -> String {
    name_and_host(&run.agent, run.supervisor.as_ref().and_then(Stamp::host))
}

/// The time from the start of the run to its end, or to now.
pub(crate) fn run_duration(run: &Run, now: Timestamp) -> Duration {
    run.ended_at.unwrap_or(now).since(run.started_at)
}

/// `1 turn`, `2 turns`.
pub(crate) fn count_turns(count: i64) -> String {
    super::count::with_noun(count, "turn")
}

/// `$0.42`, or `~$0.42` if a part is estimated; empty if nothing is known to have been spent.
pub(crate) fn format_cost(cost: Cost) -> String {
    if cost.cost_micros <= 0 {
        return String::new();
    }
    // Whole micro-dollars fit a double exactly far beyond any bill.
    let dollars = cost.cost_micros as f64 / 1e6;
    let sign = if cost.estimated_micros > 0 { "~" } else { "" };
    if dollars < 0.01 { format!("{sign}${dollars:.4}") } else { format!("{sign}${dollars:.2}") }
}

/// `812`, `45k`, `1.2M`.
pub(crate) fn short_count(number: i64) -> String {
    match number {
        ..=0 => String::new(),
        1..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{}k", number / 1000),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

/// A table of runs of different atoms; only the ids with `-q`.
pub(crate) fn print_table(page: &mut Page, runs: &[Run], now: Timestamp) {
    if page.is_quiet() {
        return runs.iter().for_each(|run| page.push_line(&run.id));
    }
    if runs.is_empty() {
        return;
    }
    let mut table = new_table();
    for run in runs {
        table.push_row(row_cells(run, now));
    }
    table.print_table(page);
}

/// The table that [`row_cells`] fills.
pub(crate) fn new_table() -> Table {
    Table::new([
        Column::new("RUN"),
        Column::new("ATOM"),
        Column::new("TRY").align_right().hide_when_narrow(4),
        Column::new("AGENT").hide_when_narrow(3),
        Column::new("STATE"),
        Column::new("STARTED").hide_when_narrow(1),
        Column::new("TOOK").align_right(),
        Column::new("TURNS").align_right().hide_when_narrow(5),
        Column::new("TOKENS").align_right().hide_when_narrow(6),
        Column::new("COST").align_right().hide_when_narrow(2),
        Column::new("DETAIL").flexible(),
    ])
}

pub(crate) fn row_cells(run: &Run, now: Timestamp) -> [Cell; 11] {
    let state = state_word(run, now);
    let detail = run.detail.as_deref().or(run.progress.action.as_deref());
    let turns = if run.progress.turns > 0 { run.progress.turns.to_string() } else { String::new() };
    [
        Cell::styled(style::DIM, &run.id),
        Cell::styled(style::ID, &run.atom_id),
        Cell::new(run.attempt.to_string()),
        Cell::styled(style::PERSON, agent_and_host(run)),
        Cell::styled(style::outcome_style(state), state),
        Cell::styled(style::DIM, time::relative_time(now, run.started_at)),
        Cell::new(time::format_span(run_duration(run, now))),
        Cell::new(turns),
        Cell::new(short_count(run.progress.tokens_in + run.progress.tokens_out)),
        Cell::new(format_cost(run.progress.cost)),
        Cell::new(detail.unwrap_or_default()),
    ]
}

/// The attempts at a single atom, in a line or two each.
pub(crate) fn print_attempts(page: &mut Page, runs: &[Run], now: Timestamp) {
    let mut table = Table::new([
        Column::new("#"),
        Column::new("STATE"),
        Column::new("TOOK").align_right(),
        Column::new("AGENT").hide_when_narrow(2),
        Column::new("RUN"),
        Column::new("COST").align_right().hide_when_narrow(3),
        Column::new("STARTED").hide_when_narrow(1),
        Column::new("DETAIL").flexible(),
    ])
    .without_heading(2);
    for run in runs {
        let state = state_word(run, now);
        table.push_row([
            Cell::styled(style::DIM, format!("#{}", run.attempt)),
            Cell::styled(style::outcome_style(state), state),
            Cell::new(time::format_span(run_duration(run, now))),
            Cell::styled(style::PERSON, agent_and_host(run)),
            Cell::styled(style::DIM, &run.id),
            Cell::new(format_cost(run.progress.cost)),
            Cell::styled(style::DIM, time::relative_time(now, run.started_at)),
            Cell::new(sanitize::one_line(run.detail.as_deref().unwrap_or_default())),
        ]);
    }
    table.print_table(page);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_and_counts_are_short() {
        assert_eq!(format_cost(Cost::default()), "");
        assert_eq!(format_cost(Cost::reported(420_000)), "$0.42");
        assert_eq!(format_cost(Cost::reported(1_234)), "$0.0012");
        let some = Cost { cost_micros: 420_000, estimated_micros: 1 };
        assert_eq!(format_cost(some), "~$0.42");
        assert_eq!(short_count(0), "");
        assert_eq!(short_count(812), "812");
        assert_eq!(short_count(45_300), "45k");
        assert_eq!(short_count(1_234_567), "1.2M");
    }
}
