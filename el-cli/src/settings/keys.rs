//! Every setting: its name, kind, default and meaning. `el config`, the environment, the files and
//! the typed structs all use this list.

mod agent;
mod project;
mod pull_requests;

use std::time::Duration;

use strsim::levenshtein;

/// The kind of a setting's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Bool,
    Int {
        min: i64,
        max: i64,
    },
    /// A positive amount of US dollars.
    Amount,
    Text,
    /// How the names of branches begin; ends with a slash.
    BranchPrefix,
    /// `[HOST/]OWNER/NAME` at a forge.
    RepoName,
    /// The address of a server.
    ServerUrl,
    /// A file or folder; relative to the project's folder, and `~/` is the home.
    Path,
    Choice(&'static [&'static str]),
    Time {
        min: Duration,
    },
    List,
    /// A program and its arguments: a text that is split as in a shell, or a list. An optional
    /// command keeps its form; the others become lists.
    Command,
}

/// The subject of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// An agent's run; may also stand in `[agents.<name>]`.
    Agent,
    /// The worker, `el work`.
    Worker,
    /// The project as a whole.
    Project,
    /// The user, in any project; only in the user's file.
    User,
}

/// The effect of a setting in a repository's file before a person trusts the file. Every new
/// setting must have a class to compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Names and habits, with immediate effect.
    Free,
    /// A limit, with immediate effect if no wider than the value without the file.
    Limit(Narrower),
    /// Programs, permissions, costs and places: no effect before `el trust`.
    Trusted,
}

/// The rule that finds the narrower of two limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Narrower {
    /// The lower value; unset is no limit.
    Lower,
    /// The higher value; unset is no limit.
    Higher,
    /// `true`.
    On,
    /// The list that has all of the other, and more.
    Longer,
    /// The list that is a part of the other. An empty list allows everybody.
    Shorter,
}

const LOWER: Class = Class::Limit(Narrower::Lower);
const HIGHER: Class = Class::Limit(Narrower::Higher);
const ON: Class = Class::Limit(Narrower::On);
const LONGER: Class = Class::Limit(Narrower::Longer);
const SHORTER: Class = Class::Limit(Narrower::Shorter);

#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The default as a person would type the value. `None`: unset has a meaning of its own, and
    /// `""` asks for that meaning.
    pub(crate) default: Option<&'static str>,
    pub(crate) scope: Scope,
    pub(crate) class: Class,
    pub(crate) help: &'static str,
}

impl Key {
    /// The environment variable that outranks the files.
    pub(crate) fn variable_name(&self) -> String {
        format!("EL_{}", self.name.to_ascii_uppercase())
    }

    pub(crate) fn is_optional(&self) -> bool {
        self.default.is_none()
    }

    pub(crate) fn find_key(name: &str) -> Option<&'static Key> {
        all_keys().find(|key| key.name == name)
    }

    /// The name that was probably meant.
    pub(crate) fn similar_name(name: &str) -> Option<&'static str> {
        let wanted = name.to_ascii_lowercase().replace('-', "_");
        all_keys()
            .map(|key| (levenshtein(&wanted, key.name), key.name))
            .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
            .min()
            .map(|(_, name)| name)
    }
}

/// Where the tables are, if not in a file.
pub(crate) const DATABASE_URL: &str = "database_url";

const SECOND: Duration = Duration::from_secs(1);

const fn key(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    scope: Scope,
    class: Class,
    help: &'static str,
) -> Key {
    Key { name, kind, default, scope, class, help }
}

const fn agent_key(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    class: Class,
    help: &'static str,
) -> Key {
    key(name, kind, default, Scope::Agent, class, help)
}

const fn worker_key(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    class: Class,
    help: &'static str,
) -> Key {
    key(name, kind, default, Scope::Worker, class, help)
}

const fn project_key(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    class: Class,
    help: &'static str,
) -> Key {
    key(name, kind, default, Scope::Project, class, help)
}

pub(crate) const PERMISSION_MODES: &[&str] =
    &["acceptEdits", "default", "dontAsk", "plan", "auto", "bypassPermissions"];

/// Every setting.
pub(crate) fn all_keys() -> impl Iterator<Item = &'static Key> {
    agent::KEYS.iter().chain(project::KEYS).chain(pull_requests::KEYS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::value::Value;

    #[test]
    fn every_default_is_a_legal_value() {
        for key in all_keys() {
            if let Some(default) = key.default {
                Value::from_text(key, default)
                    .unwrap_or_else(|error| panic!("{}: {error}", key.name));
            }
        }
    }

    #[test]
    fn a_typo_finds_the_key_that_was_meant() {
        assert_eq!(Key::similar_name("max-turn"), Some("max_turns"));
        assert_eq!(Key::similar_name("alowed_tools"), Some("allowed_tools"));
        assert_eq!(Key::similar_name("colour"), None);
    }
}
