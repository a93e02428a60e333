use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use el_agents::settings::AgentSettings;
use el_core::model::Priority;
use el_core::ops::{Delegated, NewTask, Task};
use el_core::protocol::words;
use schemars::JsonSchema;
use serde::Serialize;

use super::work::{Started, folders};
use crate::output::{Page, sanitize, style, tasks};
use crate::project::{current_folder, linked_worktree};
use crate::settings::{Settings, duration};
use crate::values::word_parser;
use crate::{App, CommandError, Exit, Result, complete, input, mistyped};

mod hand_over;
mod start;
mod wait;

use hand_over::{FiledTask, hand_over, refuse_to_wait_for_itself};
pub(crate) use hand_over::{hand_over_plain, keep_served, may_wait_for};
pub(crate) use start::is_served;

/// Hand a task over to an agent, and go on at once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el run \"Add a --json flag to the export command\"
  el run --agent gendry --priority urgent --timeout 30m \"Fix the build\"
  el run --file spec.md --workdir ../api --title \"Heartbeat\"
  git diff | el run - --verify 'cargo test' --require-verify
  el run \"Write the changelog\" --wait
  el run -- tidy                 A single word, which may be a mistyped command, follows --

In a git repository with a commit the task is done in a worktree of its own, and el land brings
it in; --workdir names a folder to work in instead.

The task is an atom, assigned to the agent. A running el work takes it; where none does, el
starts one in the background, which ends when nothing is left for that agent. An agent does one
thing at a time unless max_parallel says more: the answer says at which place the task waits,
and for what.

--verify is run in the task's folder once the agent says that it is done; no shell reads it, so
write sh -c '…' for what needs one. With --require-verify, el close runs it first and is refused
while it fails.

--wait exits with 0 if the task was closed or handed over for review, 1 if it failed or its
check did, 4 if it was put off, declined or cancelled, 7 if its time was up. Ctrl-C ends the
waiting, not the task. Who may hand over is said by the setting 'delegates'; empty means
everyone.")]
pub(crate) struct Args {
    /// The work to do; `-` reads the text from stdin
    #[arg(value_name = "PROMPT", required_unless_present_any = ["file", "verbatim"],
        allow_hyphen_values = true)]
    prompt: Option<String>,
    /// The prompt after `--`, if its first word looks like a command
    #[arg(last = true, value_name = "PROMPT", conflicts_with = "prompt")]
    verbatim: Vec<String>,
    /// A file that holds the prompt, of any size; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "verbatim"],
        value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// The agent [default: the first of the setting 'agent']
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    agent: Option<String>,
    /// The folder to work in [default: the agent's own]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(super) workdir: Option<PathBuf>,
    /// The title [default: the prompt's first line]
    #[arg(short, long, value_name = "TITLE")]
    title: Option<String>,
    /// urgent, normal, or as for el create [default: normal]
    #[arg(short, long, value_parser = word_parser::<Priority>(), value_name = "PRIORITY",
        hide_possible_values = true)]
    priority: Option<Priority>,
    /// A label; may be given several times or as a list with commas
    #[arg(short, long, value_delimiter = ',', value_name = "LABEL")]
    label: Vec<String>,
    /// Labels that its worker must offer (el work --offers); several times, or a list with commas
    #[arg(long, value_delimiter = ',', value_name = "LABEL")]
    needs: Vec<String>,
    /// An atom that has to be over first
    #[arg(long, value_delimiter = ',', value_name = "ATOM", add = complete::complete_atoms())]
    blocked_by: Vec<String>,
    /// The longest that an attempt may take (90m, 2h) [default: the agent's own, 1h]
    #[arg(long, value_name = "TIME")]
    timeout: Option<String>,
    /// A command that checks the work once the agent reports the work as done
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true)]
    pub(super) verify: Option<String>,
    /// Let the agent not close the task while the check fails
    #[arg(long)]
    require_verify: bool,
    /// Follow the task to its end, and exit with its outcome
    #[arg(long)]
    wait: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Answer<'a> {
    Filed(Filed<'a>),
    /// With `--wait`: the ended task.
    Ended(&'a Task),
}

/// The task's row, the place in the queue, and the worker.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Filed<'a> {
    #[serde(flatten)]
    delegated: &'a Delegated,
    /// The worker that was started for the task; `null` if a worker was there.
    started_worker: Option<&'a Started>,
    warnings: &'a [String],
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    if let Some(word) = &args.prompt {
        ensure_no_command(word, app)?;
    }
    let settings = app.settings_for_agents()?;
    let work = settings.work_settings()?;
    let agent = args.agent.clone().unwrap_or_else(|| work.agents[0].clone());
    let new = task_from_args(args, app, &settings, &agent)?;
    if args.wait {
        refuse_to_wait_for_itself(app, &settings, &agent)?;
    }
    let done = hand_over(app, &settings, &work, &new)?;
    done.warnings.iter().for_each(|warning| app.printer.warn(warning));
    if args.wait {
        if !app.printer.is_robot() {
            app.printer.write_page(|page| print_hand_over(page, &done, &new))?;
        }
        return wait::run(app, &done.store, &done.background, &done.delegated.task.id);
    }
    let filed = Filed {
        delegated: &done.delegated,
        started_worker: done.started.as_ref(),
        warnings: &done.warnings,
    };
    app.printer.emit(&Answer::Filed(filed), |page| print_hand_over(page, &done, &new))
}

/// Refuses a prompt of a single word, or of a verb and an id. Such a prompt is more often a
/// mistyped command than a task, and would cost an agent's run.
fn ensure_no_command(prompt: &str, app: &App) -> Result<()> {
    let word = prompt.trim();
    if let Some(meant) = mistyped::command_on_id(app, word) {
        let error = CommandError::usage_error(format!("'{word}' is a command, not a task"));
        let way_on = format!("if it is the task: el run -- '{word}'");
        return Err(error.with_detail("prompt", word).with_hint(meant).with_hint(way_on));
    }
    if word.is_empty() || word == "-" || word.contains(char::is_whitespace) {
        return Ok(());
    }
    let verbs = ["list", "show", "status", "cancel", "stop", "wait"];
    let error = match mistyped::named_id(app, word) {
        Some(id) if id.starts_with("run-") => {
            CommandError::usage_error(format!("'{word}' is a run, not a task to hand over"))
                .with_hint(format!("el runs show {id}"))
        }
        Some(id) => {
            CommandError::usage_error(format!("'{word}' is an atom, not a task to hand over"))
                .with_hint(format!("el show {id} says what it is, el why {id} what holds it"))
        }
        None => {
            let meant = match mistyped::nearest_verb(word, &verbs) {
                Some("list" | "status") => Some("el tasks list or el runs list".to_owned()),
                Some("show") => Some("el tasks show TASK or el runs show RUN".to_owned()),
                Some("cancel") => Some("el tasks cancel TASK".to_owned()),
                Some("stop") => Some("el work --stop".to_owned()),
                Some(_) => Some("el run PROMPT --wait".to_owned()),
                None => mistyped::command_of_el(word).map(|command| format!("el {command}")),
            };
            CommandError::usage_error(format!("'{word}' is one word, not a task")).with_hints(meant)
        }
    };
    Err(error.with_detail("prompt", word).with_hint(format!(
        "several words go in quotes; if the word is the task: el run -- {word}"
    )))
}

/// Builds the task. All faults are found here, before anything is filed.
fn task_from_args(args: &Args, app: &App, settings: &Settings, agent: &str) -> Result<NewTask> {
    let prompt = match (&args.prompt, &args.file) {
        (_, Some(path)) => input::read_file(app, "prompt", path)?,
        (Some(text), None) => input::read_text(app, "prompt", text)?,
        (None, None) => args.verbatim.join(" "),
    };
    let verify = args.verify.as_deref().map(|text| {
        words::split_command(text).map_err(|error| {
            CommandError::invalid_value("verify", format!("verify: {error}"))
                .with_hint("for a pipe or a list of commands: --verify \"sh -c '…'\"")
        })
    });
    let verify = verify.transpose()?;
    if args.require_verify && verify.is_none() && settings.agent_settings(agent)?.verify.is_empty()
    {
        return Err(CommandError::usage_error("--require-verify needs a check").with_hint(
            "--verify 'cargo test' gives one; the setting 'verify' is one for every task",
        ));
    }
    Ok(NewTask {
        prompt,
        title: args.title.clone(),
        agent: agent.to_owned(),
        priority: args.priority,
        labels: args.label.clone(),
        needs: args.needs.clone(),
        blocked_by: args.blocked_by.clone(),
        workdir: match &args.workdir {
            Some(path) => Some(absolute_folder(path)?),
            None => own_worktree(app, &settings.agent_settings(agent)?)?,
        },
        timeout: args.timeout.as_deref().map(parse_time_limit).transpose()?,
        verify,
        require_verify: args.require_verify,
    })
}

/// The caller's linked worktree. A task from a linked git worktree belongs there, not in the main
/// worktree with the tracker, unless the settings name a folder.
fn own_worktree(app: &App, agent: &AgentSettings) -> Result<Option<String>> {
    let root = &app.project()?.root;
    if app.session().is_some() || agent.working_directory != *root {
        return Ok(None);
    }
    linked_worktree(&current_folder()?, root).map(|path| absolute_folder(&path)).transpose()
}

/// The absolute path of the folder.
fn absolute_folder(path: &Path) -> Result<String> {
    let wrong = |why: &str| {
        CommandError::invalid_value("workdir", format!("workdir: {} {why}", path.display()))
    };
    let found = std::fs::canonicalize(path)
        .map_err(|source| wrong("cannot be found").with_source(source))?;
    if !found.is_dir() {
        return Err(wrong("is not a folder"));
    }
    found.into_os_string().into_string().map_err(|_| wrong("is not UTF-8"))
}

fn parse_time_limit(text: &str) -> Result<Duration> {
    let wrong =
        |message: String| CommandError::invalid_value("timeout", format!("timeout: {message}"));
    let limit = duration::parse_duration(text).map_err(wrong)?;
    if limit < Duration::from_secs(1) {
        return Err(wrong(format!("{text} is less than 1s")));
    }
    Ok(limit)
}

fn print_hand_over(page: &mut Page, done: &FiledTask, new: &NewTask) {
    let (delegated, started) = (&done.delegated, done.started.as_ref());
    let task = &delegated.task;
    if page.is_quiet() {
        return page.push_line(&task.id);
    }
    let id = page.paint(style::ID, &task.id);
    let agent =
        page.paint(style::PERSON, &sanitize::one_line(task.agent.as_deref().unwrap_or_default()));
    page.push_done("Task", &format!("{id} for {agent}: {}", sanitize::one_line(&task.title)));
    tasks::print_place(page, &delegated.queue);
    if let Some(started) = started {
        let text = format!(
            "A worker was started for it (pid {}); it ends when nothing is left.",
            started.pid
        );
        page.push_painted(style::DIM, &text);
    }
    let worktree = done.background.worktree_of().filter(|_| new.workdir.is_none());
    if let Some((folder, isolation)) = worktree {
        let prefix = &isolation.branch_prefix;
        let text = format!(
            "It is done in a worktree of its own, on the branch {prefix}{}: el land {} brings it \
             in. --workdir . works in this folder instead.",
            task.id, task.id
        );
        page.push_painted(style::DIM, &text);
        if let Some(files) = folders::uncommitted_files(folder, &folders::brought_in(isolation)) {
            page.push_line(format!("Not committed here, so not in that worktree: {files}"));
        }
    }
    let text = format!(
        "el tasks show {} tells how it stands; el logs {} -f follows it.",
        task.id, task.id
    );
    page.push_painted(style::DIM, &text);
}
