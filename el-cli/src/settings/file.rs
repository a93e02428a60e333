//! A configuration file. A bad line costs only that line.

use std::path::{Path, PathBuf};
use std::{fs, io};

use toml::de::{DeTable, DeValue};

use super::keys::{Key, Scope};
use super::value::Value;

/// A setting in a file.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: &'static Key,
    /// The agent whose table holds the setting.
    pub(crate) agent: Option<String>,
    /// Counted from 1.
    pub(crate) line: usize,
    /// The last line of the value.
    last_line: usize,
    /// A value that cannot be used matters only where the setting is needed.
    pub(crate) value: Result<Value, String>,
}

/// A fault in a file. Reads and writes of the tracker go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) path: PathBuf,
    /// Counted from 1; 0 is the file as a whole.
    pub(crate) line: usize,
    pub(crate) message: String,
    /// True if a limit or another setting may be lost: then no agent is started. False for a mere
    /// unknown name.
    pub(crate) is_serious: bool,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path.display(), self.message),
            line => write!(f, "{}:{line}: {}", self.path.display(), self.message),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    pub(crate) entries: Vec<Entry>,
    /// Agents with a table, empty or not.
    pub(crate) agents: Vec<String>,
    pub(crate) problems: Vec<Problem>,
}

impl ConfigFile {
    /// Reads a file. A missing file has no entries; an unreadable file is a problem.
    pub(crate) fn read(path: &Path) -> ConfigFile {
        let mut file = ConfigFile { path: path.to_owned(), ..ConfigFile::default() };
        match fs::read(path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                file = ConfigFile::parse(path, &text);
                if let Err(error) = std::str::from_utf8(&bytes) {
                    let line = line_of(&text, error.valid_up_to());
                    file.add_problem(line, "it is no UTF-8 text from here on".to_owned());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => file.add_problem(0, format!("cannot be read: {error}")),
        }
        file
    }

    /// The setting of an agent's table, or of the part above the tables.
    pub(super) fn find_entry(&self, key: &Key, agent: Option<&str>) -> Option<&Entry> {
        let is_it = |entry: &&Entry| entry.key.name == key.name && entry.agent.as_deref() == agent;
        self.entries.iter().find(is_it)
    }

    pub(super) fn parse(path: &Path, text: &str) -> ConfigFile {
        let mut file = ConfigFile { path: path.to_owned(), ..ConfigFile::default() };
        let (table, errors) = DeTable::parse_recoverable(text);
        file.read_table(text, table.get_ref(), None);
        let broken: Vec<Problem> = errors
            .iter()
            .map(|error| {
                let line = error.span().map_or(0, |span| line_of(text, span.start));
                Problem {
                    path: path.to_owned(),
                    line,
                    message: error.message().to_owned(),
                    is_serious: true,
                }
            })
            .collect();
        // The parser's reading of a broken line is a guess.
        let is_broken = |entry: &Entry| {
            broken.iter().any(|problem| (entry.line..=entry.last_line).contains(&problem.line))
        };
        file.entries.retain(|entry| !is_broken(entry));
        if let Some(first) = broken.iter().min_by_key(|problem| problem.line) {
            // Faults after the first are mostly consequences: an unclosed bracket breaks every line
            // to the end.
            file.problems.retain(|problem| problem.line < first.line);
            file.problems.push(first.clone());
        }
        file.problems.sort_by_key(|problem| problem.line);
        file
    }

    fn read_table(&mut self, text: &str, table: &DeTable<'_>, agent: Option<&str>) {
        for (name, value) in table {
            let line = line_of(text, name.span().start);
            let last_line = line_of(text, value.span().end).max(line);
            let name = name.get_ref();
            match (Key::find_key(name), value.get_ref()) {
                (Some(key), _) if agent.is_some() && key.scope != Scope::Agent => {
                    self.add_problem(
                        line,
                        format!("'{name}' is not a setting of one agent; put it above the tables"),
                    );
                }
                (Some(key), value) => {
                    let value = Value::from_toml(key, value);
                    self.entries.push(Entry {
                        key,
                        agent: agent.map(str::to_owned),
                        line,
                        last_line,
                        value,
                    });
                }
                (None, DeValue::Table(agents)) if agent.is_none() && name == "agents" => {
                    for (name, table) in agents {
                        match table.get_ref() {
                            DeValue::Table(table) => {
                                self.agents.push(name.get_ref().to_string());
                                self.read_table(text, table, Some(name.get_ref()));
                            }
                            _ => self.add_problem(
                                line_of(text, name.span().start),
                                format!("agents.{} must be a table of settings", name.get_ref()),
                            ),
                        }
                    }
                }
                (None, _) => {
                    let meant = Key::similar_name(name);
                    let asked =
                        meant.map_or_else(String::new, |meant| format!("; is '{meant}' meant?"));
                    self.add_problem(line, format!("there is no setting '{name}'{asked}"));
                    if let Some(last) = self.problems.last_mut() {
                        last.is_serious = meant.is_some();
                    }
                }
            }
        }
    }

    /// Drops the user's own settings from a project's file, with a warning each.
    pub(super) fn of_project(mut self) -> ConfigFile {
        let (kept, own): (Vec<Entry>, Vec<Entry>) =
            self.entries.into_iter().partition(|entry| entry.key.scope != Scope::User);
        self.entries = kept;
        for entry in own {
            self.add_problem(
                entry.line,
                format!("'{}' counts only in the user's own file", entry.key.name),
            );
        }
        self
    }

    fn add_problem(&mut self, line: usize, message: String) {
        self.problems.push(Problem { path: self.path.clone(), line, message, is_serious: true });
    }
}

/// The line of a byte offset, counted from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> ConfigFile {
        ConfigFile::parse(Path::new("config.toml"), text)
    }

    fn problems(text: &str) -> Vec<String> {
        parse(text).problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn settings_and_tables_of_agents_are_read() {
        let file = parse(
            "model = \"opus\"\n\n[agents.gendry]\nmodel = \"haiku\"\nexecutor = \"command\"\n",
        );
        let seen: Vec<_> =
            file.entries.iter().map(|e| (e.agent.as_deref(), e.key.name, e.line)).collect();
        assert!(seen.contains(&(None, "model", 1)));
        assert!(seen.contains(&(Some("gendry"), "model", 4)));
        assert!(seen.contains(&(Some("gendry"), "executor", 5)));
        assert!(file.problems.is_empty());
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_what_was_probably_meant() {
        assert_eq!(
            problems("\nmax_turn = 3\nbanana = 1\n"),
            [
                "config.toml:2: there is no setting 'max_turn'; is 'max_turns' meant?",
                "config.toml:3: there is no setting 'banana'"
            ]
        );
        assert_eq!(problems("[agents.x]\nlease = \"60s\"\n").len(), 1);
        assert_eq!(
            problems("[agents]\nx = 1\n"),
            ["config.toml:2: agents.x must be a table of settings"]
        );
    }

    #[test]
    fn a_broken_line_costs_that_line_only() {
        let file = parse("model = \"opus\"\nlease = \nconcurrency = 4\n");
        let names: Vec<_> = file.entries.iter().map(|entry| entry.key.name).collect();
        assert!(
            names.contains(&"model") && names.contains(&"concurrency") && !names.contains(&"lease")
        );
        assert_eq!(file.problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_bracket_that_is_not_closed_is_one_problem() {
        let text = "model = \"opus\"\nallowed_tools = [\"Bash(a)\",\nmax_turns = 3\n\
            budget_per_run = 1.0\nlease = \"60s\"\n[agents.x]\nmodel = \"y\"\n";
        let file = parse(text);
        assert_eq!(file.problems.len(), 1, "{:?}", file.problems);
        assert!(file.problems[0].is_serious);
        assert!(file.entries.iter().any(|entry| entry.key.name == "model" && entry.line == 1));
    }

    #[test]
    fn only_a_name_that_is_like_none_is_not_serious() {
        let serious = |text: &str| {
            parse(text).problems.iter().map(|problem| problem.is_serious).collect::<Vec<_>>()
        };
        assert_eq!(serious("banana = 1\n"), [false]);
        assert_eq!(serious("max_turn = 1\n"), [true]);
        assert_eq!(serious("[agents.x]\nlease = \"60s\"\n"), [true]);
        assert_eq!(serious("lease = \n"), [true]);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, b"model = \"x\"\n# \xff\n").unwrap();
        assert_eq!(
            ConfigFile::read(&path)
                .problems
                .iter()
                .map(|p| (p.line, p.is_serious))
                .collect::<Vec<_>>(),
            [(2, true)]
        );
        assert!(ConfigFile::read(dir.path()).problems[0].is_serious);
    }

    #[test]
    fn a_bad_value_is_kept_with_its_line() {
        let file = parse("# first\nmax_turns = \"ten\"\n");
        assert_eq!(file.entries[0].line, 2);
        assert!(file.entries[0].value.is_err());
    }

    #[test]
    fn nothing_but_rubbish_is_survived() {
        for text in ["\0\0\0", "[[[[", "= = =", "\u{feff}model = 1", &"[a.".repeat(1000)] {
            parse(text);
        }
    }
}
