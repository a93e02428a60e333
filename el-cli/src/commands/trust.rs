//! Shows the requests of a repository's configuration, and records a person's trust.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use el_agents::project_files::project_files;
use el_agents::settings::ProjectFile;
use el_core::model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{Cell, Column, Page, Table, sanitize, style, time};
use crate::trust::{Claims, Trust};
use crate::{App, CommandError, Exit, Result, input, settings};

/// Trust what the repository says of programs and permissions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el trust                   Show it, with what changed since the last time, and ask
  el trust --show            Only show it
  el trust --yes             Do not ask: for scripts that know what stands there
  el trust --revoke          Trust it no longer

A cloned repository's .eluent/config.toml may name programs, and widen what agents may do.
Such settings count for nothing until you trust them; names and narrower limits count at once.
So it is with .claude and .mcp.json: until then, Claude Code runs with your own settings alone.
The word holds for this folder and for these values, and is kept in your own state folder.
el config set keeps a trusted file trusted; a change by anything else does not.

Exit codes: 8 in an agent's session, which cannot trust anything.")]
pub(crate) struct Args {
    /// Only show what is asked for, and whether it is trusted
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    pub(super) show: bool,
    /// Do not ask
    #[arg(long, conflicts_with = "revoke")]
    yes: bool,
    /// Trust it no longer
    #[arg(long)]
    revoke: bool,
}

/// The difference between a setting and the trusted version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Change {
    Same,
    New,
    Changed,
    /// The setting was trusted, and is gone.
    Gone,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    /// The name, as `el config get` takes it: `notify`, `agents.gendry.command`; or a file's path.
    key: String,
    value: Option<String>,
    /// The value that was trusted.
    before: Option<String>,
    change: Change,
}

/// The requests of the configuration.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Asked {
    /// The project's configuration.
    path: PathBuf,
    /// True if every request is trusted.
    is_trusted: bool,
    /// The time of the last trust.
    trusted_at: Option<Timestamp>,
    settings: Vec<Row>,
    /// An instruction of the repository for Claude Code: the path below the top, and the SHA-256.
    files: Vec<Row>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let path = app.project()?.config_path();
    let trust = Trust::for_project(&path);
    if args.revoke {
        trust.revoke()?;
        return report_trust(app, &compare_claims(app, &trust)?.1, "Revoked");
    }
    let (claims, asked) = compare_claims(app, &trust)?;
    if args.show || asked.is_trusted || !args.yes && !is_confirmed(app, &asked)? {
        return report_trust(app, &asked, "");
    }
    // The very values that were shown: a file that changes meanwhile needs another word.
    trust.give(claims, app.now())?;
    let now = Asked { is_trusted: true, trusted_at: Some(app.now()), ..asked };
    report_trust(app, &now, "Trusted")
}

fn compare_claims(app: &App, trust: &Trust) -> Result<(Claims, Asked)> {
    let path = app.project()?.config_path();
    let root = &app.project()?.root;
    let files = project_files(root).map_err(|source| {
        CommandError::config_error("trust", "what Claude Code finds here cannot be read")
            .with_source(source)
            .with_hint("el trust shows all of .claude and .mcp.json; take away what is not needed")
    })?;
    let claims = Claims { settings: settings::read_settings_to_trust(&path), files };
    let word = trust.stored_word();
    let before = word.as_ref().map(|word| word.claims.clone()).unwrap_or_default();
    let asked = Asked {
        is_trusted: trust.holds(&claims.settings) && claims.files.is_subset(&before.files),
        trusted_at: word.as_ref().map(|word| word.trusted_at),
        settings: rows(&claims.settings, &before.settings),
        files: rows(&by_path(&claims.files), &by_path(&before.files)),
        path,
    };
    Ok((claims, asked))
}

fn by_path(files: &BTreeSet<ProjectFile>) -> BTreeMap<String, String> {
    files.iter().map(|file| (file.path.clone(), file.sha256.clone())).collect()
}

fn rows(now: &BTreeMap<String, String>, before: &BTreeMap<String, String>) -> Vec<Row> {
    let mut keys: Vec<&String> = now.keys().chain(before.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let row = |key: &String| {
        let (value, before) = (now.get(key).cloned(), before.get(key).cloned());
        let change = match (&value, &before) {
            (Some(value), Some(before)) if value == before => Change::Same,
            (Some(_), Some(_)) => Change::Changed,
            (_, None) => Change::New,
            (None, Some(_)) => Change::Gone,
        };
        Row { key: key.clone(), value, before, change }
    };
    keys.into_iter().map(row).collect()
}

fn is_confirmed(app: &App, asked: &Asked) -> Result<bool> {
    if !input::can_ask(app) {
        return Err(CommandError::usage_error(
            "this needs a person's word, and nobody can be asked",
        )
        .with_hint("run it on a terminal, where it shows the settings and asks")
        .with_hint("el trust --show shows them; --yes says yes in a script"));
    }
    app.printer.write_page(|page| print_claims(page, asked))?;
    input::ask_yes_no(app, "trust these settings?")
}

/// Prints the requests. `done` names the action that was just taken, if any.
fn report_trust(app: &App, asked: &Asked, done: &str) -> Result<Exit> {
    app.printer.emit(asked, |page| {
        if done.is_empty() {
            print_claims(page, asked);
        }
        if page.is_quiet() {
            return;
        }
        let path = sanitize::path_line(&asked.path);
        let is_empty = asked.settings.is_empty() && asked.files.is_empty();
        let line = match (done, asked.is_trusted, is_empty) {
            ("", _, true) => format!("{path} asks for nothing that needs to be trusted"),
            ("", true, _) => {
                let when = asked.trusted_at.map(|at| time::relative_time(app.now(), at));
                format!("{path} is trusted, since {}", when.unwrap_or_default())
            }
            ("", false, _) => format!("{path} is not trusted; el trust asks"),
            (done, _, _) => format!("{} {path}", page.paint(style::GOOD, done)),
        };
        page.push_line(line);
    })
}

fn print_claims(page: &mut Page, asked: &Asked) {
    let mut table = Table::new([
        Column::new("KEY"),
        Column::new("VALUE").flexible(),
        Column::new("WAS").hide_when_narrow(1),
    ]);
    for row in &asked.settings {
        let (style, value) = match row.change {
            Change::Same => (style::PLAIN, row.value.as_deref()),
            Change::New | Change::Changed => (style::WARNING, row.value.as_deref()),
            Change::Gone => (style::DIM, Some("(gone)")),
        };
        let before = match row.change {
            Change::Same => "",
            Change::New if asked.trusted_at.is_some() => "(new)",
            Change::New => "",
            Change::Changed | Change::Gone => row.before.as_deref().unwrap_or_default(),
        };
        table.push_row([
            Cell::styled(style::ID, row.key.as_str()),
            Cell::styled(style, value.filter(|text| !text.is_empty()).unwrap_or("unset")),
            Cell::styled(style::DIM, before),
        ]);
    }
    if !asked.settings.is_empty() {
        table.print_table(page);
    }
    if asked.files.is_empty() {
        return;
    }
    page.push_line("Files here that Claude Code would obey:");
    for row in &asked.files {
        let (style, change) = match row.change {
            Change::Same => (style::PLAIN, ""),
            Change::New => (style::WARNING, "  (new)"),
            Change::Changed => (style::WARNING, "  (changed)"),
            Change::Gone => (style::DIM, "  (gone)"),
        };
        page.push_painted(style, &format!("  {}{change}", sanitize::one_line(&row.key)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_since_the_last_word_is_told() {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let now = map(&[("a", "1"), ("b", "2"), ("d", "4")]);
        let before = map(&[("a", "1"), ("b", "0"), ("c", "3")]);
        let seen: Vec<_> =
            rows(&now, &before).into_iter().map(|row| (row.key, row.change)).collect();
        let expected =
            [("a", Change::Same), ("b", Change::Changed), ("c", Change::Gone), ("d", Change::New)];
        assert_eq!(seen, expected.map(|(key, change)| (key.to_owned(), change)));
    }
}
