use std::fs;
use std::path::PathBuf;

use clap_mangen::Man;
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::sanitize;
use crate::{App, CommandError, Exit, Result};

/// Print the manual page
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el man | man -l -
  el man create | man -l -
  el man --dir ~/.local/share/man/man1        Write el.1 and a page for each command")]
pub(crate) struct Args {
    /// The command, such as create, or dep add [default: el itself]
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    words: Vec<String>,
    /// Write all pages into this folder
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    pub(super) dir: Option<PathBuf>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Manual<'a> {
    Page {
        name: &'a str,
        page: &'a str,
    },
    /// With `--dir`, the files that were written.
    Pages {
        count: usize,
        pages: &'a [PathBuf],
    },
}

pub(super) fn run(args: &Args, app: &App, mut root: clap::Command) -> Result<Exit> {
    // Names such as `el-dep-add` come from the building.
    root.build();
    if let Some(dir) = &args.dir {
        fs::create_dir_all(dir)
            .map_err(|source| CommandError::file_error("create", dir, source))?;
        let mut pages = Vec::new();
        for (name, text) in all_pages(&root, "el")? {
            let path = dir.join(format!("{name}.1"));
            super::export::write_whole_file(app, &path, &text)?;
            pages.push(path);
        }
        let count = pages.len();
        return app.printer.emit_sentence(&Manual::Pages { count, pages: &pages }, |page| {
            page.push_done("Wrote", &format!("{count} pages into {}", sanitize::path_line(dir)));
        });
    }
    let mut command = &root;
    for word in &args.words {
        command = command.find_subcommand(word).ok_or_else(|| {
            CommandError::not_found(format!("'{}' is no command of el", args.words.join(" ")))
                .with_hint("el --help lists the commands")
        })?;
    }
    let name = std::iter::once("el")
        .chain(args.words.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join("-");
    let text = String::from_utf8_lossy(&manual_page(command, &name)?).into_owned();
    app.printer
        .emit(&Manual::Page { name: &name, page: &text }, |page| page.push_line(text.trim_end()))
}

/// The pages of a command and of all its subcommands.
fn all_pages(command: &clap::Command, name: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let mut pages = vec![(name.to_owned(), manual_page(command, name)?)];
    for sub in
        command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
    {
        pages.extend(all_pages(sub, &format!("{name}-{}", sub.get_name()))?);
    }
    Ok(pages)
}

fn manual_page(command: &clap::Command, name: &str) -> Result<Vec<u8>> {
    // The page already lists all commands as its subcommands.
    let command = command.clone().version(env!("CARGO_PKG_VERSION"));
    let title = name.to_ascii_uppercase();
    let mut text = Vec::new();
    Man::new(command).title(title).render(&mut text).map_err(|source| {
        CommandError::internal_error("cannot make the manual page").with_source(source)
    })?;
    Ok(text)
}
