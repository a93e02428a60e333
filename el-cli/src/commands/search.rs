use el_core::ops;

use crate::output::{List, atoms};
use crate::{App, Exit, Result};

/// Search titles, descriptions and acceptance, best match first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el search time zone
  el search 'parse err' --all --limit 10

Every word must occur; the last one may be the beginning of a word. Words with +, #, % or an
emoji, and those of Chinese, Japanese or Thai, may stand anywhere. With --limit, words of
thousands of atoms are ranked among the newest of these, and among those with the words in the
title.")]
pub(crate) struct Args {
    /// The words to search for
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    /// Also atoms that are over
    #[arg(long)]
    all: bool,
    /// At most this many; 0 means all [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let limit = args.limit.filter(|limit| *limit > 0).map(i64::from);
    let found = ops::search(&app.open_for_reading()?, &args.words.join(" "), args.all, limit)?;
    let list = List::from_page(&found);
    app.printer.emit(&list, |page| {
        atoms::print_table(page, &found.items, app.now());
        let none = match args.all {
            true => "nothing found",
            false => "nothing found; --all searches what is over too",
        };
        list.print_end(page, ["match", "matches", none]);
    })
}
