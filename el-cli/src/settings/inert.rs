//! The part of a repository's file that has an effect before a person trusts the file. A repository
//! is cloned, and its file could name any program.

use std::collections::BTreeMap;
use std::path::Path;

use el_agents::project_files::project_files;
use el_core::model::Timestamp;

use super::file::{ConfigFile, Entry};
use super::keys::{Class, Key, Kind, Narrower};
use super::value::Value;
use super::{Origin, Settings};
use crate::{CommandError, Result};

impl Entry {
    /// The name as `el config set` takes names: `model`, `agents.gendry.model`.
    pub(crate) fn name(&self) -> String {
        match &self.agent {
            Some(agent) => format!("agents.{agent}.{}", self.key.name),
            None => self.key.name.to_owned(),
        }
    }
}

impl ConfigFile {
    /// The settings of this file that need a person's trust: all but names and habits.
    pub(crate) fn settings_to_trust(&self) -> BTreeMap<String, String> {
        let asks = |entry: &&Entry| entry.key.class != Class::Free;
        let said = |entry: &Entry| Some((entry.name(), entry.value.as_ref().ok()?.to_text()));
        self.entries.iter().filter(asks).filter_map(said).collect()
    }

    /// Removes the settings that have no effect in an untrusted file. An unusable value stays, and
    /// stops the commands that need the setting.
    pub(super) fn take_inert(&mut self, user: &ConfigFile) -> Vec<Entry> {
        let counts = |entry: &Entry| match (entry.key.class, &entry.value) {
            (Class::Free, _) | (_, Err(_)) => true,
            (Class::Trusted, Ok(_)) => false,
            (Class::Limit(narrower), Ok(value)) => {
                without(user, entry).is_some_and(|other| is_no_wider(narrower, value, &other))
            }
        };
        let (kept, inert) = std::mem::take(&mut self.entries).into_iter().partition(counts);
        self.entries = kept;
        inert
    }
}

/// The value without the project's file. `None` if that value is unusable.
fn without(user: &ConfigFile, entry: &Entry) -> Option<Value> {
    let own = entry.agent.as_deref().and_then(|agent| user.find_entry(entry.key, Some(agent)));
    match own.or_else(|| user.find_entry(entry.key, None)) {
        Some(found) => found.value.clone().ok(),
        None => default(entry.key),
    }
}

fn default(key: &Key) -> Option<Value> {
    key.default.map_or(Some(Value::Unset), |text| Value::from_text(key, text).ok())
}

fn is_no_wider(narrower: Narrower, value: &Value, other: &Value) -> bool {
    if value == other {
        return true;
    }
    let order = || match (value, other) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Amount(a), Value::Amount(b)) => a.partial_cmp(b),
        (Value::Time(a), Value::Time(b)) => Some(a.cmp(b)),
        _ => None,
    };
    let has_all = |of: &Value, whole: &Value| match (of, whole) {
        (Value::List(of), Value::List(whole)) => of.iter().all(|item| whole.contains(item)),
        _ => false,
    };
    match narrower {
        Narrower::Lower | Narrower::Higher if *other == Value::Unset => true,
        Narrower::Lower => order().is_some_and(std::cmp::Ordering::is_le),
        Narrower::Higher => order().is_some_and(std::cmp::Ordering::is_ge),
        Narrower::On => *value == Value::Bool(true),
        Narrower::Longer => has_all(other, value),
        Narrower::Shorter => match (value, other) {
            (Value::List(of), Value::List(all)) if all.is_empty() => !of.is_empty(),
            (Value::List(of), _) => !of.is_empty() && has_all(value, other),
            _ => false,
        },
    }
}

impl Settings {
    /// Settings of the project's file that have no effect before `el trust`.
    pub(crate) fn inert_settings(&self) -> &[Entry] {
        &self.inert
    }

    /// The names of settings without effect, each once, in order.
    pub(crate) fn inert_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.inert.iter().map(Entry::name).collect();
        names.sort_unstable();
        names
    }

    /// Refuses to go on while one of these settings, of this agent or in general, would count in
    /// the project's file and does not: what the setting guards would happen without it. A flag or
    /// a variable outranks the file.
    pub(crate) fn ensure_trusted(&self, names: &[&str], agent: Option<&str>) -> Result<()> {
        let is_asked = |entry: &&Entry| {
            let is_its = entry.agent.is_none() || entry.agent.as_deref() == agent;
            is_its && names.contains(&entry.key.name) && entry.value != Ok(Value::Unset)
        };
        for entry in self.inert.iter().filter(is_asked) {
            let counts = self.get(entry.key, agent)?;
            let is_said = matches!(counts.origin, Origin::Flag { .. } | Origin::Env { .. });
            if is_said || entry.value.as_ref() == Ok(&counts.value) {
                continue;
            }
            let (name, variable) = (entry.name(), entry.key.variable_name());
            let path = self.project.path.display();
            let message = format!("{path}: {name} does not count, since nobody has trusted it");
            let error = CommandError::config_error(&name, message)
                .with_hint("el trust shows the settings of this project and asks");
            return Err(match entry.key.kind {
                Kind::Command => error.with_hint(format!(
                    "{variable}=true before the command goes on without that check, this once"
                )),
                _ => error,
            });
        }
        Ok(())
    }

    /// The files that Claude Code would obey and nobody has trusted: its agents do without all such
    /// files then.
    pub(crate) fn inert_files(&self) -> Vec<String> {
        if !self.trust.is_about_a_project() {
            return Vec::new();
        }
        let Ok(found) = project_files(&self.root) else { return vec![".claude".to_owned()] };
        let trusted = self.trust.files();
        found.into_iter().filter(|file| !trusted.contains(file)).map(|file| file.path).collect()
    }

    /// Trusts the files that Claude Code would obey, as they are now.
    pub(crate) fn trust_files(&self, now: Timestamp) -> Result<()> {
        let files = project_files(&self.root).map_err(|source| {
            CommandError::file_error("read", &self.root.join(".claude"), source)
        })?;
        self.trust.give_files(files, now)
    }

    /// A sentence about the settings without effect, if any.
    pub(crate) fn inert_sentence(&self) -> Option<String> {
        let (names, files) = (self.inert_names(), self.inert_files());
        let these = match names.as_slice() {
            [_] => "this setting",
            _ => "these settings",
        };
        let settings = (!names.is_empty()).then(|| {
            let path = self.project.path.display();
            format!("{these} of {path}: {}", names.join(", "))
        });
        let client = files.split_first().map(|(first, more)| match more.len() {
            0 => format!("what Claude Code finds here: {first}"),
            more => format!("what Claude Code finds here: {first} and {more} more"),
        });
        let parts: Vec<String> = settings.into_iter().chain(client).collect();
        (!parts.is_empty()).then(|| {
            format!("until you run el trust, nothing counts of {}", parts.join("; or of "))
        })
    }
}

/// The settings of a project's file that need a person's trust.
pub(crate) fn read_settings_to_trust(config: &Path) -> BTreeMap<String, String> {
    ConfigFile::read(config).of_project().settings_to_trust()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::keys;

    /// The names in the project's file that do not count.
    fn inert_names(project: &str, user: &str) -> Vec<String> {
        let user = ConfigFile::parse(Path::new("user.toml"), user);
        let mut project = ConfigFile::parse(Path::new("config.toml"), project);
        let mut names: Vec<_> = project.take_inert(&user).iter().map(Entry::name).collect();
        names.sort();
        names
    }

    /// A new setting that names a program or widens what agents may do is not free by mistake.
    #[test]
    fn only_names_and_habits_are_free() {
        let free: Vec<_> =
            keys::all_keys().filter(|key| key.class == Class::Free).map(|key| key.name).collect();
        assert_eq!(
            free,
            [
                "preserve_sessions",
                "worktree_base",
                "epic_autoclose",
                "branch_prefix",
                "land_mode",
                "orchestrate_progress",
                "durability"
            ]
        );
    }

    #[test]
    fn a_limit_has_a_kind_that_can_be_compared() {
        use keys::Kind;
        for key in keys::all_keys() {
            let Class::Limit(narrower) = key.class else { continue };
            let fits = match narrower {
                Narrower::Lower | Narrower::Higher => {
                    matches!(key.kind, Kind::Int { .. } | Kind::Amount | Kind::Time { .. })
                }
                Narrower::On => key.kind == Kind::Bool,
                Narrower::Longer | Narrower::Shorter => key.kind == Kind::List,
            };
            assert!(fits, "{}", key.name);
        }
    }

    #[test]
    fn programs_and_permissions_do_not_count() {
        let text = "command = [\"x\"]\nallowed_tools = [\"Bash\"]\nland_mode = \"merge\"\n\
                    [agents.gendry]\nnotify = [\"x\"]\n";
        assert_eq!(inert_names(text, ""), ["agents.gendry.notify", "allowed_tools", "command"]);
    }

    #[test]
    fn a_limit_counts_if_it_is_no_wider() {
        let wide = "budget_per_run = 100.0\nexecution_timeout = \"9h\"\nconcurrency = 8\n\
                    retry_backoff = \"0s\"\nreview = false\n";
        assert_eq!(
            inert_names(wide, "budget_per_run = 2.0\nreview = true\n"),
            ["budget_per_run", "concurrency", "execution_timeout", "retry_backoff", "review"]
        );
        let narrow = "budget_per_run = 1.0\nexecution_timeout = \"5m\"\nconcurrency = 1\n\
                      retry_backoff = \"1h\"\nreview = true\n";
        assert_eq!(inert_names(narrow, "budget_per_run = 2.0\n"), [""; 0]);
        assert_eq!(inert_names("max_turns = \"\"\n", "max_turns = 5\n"), ["max_turns"]);
    }

    #[test]
    fn an_agents_own_limit_outranks_the_general_one() {
        let own = "[agents.gendry]\nbudget_per_run = 1.0\n";
        assert_eq!(
            inert_names("[agents.gendry]\nbudget_per_run = 5.0\n", own),
            ["agents.gendry.budget_per_run"]
        );
        assert_eq!(inert_names("[agents.ada]\nbudget_per_run = 5.0\n", own), [""; 0]);
    }

    #[test]
    fn lists_that_deny_may_grow_and_lists_that_allow_may_shrink() {
        let user = "disallowed_tools = [\"WebFetch\"]\ndelegates = [\"ada\", \"bo\"]\n";
        let none = "disallowed_tools = []\ndelegates = []\n";
        assert_eq!(inert_names(none, user), ["delegates", "disallowed_tools"]);
        let narrow = "disallowed_tools = [\"Bash\", \"WebFetch\"]\ndelegates = [\"ada\"]\n";
        assert_eq!(inert_names(narrow, user), [""; 0]);
        assert_eq!(inert_names("delegates = [\"eve\"]\n", user), ["delegates"]);
        assert_eq!(inert_names("delegates = [\"eve\"]\n", ""), [""; 0]);
    }

    #[test]
    fn a_value_that_cannot_be_used_still_stops_whatever_needs_it() {
        let mut file = ConfigFile::parse(Path::new("config.toml"), "permission_mode = \"yolo\"\n");
        assert!(file.take_inert(&ConfigFile::default()).is_empty());
        assert_eq!(file.entries.len(), 1);
    }
}
