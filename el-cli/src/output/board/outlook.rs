//! The forecast in a line: how long a person may leave the project alone.

use el_core::count_noun;
use el_core::model::Timestamp;
use el_core::ops::Board;

use crate::output::time::format_seconds;

/// `You may go for about 25m: the review of el-1. In 45m the last of 3 ready atoms begins.`
pub(crate) fn outlook_line(board: &Board) -> Option<String> {
    let forecast = &board.forecast;
    let until = |at: Timestamp| format_seconds(at.since(board.now).as_secs());
    let mut said = Vec::new();
    if let Some(at) = forecast.needed_at {
        said.push(format!("You may go for about {}: {}.", until(at), forecast.needed_for));
    }
    if let Some(out) = &forecast.runs_out {
        said.push(format!("In {}: {}.", until(out.at), out.says));
    }
    (!said.is_empty()).then(|| said.join(" "))
}

/// How many atoms on the board are new, in words.
pub(crate) fn news_line(board: &Board) -> Option<String> {
    let count = board.fresh.len();
    (count > 0).then(|| format!("{} new since you looked", count_noun(count, "atom")))
}
