//! The resolved configuration: flags, then `EL_*`, then the project's `.eluent/config.toml`, then
//! the user's `~/.config/el/config.toml`, then defaults. An agent's own table outranks the settings
//! above the tables. A bad value stops only the commands that need the setting; an unknown key is a
//! warning.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use el_agents::settings::{AgentSettings, Completion, Executor, RunRules};
use el_agents::worker::Resources;
use el_core::ServerAddress;
use etcetera::BaseStrategy as _;
use schemars::JsonSchema;
use serde::Serialize;

use crate::trust::Trust;
use crate::{CommandError, Result};

mod agents;
pub(crate) mod duration;
mod faults;
mod file;
mod inert;
pub(crate) mod keys;
mod orchestrate;
mod placement;
mod pull_requests;
#[cfg(test)]
mod reference;
pub(crate) mod served;
mod sync;
mod tables;
pub(crate) mod value;
pub(crate) mod write;

use faults::{bad_entry, bad_given};
pub(crate) use file::Problem;
use file::{ConfigFile, Entry};
pub(crate) use inert::read_settings_to_trust;
use keys::{Key, Kind};
pub(crate) use placement::Place;
use value::Value;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "layer", rename_all = "snake_case")]
pub(crate) enum Origin {
    Default,
    User { path: PathBuf, line: usize },
    Project { path: PathBuf, line: usize },
    Env { variable: String },
    Flag { flag: String },
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::User { path, line } | Origin::Project { path, line } => {
                write!(f, "{}:{line}", path.display())
            }
            Origin::Env { variable } => f.write_str(variable),
            Origin::Flag { flag } => f.write_str(flag),
        }
    }
}

impl Origin {
    /// The error for a bad value: a usage error for a flag's, a configuration error otherwise.
    fn refusal_error(&self, setting: &str, message: &str) -> CommandError {
        let error = match self {
            Origin::Flag { flag } => {
                CommandError::invalid_value(flag.trim_start_matches('-'), message)
            }
            _ => CommandError::config_error(setting, message),
        };
        error.with_detail("origin", self.to_string())
    }
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Resolved {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// A setting given outside the files: by a variable or a flag.
#[derive(Debug)]
struct Given {
    key: &'static Key,
    origin: Origin,
    value: Result<Value, String>,
}

#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Highest rank first: flags, then the environment.
    given: Vec<Given>,
    project: ConfigFile,
    /// Settings of the project's file that are not trusted.
    inert: Vec<Entry>,
    user: ConfigFile,
    trust: Trust,
    /// The project's folder; relative paths start here.
    root: PathBuf,
    /// The server that has the project; no agent sees the files with which people log in there.
    server: Option<ServerAddress>,
}

impl Settings {
    /// Reads all layers. `root` is the project's folder, `config` its configuration file. Never
    /// fails: errors show up when a setting is read, or as a [`Problem`].
    pub(crate) fn load(root: &Path, config: &Path) -> Settings {
        let trust = Trust::for_project(config);
        let settings = Settings::from_layers(
            root,
            config,
            user_config_path().as_deref(),
            |asked| trust.holds(asked),
            |variable| env::var_os(variable).map(|value| value.to_string_lossy().into_owned()),
        );
        Settings { trust, ..settings }
    }

    /// The settings of an empty configuration.
    pub(crate) fn defaults(root: &Path) -> Settings {
        Settings { root: root.to_owned(), ..Settings::default() }
    }

    fn from_layers(
        root: &Path,
        config: &Path,
        user: Option<&Path>,
        is_trusted: impl Fn(&BTreeMap<String, String>) -> bool,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Settings {
        let given = keys::all_keys()
            .filter_map(|key| {
                let name = key.variable_name();
                // An empty variable counts as unset, as everywhere in Unix.
                let text = variable(&name).filter(|text| !text.is_empty())?;
                // The variable may hold a password, which nobody is shown.
                let text = match key.kind {
                    Kind::ServerUrl => el_core::hide_password(&text),
                    _ => text,
                };
                Some(Given {
                    key,
                    value: Value::from_text(key, &text),
                    origin: Origin::Env { variable: name },
                })
            })
            .collect();
        let user = user.map(ConfigFile::read).unwrap_or_default();
        let mut project = ConfigFile::read(config).of_project();
        let inert = match is_trusted(&project.settings_to_trust()) {
            true => Vec::new(),
            false => project.take_inert(&user),
        };
        Settings { given, project, inert, user, ..Settings::defaults(root) }
    }

    /// Names the server that has the project.
    #[must_use]
    pub(crate) fn with_server(self, server: Option<ServerAddress>) -> Settings {
        Settings { server, ..self }
    }

    /// Adds the value of a flag as typed (`--timeout`), which outranks every other layer.
    #[must_use]
    pub(crate) fn with_flag(mut self, flag: &str, key: &str, text: Option<&str>) -> Settings {
        if let (Some(text), Some(key)) = (text, Key::find_key(key)) {
            let origin = Origin::Flag { flag: flag.to_owned() };
            self.given.insert(0, Given { key, value: Value::from_text(key, text), origin });
        }
        self
    }

    /// Faults of the files that stop no command.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.project.problems.iter().chain(&self.user.problems)
    }

    /// The value and the origin of a setting, for an agent or in general.
    pub(crate) fn get(&self, key: &'static Key, agent: Option<&str>) -> Result<Resolved> {
        if let Some(given) = self.given.iter().find(|given| given.key.name == key.name) {
            return match &given.value {
                Ok(value) => Ok(Resolved { value: value.clone(), origin: given.origin.clone() }),
                Err(message) => Err(bad_given(given, message)),
            };
        }
        let own_table = agent.is_some().then_some(agent);
        for table in own_table.into_iter().chain([None]) {
            for (file, is_project) in [(&self.project, true), (&self.user, false)] {
                let Some(entry) = file.find_entry(key, table) else { continue };
                let value =
                    entry.value.clone().map_err(|message| bad_entry(file, entry, &message))?;
                let (path, line) = (file.path.clone(), entry.line);
                let origin = match is_project {
                    true => Origin::Project { path, line },
                    false => Origin::User { path, line },
                };
                return Ok(Resolved { value, origin });
            }
        }
        let default = key.default.map_or(Ok(Value::Unset), |text| Value::from_text(key, text));
        Ok(Resolved {
            value: default.expect("a test checks every default"),
            origin: Origin::Default,
        })
    }

    fn value(&self, name: &str, agent: Option<&str>) -> Result<Value> {
        let key =
            Key::find_key(name).expect("the names in this file are those of the list of keys");
        self.get(key, agent).map(|resolved| resolved.value)
    }

    fn optional_text(&self, name: &str, agent: Option<&str>) -> Result<Option<String>> {
        Ok(match self.value(name, agent)? {
            Value::Text(text) => Some(text),
            _ => None,
        })
    }

    fn text_list(&self, name: &str, agent: Option<&str>) -> Result<Vec<String>> {
        Ok(match self.value(name, agent)? {
            Value::List(items) => items,
            _ => Vec::new(),
        })
    }

    fn optional_time(&self, name: &str, agent: Option<&str>) -> Result<Option<Duration>> {
        Ok(match self.value(name, agent)? {
            Value::Time(time) => Some(time),
            _ => None,
        })
    }

    fn optional_int(&self, name: &str, agent: Option<&str>) -> Result<Option<u32>> {
        Ok(match self.value(name, agent)? {
            Value::Int(number) => u32::try_from(number).ok(),
            _ => None,
        })
    }

    pub(crate) fn amount(&self, name: &str, agent: Option<&str>) -> Result<Option<f64>> {
        Ok(match self.value(name, agent)? {
            Value::Amount(amount) => Some(amount),
            _ => None,
        })
    }

    fn optional_path(&self, name: &str, agent: Option<&str>) -> Result<Option<PathBuf>> {
        // An absolute path replaces the root.
        Ok(self.optional_text(name, agent)?.map(|text| self.root.join(with_home(&text))))
    }

    fn paths(&self, name: &str, agent: Option<&str>) -> Result<Vec<PathBuf>> {
        Ok(self
            .text_list(name, agent)?
            .iter()
            .map(|text| self.root.join(with_home(text)))
            .collect())
    }

    /// The settings of a named agent.
    pub(crate) fn agent_settings(&self, name: &str) -> Result<AgentSettings> {
        let agent = Some(name);
        Ok(AgentSettings {
            name: name.to_owned(),
            executor: match self.optional_text("executor", agent)?.as_deref() {
                Some("command") => Executor::Command(self.command_words("command", agent)?),
                Some("interactive") => Executor::Interactive,
                _ => Executor::Claude,
            },
            claude_code_path: with_home(
                &self.optional_text("claude_code_path", agent)?.unwrap_or_default(),
            ),
            model: self.optional_text("model", agent)?,
            effort: self.optional_text("effort", agent)?,
            permission_mode: self.optional_text("permission_mode", agent)?.unwrap_or_default(),
            allowed_tools: self.text_list("allowed_tools", agent)?,
            disallowed_tools: self.text_list("disallowed_tools", agent)?,
            max_turns: self.optional_int("max_turns", agent)?,
            budget_per_run: self.amount("budget_per_run", agent)?,
            extra_args: self.text_list("extra_args", agent)?,
            working_directory: self
                .optional_path("working_directory", agent)?
                .unwrap_or_else(|| self.root.clone()),
            preserve_sessions: self.value("preserve_sessions", agent)? == Value::Bool(true),
            execution_timeout: self.optional_time("execution_timeout", agent)?.unwrap_or_default(),
            stall_timeout: self.optional_time("stall_timeout", agent)?.unwrap_or_default(),
            close_grace: self.optional_time("close_grace", agent)?.unwrap_or_default(),
            api_timeout: self.optional_time("api_timeout", agent)?,
            api_max_retries: self.optional_int("api_max_retries", agent)?,
            notify: self.command_words("notify", agent)?,
            notify_timeout: self.optional_time("notify_timeout", agent)?.unwrap_or_default(),
            review: self.value("review", agent)? == Value::Bool(true),
            system_prompt: self.optional_text("system_prompt", agent)?.unwrap_or_default(),
            completion: match self.optional_text("completion", agent)?.as_deref() {
                Some("summary") => Completion::Summary,
                _ => Completion::Atom,
            },
            max_parallel: self.optional_int("max_parallel", agent)?,
            verify: self.check_command(agent)?,
            require_verify: self.value("require_verify", agent)? == Value::Bool(true),
            verify_timeout: self.optional_time("verify_timeout", agent)?.unwrap_or_default(),
            isolation: None,
            task_isolation: None,
            env: self
                .text_list("env", agent)?
                .iter()
                .filter_map(|text| text.split_once('='))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            env_pass: self.text_list("env_pass", agent)?,
            env_strip: self.text_list("env_strip", agent)?,
            trusted_files: self.trust.files(),
            sandbox: self.sandbox_settings(agent)?,
        })
    }

    /// The settings of a worker.
    pub(crate) fn work_settings(&self) -> Result<WorkSettings> {
        Ok(WorkSettings {
            agents: self.agent_names_to_serve()?,
            concurrency: self.optional_int("concurrency", None)?.unwrap_or(1),
            rules: RunRules {
                lease: self.optional_time("lease", None)?.unwrap_or_default(),
                max_attempts: self.optional_int("max_attempts", None)?.unwrap_or(1),
                retry_backoff: self.optional_time("retry_backoff", None)?.unwrap_or_default(),
            },
            resources: self.resource_limits()?,
            context_directory: self
                .optional_path("context_directory", None)?
                .unwrap_or_else(|| self.root.clone()),
            summaries_directory: self
                .optional_path("summaries_directory", None)?
                .unwrap_or_else(|| self.root.clone()),
        })
    }
}

/// The settings of a worker.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorkSettings {
    /// The agents that `el work` serves; at least a single agent, each once.
    pub(crate) agents: Vec<String>,
    pub(crate) concurrency: u32,
    pub(crate) rules: RunRules,
    pub(crate) resources: Resources,
    pub(crate) context_directory: PathBuf,
    pub(crate) summaries_directory: PathBuf,
}

/// The user's configuration file, by the XDG rules. `None` without a home.
pub(crate) fn user_config_path() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join("el").join("config.toml"))
}

/// A path with the home folder in the place of a leading `~`.
fn with_home(text: &str) -> String {
    match (text.strip_prefix('~'), env::home_dir()) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", home.display())
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
