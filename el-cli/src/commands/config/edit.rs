use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::ConfigFileArgs;
use crate::editor::Draft;
use crate::output::sanitize;
use crate::settings::write;
use crate::{App, Exit, Result};

/// Change a configuration file in your editor
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el config edit
  el config edit --user

The text is checked before the file is replaced: one with a mistake is refused and kept, and its
place is told.")]
pub(crate) struct Args {
    #[command(flatten)]
    place: ConfigFileArgs,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Edited {
    /// The file.
    path: PathBuf,
    /// Something was changed.
    changed: bool,
}

/// The text of a file that is not there yet.
const NEW: &str = "# Settings of el. `el config show -v` lists them all with their meanings.\n";

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let path = args.place.config_path(app)?;
    let before = write::read_if_present(&path)?;
    let text = before.as_deref().unwrap_or(NEW);
    let edited = Draft::edit(app, "config.toml", text)?;
    let changed = edited.is_some();
    if let Some((draft, after)) = edited {
        let trust = args.place.trust(&path);
        let written = write::replace(&path, before.as_deref(), &after, trust.as_ref());
        draft.remove_if_taken(written)?.iter().for_each(|problem| app.printer.warn(problem));
    }
    let edited = Edited { path, changed };
    app.printer.emit_sentence(&edited, |page| {
        let done = if changed { "Changed" } else { "Unchanged" };
        page.push_done(done, &sanitize::path_line(&edited.path));
    })
}
