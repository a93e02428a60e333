//! Facts about the machine for `el doctor`: versions, the log-in, identities, permissions.

use std::path::{Path, PathBuf};

use el_agents::forge::RepoName;
use el_agents::git::Repository;
use el_agents::sandbox::{Found, Sandbox};
use el_agents::settings::{AgentSettings, Executor};
use schemars::JsonSchema;
use serde::Serialize;

use super::program::{Refusal, ask_first_line};
use crate::output::{Page, Table};
use crate::settings::Settings;

/// A fact about the machine.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Fact {
    name: &'static str,
    value: String,
}

pub(in crate::commands) fn print_facts(page: &mut Page, facts: &[Fact]) {
    Table::print_facts(page, facts.iter().map(|fact| (fact.name, Some(fact.value.clone()))));
    page.push_blank();
}

pub(super) fn collect_facts(settings: &Settings) -> Vec<Fact> {
    let first = settings.work_settings().ok().and_then(|work| work.agents.into_iter().next());
    let agent = first.and_then(|name| settings.agent_settings(&name).ok());
    let folder = agent.as_ref().map(|agent| agent.working_directory.clone()).unwrap_or_default();
    let version_of = |program: &str, flag: &str| {
        ask_first_line(program, &[flag], &folder).unwrap_or_else(|refusal| refusal.in_words())
    };
    let mut facts = vec![
        Fact { name: "el", value: env!("CARGO_PKG_VERSION").to_owned() },
        Fact { name: "SQLite", value: el_core::sqlite_version().to_owned() },
        Fact { name: "tmux", value: version_of("tmux", "-V") },
        Fact { name: "git", value: version_of("git", "--version") },
    ];
    if let Some(agent) = &agent {
        facts.extend(of_agent(agent));
        facts.push(Fact { name: "sandbox", value: sandbox_fact(agent) });
    }
    facts.push(Fact { name: "git identity", value: git_identity(&folder) });
    facts.extend(forge_fact(settings, &folder));
    facts.extend(left_behind(&folder));
    facts
}

/// The forge that `el land` opens pull requests at, and whether its program can be used. No server
/// is asked.
fn forge_fact(settings: &Settings, folder: &Path) -> Option<Fact> {
    if !settings.lands_by_pull_request().ok()? {
        return None;
    }
    let wanted = settings.pull_settings().ok()?;
    let remotes = Repository::open_at(folder).ok()?.remotes().ok()?;
    let is_wanted = |name: &str| wanted.place.remote.as_deref().is_none_or(|it| it == name);
    let remote = remotes.iter().find(|remote| is_wanted(&remote.name))?;
    let repo = RepoName::of_remote(&remote.url)?;
    let forge = wanted.forges.of_host(&repo.host);
    let value = match forge.ensure_ready() {
        Ok(()) => format!("{repo} ({})", forge.name()),
        Err(error) => format!("{error}; {}", error.hint()),
    };
    Some(Fact { name: "pull requests", value })
}

fn of_agent(agent: &AgentSettings) -> Vec<Fact> {
    if let Executor::Command(words) = &agent.executor {
        return vec![Fact { name: "agent", value: words.join(" ") }];
    }
    let version = client_version(agent).unwrap_or_else(|refusal| refusal.in_words());
    vec![
        Fact { name: "client", value: version },
        Fact { name: "log-in", value: log_in() },
        Fact { name: "permission mode", value: agent.permission_mode.clone() },
        Fact { name: "commits by agents", value: commit_policy(agent).to_owned() },
    ]
}

/// Starts the client of an agent, without asking any server.
pub(super) fn client_version(agent: &AgentSettings) -> Result<String, Refusal> {
    ask_first_line(&agent.claude_code_path, &["--version"], &agent.working_directory)
}

/// Tries to make one.
fn sandbox_fact(agent: &AgentSettings) -> String {
    let environment: Vec<_> = std::env::vars_os().collect();
    match Sandbox::find(&agent.sandbox, &agent.env_pass, &environment) {
        Ok(Found::Sandbox(sandbox)) => sandbox.summary(),
        Ok(Found::Off) => "off (sandbox = \"off\")".to_owned(),
        Ok(Found::Missing(why)) => format!("none: {why}"),
        Err(error) => error.message,
    }
}

/// Reads only the client's own log-in files; asks no server.
fn log_in() -> String {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let keys = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];
    if let Some(name) = keys.iter().find(|name| is_set(name)) {
        return format!("by {name}");
    }
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let folder = named.or_else(|| Some(std::env::home_dir()?.join(".claude")));
    match folder.map(|folder| folder.join(".credentials.json")) {
        Some(file) if file.is_file() => format!("by {}", file.display()),
        _ => "no key and no credentials were found; run claude and type /login".to_owned(),
    }
}

fn commit_policy(agent: &AgentSettings) -> &'static str {
    let is_denied = agent.disallowed_tools.iter().any(|rule| rule.starts_with("Bash(git"));
    let is_named = agent.allowed_tools.iter().any(|rule| {
        rule == "Bash" || rule.starts_with("Bash(git *") || rule.starts_with("Bash(git commit")
    });
    match agent.permission_mode.as_str() {
        _ if is_denied => "a rule denies git commands",
        "bypassPermissions" => "allowed",
        _ if is_named => "allowed by a rule",
        _ => "allowed in a worktree of its own; elsewhere as the permission mode has it",
    }
}

fn git_identity(folder: &Path) -> String {
    let ask = |key: &str| ask_first_line("git", &["config", "--get", key], folder).ok();
    match (ask("user.name"), ask("user.email")) {
        (Some(name), Some(email)) => format!("{name} <{email}>"),
        _ => "none: git config --global user.name NAME, and user.email".to_owned(),
    }
}

/// Untracked files of the checkout that a fresh worktree would lack.
fn left_behind(folder: &Path) -> Vec<Fact> {
    let mut facts = Vec::new();
    let attributes = std::fs::read_to_string(folder.join(".gitattributes")).unwrap_or_default();
    if attributes.contains("filter=lfs") {
        let value = match ask_first_line("git", &["lfs", "version"], folder) {
            Ok(version) => version,
            Err(_) => "this repository needs it, and git-lfs is not installed".to_owned(),
        };
        facts.push(Fact { name: "git-lfs", value });
    }
    for (file, name) in [
        (".husky", "husky"),
        ("lefthook.yml", "lefthook"),
        (".pre-commit-config.yaml", "pre-commit"),
    ] {
        if folder.join(file).exists() {
            let value = format!("{name}; worktree_setup installs what its hooks need in worktrees");
            facts.push(Fact { name: "hooks", value });
        }
    }
    facts
}
