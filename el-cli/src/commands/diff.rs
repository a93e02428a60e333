use el_agents::git::Git;
use el_agents::worker::this_host;
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use super::worktrees::{find_repository, follow_shared};
use crate::output::{Page, sanitize, style};
use crate::{App, CommandError, Exit, Result, complete};

/// Show an agent's changes in its worktree, committed or not
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el diff q5e6
  el diff q5e6 --stat
  el diff q5e6 --robot | jq -r '.data.files[]'

Compares with the commit at which the atom's branch began. Never starts a pager.")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    atom: String,
    /// The changed files and how much, instead of the text
    #[arg(long)]
    stat: bool,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Difference {
    atom_id: String,
    branch: String,
    /// The commit at which the branch began.
    base: String,
    tip: String,
    files: Vec<String>,
    /// The untracked files among `files`.
    untracked: Vec<String>,
    /// The uncommitted files, as `git status --porcelain` prints them.
    uncommitted: Vec<String>,
    /// With `--stat`.
    stat: Option<String>,
    /// The patch; `null` with `--stat`.
    pub(crate) patch: Option<String>,
}

/// The form of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The changed files and how much.
    Stat,
    Patch,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let form = if args.stat { Form::Stat } else { Form::Patch };
    let data = find_difference(app, &args.atom, form)?;
    app.printer.emit(&data, |page| print_difference(page, &data))
}

/// The changes of the atom's branch since it began.
pub(crate) fn find_difference(app: &App, atom: &str, form: Form) -> Result<Difference> {
    let store = app.open_for_reading()?;
    let atom = ops::resolve_id(&store, atom)?;
    let mut repository = find_repository(app)?;
    if repository.tip_of(&atom)?.is_none() {
        follow_shared(app, &store, &mut repository, "HEAD", Some(std::slice::from_ref(&atom)))?;
    }
    let branch = repository.branch_of(&atom)?;
    let Some(tip) = repository.branch_tip(&branch)? else {
        let runs = ops::list_attempts(&store, &atom)?;
        let last = runs.iter().rev().find_map(|run| run.supervisor.as_ref()?.host());
        let why = match last.filter(|host| *host != this_host()) {
            Some(host) => format!("its last run was on {host}, which has not shared it"),
            None => "no run of it had a worktree".to_owned(),
        };
        return Err(CommandError::not_found(format!("{atom} has no branch {branch} here: {why}"))
            .with_hint("el worktrees lists those that there are"));
    };
    let base = match repository.base_of(&atom)? {
        Some(base) => base,
        None => repository.git().ask(&["merge-base", "HEAD", &tip])?,
    };
    let tree = repository.checkout_of(&branch)?;
    let uncommitted = match &tree {
        Some(tree) => {
            let put = app.settings()?.put_into_worktrees()?;
            tree.uncommitted_changes(repository.git(), &put)?
        }
        None => Vec::new(),
    };
    // While the worktree exists, uncommitted changes count as well.
    let (git, to) = match &tree {
        Some(tree) => (Git::at(&tree.path).in_own_checkout(), None),
        None => (repository.git().clone(), Some(tip.as_str())),
    };
    let ask = |form: &[&str]| -> Result<String> {
        let words: Vec<&str> =
            ["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"]
                .into_iter()
                .chain(form.iter().copied())
                .chain([base.as_str()])
                .chain(to)
                .collect();
        Ok(git.ask(&words)?)
    };
    let untracked: Vec<String> =
        uncommitted.iter().filter_map(|line| line.strip_prefix("?? ")).map(str::to_owned).collect();
    let names = ask(&["--name-only", "-z"])?;
    let known = names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned);
    let files: Vec<String> = known.chain(untracked.iter().cloned()).collect();
    let (stat, patch) = match form {
        Form::Stat => (Some(ask(&["--stat=96"])?), None),
        // The options make the patch independent of the person's configuration.
        Form::Patch => (None, Some(ask(&["--patch", "--src-prefix=a/", "--dst-prefix=b/"])?)),
    };
    Ok(Difference { atom_id: atom, branch, base, tip, files, untracked, uncommitted, stat, patch })
}

fn print_difference(page: &mut Page, data: &Difference) {
    if page.is_quiet() {
        return data.files.iter().for_each(|name| page.push_line(sanitize::one_line(name)));
    }
    let text = data.stat.as_deref().or(data.patch.as_deref()).unwrap_or_default();
    for line in text.lines() {
        let clean = sanitize::one_line(line);
        let painted = match line.as_bytes().first() {
            Some(b'+') if data.stat.is_none() => page.paint(style::GOOD, &clean),
            Some(b'-') if data.stat.is_none() => page.paint(style::ERROR, &clean),
            _ => clean.into_owned(),
        };
        page.push_line(painted);
    }
    for name in &data.untracked {
        page.push_line(format!("new, not added: {}", sanitize::one_line(name)));
    }
    if data.files.is_empty() {
        page.push_painted(style::DIM, "it changed nothing");
    }
}
