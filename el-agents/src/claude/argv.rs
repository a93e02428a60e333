//! Builds the command line of `claude`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::requirements::ConfigurationError;

/// The rule that allows the bare word `el`. Without the rule an agent cannot end its work.
const OWN_RULE: &str = "Bash(el *)";
/// The rules for an agent that commits in a worktree of its own. They allow committing, merging
/// finished dependencies, and switching back to the own branch. The client itself allows read-only
/// commands such as `git status`, `git diff` and `git log`. The rules allow neither `git push` nor
/// `git config`, nor changes to other branches or to the stash, which all worktrees share.
const COMMIT_RULES: [&str; 6] = [
    "Bash(git add *)",
    "Bash(git commit *)",
    "Bash(git mv *)",
    "Bash(git rm *)",
    "Bash(git restore --staged *)",
    "Bash(git merge *)",
];
/// Tools that no run may use: a question to an absent person, and work scheduled after the turn,
/// which ends the run. Background tasks of the client need no rule, since the supervisor waits for
/// them.
const NEVER: [&str; 3] = ["AskUserQuestion", "ScheduleWakeup", "CronCreate"];
/// Options reserved for el, or that would disable the event stream, the Stop hook or standard
/// input.
const RESERVED: [&str; 14] = [
    "-p",
    "--print",
    "--output-format",
    "--input-format",
    "--session-id",
    "-r",
    "--resume",
    "-c",
    "--continue",
    "--settings",
    "--setting-sources",
    "--bare",
    "--safe-mode",
    "--fork-session",
];

/// The options of a call of Claude Code. The prompt is not included: a file on standard input
/// carries the prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClaudeOptions {
    /// The program.
    pub path: PathBuf,
    /// The UUID of the conversation. A UUID serves for a single new conversation.
    pub session_uuid: String,
    /// With the client's own screen, on a terminal, instead of `-p`.
    pub interactive: bool,
    /// Resume the conversation instead of beginning a new conversation. The client finds a
    /// conversation only from the same working directory.
    pub resume: bool,
    /// `acceptEdits`, `dontAsk`, `bypassPermissions`, …; the client's own default if absent.
    pub permission_mode: Option<String>,
    /// Permission rules such as `Edit` or `Bash(cargo *)`; `Bash(el *)` is always added.
    pub allowed_tools: Vec<String>,
    /// The branch of the agent's own worktree, on which the agent may commit. A `*` stands for a
    /// part that is not known yet.
    pub own_branch: Option<String>,
    /// Rules that forbid; `AskUserQuestion` is always added.
    pub disallowed_tools: Vec<String>,
    /// An alias or a model's id, passed on unchecked.
    pub model: Option<String>,
    pub effort: Option<String>,
    pub max_turns: Option<u32>,
    /// In dollars. The client checks the budget after each answer, so a single answer may exceed
    /// the budget.
    pub budget_per_run: Option<f64>,
    /// The file with the content of [`super::settings_json`].
    pub settings_file: Option<PathBuf>,
    /// The file for the agent's summary, writable under any permission mode.
    pub summary_file: Option<PathBuf>,
    /// The tracker's database. The agent may edit neither the database nor the configuration and
    /// the runs beside the database.
    pub database: Option<PathBuf>,
    /// Further folders in which the agent may work.
    pub add_dirs: Vec<PathBuf>,
    /// The folder with untrusted settings, hooks and servers, which are left out. Its `CLAUDE.md`
    /// is still read as text.
    pub untrusted_folder: Option<PathBuf>,
    /// Further words from the configuration, put last.
    pub extra_args: Vec<String>,
}

/// Returns the program and the arguments.
///
/// # Errors
/// If the client would misread a value: the field and the fault.
pub fn argv(options: &ClaudeOptions) -> Result<Vec<OsString>, ConfigurationError> {
    let mut words: Vec<OsString> = vec![options.path.clone().into()];
    if options.interactive {
        ensure_bounds_can_be_kept(options)?;
    } else {
        words.push("-p".into());
    }
    // These options take every word up to the next option, so an option has to follow.
    words.push("--allowedTools".into());
    let switch = options.own_branch.as_ref().map(|branch| format!("Bash(git switch {branch})"));
    let commit = if switch.is_some() { &COMMIT_RULES[..] } else { &[] };
    let own: Vec<&str> =
        std::iter::once(OWN_RULE).chain(commit.iter().copied()).chain(switch.as_deref()).collect();
    words.extend(rule_words("allowed_tools", &own, &options.allowed_tools)?);
    words.extend(options.summary_file.as_deref().map(summary_file_rules).unwrap_or_default());
    words.push("--disallowedTools".into());
    words.extend(rule_words("disallowed_tools", &NEVER, &options.disallowed_tools)?);
    words.extend(options.database.as_deref().map(tracker_deny_rules).unwrap_or_default());
    words.extend(options.add_dirs.iter().flat_map(|folder| no_instructions(folder)));
    if let Some(folder) = &options.untrusted_folder {
        words.extend(["--setting-sources", "user"].map(OsString::from));
        words.push(add_dir(folder));
    }
    words.extend(options.add_dirs.iter().map(|folder| add_dir(folder)));
    words.push(if options.resume { "--resume" } else { "--session-id" }.into());
    words.push(option_value("session_uuid", &options.session_uuid)?);
    if !options.interactive {
        words.extend(["--output-format", "stream-json", "--verbose"].map(OsString::from));
    }
    for (name, field, given) in [
        ("--permission-mode", "permission_mode", &options.permission_mode),
        ("--model", "model", &options.model),
        ("--effort", "effort", &options.effort),
    ] {
        if let Some(given) = given {
            words.extend([name.into(), option_value(field, given)?]);
        }
    }
    if let Some(turns) = options.max_turns {
        words.extend(["--max-turns".into(), turns.to_string().into()]);
    }
    if let Some(dollars) = options.budget_per_run {
        if !dollars.is_finite() || dollars <= 0.0 {
            let message = format!("a budget of {dollars} dollars lets no agent begin");
            return Err(ConfigurationError::new(
                "budget_per_run",
                message,
                "give an amount above zero, or none",
            ));
        }
        words.extend(["--max-budget-usd".into(), dollars.to_string().into()]);
    }
    if let Some(file) = &options.settings_file {
        words.extend(["--settings".into(), file.clone().into()]);
    }
    for word in &options.extra_args {
        let name = word.split('=').next().unwrap_or_default();
        if RESERVED.contains(&name) {
            let message =
                format!("{word:?} cannot be given to Claude Code here: el itself decides it");
            return Err(ConfigurationError::new(
                "extra_args",
                message,
                "take it out of the agent's extra_args",
            ));
        }
        ensure_no_nul("extra_args", word)?;
        words.push(word.into());
    }
    Ok(words)
}

/// Refuses bounds on turns or cost for an interactive agent. The client with a screen counts
/// neither, and el must not promise a bound that is not kept.
fn ensure_bounds_can_be_kept(options: &ClaudeOptions) -> Result<(), ConfigurationError> {
    for (field, given) in [
        ("max_turns", options.max_turns.is_some()),
        ("budget_per_run", options.budget_per_run.is_some()),
    ] {
        if given {
            let message = format!(
                "{field} is kept by headless runs only, and the agent's executor is interactive"
            );
            return Err(ConfigurationError::new(
                field,
                message,
                format!("unset it for this agent ({field} = \"\"), or set executor = \"claude\""),
            ));
        }
    }
    Ok(())
}

/// Returns rules that let the agent read and write the summary file; two slashes begin an absolute
/// path. A path that would act as a pattern or end the rule gets no rule, so the permission mode
/// decides. `Edit` stands for all tools that write files.
fn summary_file_rules(file: &Path) -> Vec<OsString> {
    rule_paths(file)
        .iter()
        .flat_map(|path| [format!("Edit(/{path})"), format!("Read(/{path})")])
        .map(OsString::from)
        .collect()
}

/// Returns rules that forbid the agent to edit the files that govern runs. `acceptEdits` would
/// allow such edits, since the files lie in the agent's folder.
fn tracker_deny_rules(database: &Path) -> Vec<OsString> {
    let beside = |name: &str, all: &str| {
        rule_paths(&database.with_file_name(name))
            .into_iter()
            .map(move |path| format!("Edit(/{path}{all})"))
            .collect()
    };
    let own = rule_paths(database).into_iter().map(|path| format!("Edit(/{path}*)")).collect();
    let rules: [Vec<String>; 3] = [beside("config.toml", ""), beside("runs", "/**"), own];
    rules.into_iter().flatten().map(OsString::from).collect()
}

fn add_dir(folder: &Path) -> OsString {
    let mut word = OsString::from("--add-dir=");
    word.push(folder);
    word
}

/// Returns rules that forbid the agent to leave instructions for other agents in a shared folder.
/// The client reads `CLAUDE.md` there as it does in the working folder.
fn no_instructions(folder: &Path) -> Vec<OsString> {
    rule_paths(folder)
        .iter()
        .flat_map(|path| [format!("Edit(/{path}/CLAUDE.md)"), format!("Edit(/{path}/.claude/**)")])
        .map(OsString::from)
        .collect()
}

/// Returns the path as given and with resolved links, if absolute and safe in a rule.
fn rule_paths(file: &Path) -> Vec<String> {
    let is_plain = |path: &String| {
        path.starts_with('/') && path.chars().all(|c| c.is_alphanumeric() || "/-_.+@ ".contains(c))
    };
    let real = crate::summary_file::resolve_folder_links(file);
    let both = [Some(file.to_owned()), real].into_iter().flatten();
    let mut paths: Vec<String> =
        both.filter_map(|path| path.into_os_string().into_string().ok()).filter(is_plain).collect();
    paths.dedup();
    paths
}

fn rule_words(
    field: &'static str,
    own: &[&str],
    given: &[String],
) -> Result<Vec<OsString>, ConfigurationError> {
    let mut words: Vec<OsString> = own.iter().map(OsString::from).collect();
    for rule in given {
        let word = option_value(field, rule)?;
        if !words.contains(&word) {
            words.push(word);
        }
    }
    Ok(words)
}

/// Checks an option's value: an empty value, or a value with a leading `-`, would be read as
/// something else.
fn option_value(field: &'static str, text: &str) -> Result<OsString, ConfigurationError> {
    ensure_no_nul(field, text)?;
    if text.trim().is_empty() || text.starts_with('-') {
        let message = format!("{field}: {text:?} would be taken for an option of Claude Code");
        return Err(ConfigurationError::new(
            field,
            message,
            "give a value that does not begin with '-' and is not empty",
        ));
    }
    Ok(text.into())
}

fn ensure_no_nul(field: &'static str, text: &str) -> Result<(), ConfigurationError> {
    if text.contains('\0') {
        let message = format!("{field}: {text:?} holds a NUL, which no program can be given");
        return Err(ConfigurationError::new(field, message, "take it out"));
    }
    Ok(())
}

#[cfg(test)]
#[path = "argv_tests.rs"]
mod tests;
