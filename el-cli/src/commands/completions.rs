use clap_complete::env::Shells;
use schemars::JsonSchema;
use serde::Serialize;

use crate::complete::VARIABLE;
use crate::{App, CommandError, Exit, Result};

/// Print the completion script of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  source <(el completions bash)                                  in ~/.bashrc
  source <(el completions zsh)                                   in ~/.zshrc
  el completions fish > ~/.config/fish/completions/el.fish

Commands, flags and values are completed, and atoms and runs by their ids with their titles.")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL", value_parser = ["bash", "zsh", "fish", "elvish", "powershell"])]
    shell: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Script<'a> {
    shell: &'a str,
    script: &'a str,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell).ok_or_else(|| {
        CommandError::invalid_value("shell", format!("there is no script for '{}'", args.shell))
    })?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "el", "el", "el", &mut script).map_err(|source| {
        CommandError::internal_error("cannot make the script").with_source(source)
    })?;
    let script = String::from_utf8_lossy(&script).into_owned();
    app.printer.emit(&Script { shell: &args.shell, script: &script }, |page| {
        page.push_line(script.trim_end())
    })
}
