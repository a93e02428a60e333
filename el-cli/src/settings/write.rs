//! Changes a single setting in a file: comments and order stay, the value is checked first, and the
//! file is replaced atomically.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use el_core::model::Timestamp;
use toml_edit::{DocumentMut, Item, Table};

use super::file::ConfigFile;
use super::keys::{Key, Scope};
use super::value::Value;
use crate::replace::replace_file;
use crate::trust::Trust;
use crate::{CommandError, Result};

/// A setting's name on the command line: `model`, or `agents.gendry.model` for a single agent.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) key: &'static Key,
    pub(crate) agent: Option<String>,
}

impl Name {
    pub(crate) fn parse_name(text: &str) -> Result<Name> {
        let (agent, name) =
            match text.strip_prefix("agents.").and_then(|rest| rest.rsplit_once('.')) {
                Some((agent, name)) if !agent.is_empty() => (Some(agent.to_owned()), name),
                _ => (None, text),
            };
        let key = Key::find_key(name).ok_or_else(|| {
            let error = CommandError::not_found(format!("there is no setting '{text}'"));
            match Key::similar_name(name) {
                Some(meant) => error.with_hint(format!("is '{meant}' meant?")),
                None => error.with_hint("el config show lists every setting"),
            }
        })?;
        if agent.is_some() && key.scope != Scope::Agent {
            return Err(CommandError::invalid_value(
                text,
                format!("{} is not a setting of one agent", key.name),
            )
            .with_hint(format!("use '{}' without the agent's name", key.name)));
        }
        Ok(Name { key, agent })
    }

    /// Refuses a user's own setting in a project's file.
    pub(crate) fn may_be_in_project(&self) -> Result<()> {
        if self.key.scope != Scope::User {
            return Ok(());
        }
        Err(CommandError::invalid_value(
            self.key.name,
            format!("{} counts only in the user's own file", self.key.name),
        )
        .with_hint("--user writes it there"))
    }
}

/// Sets a value in the file at `path`, and makes the file if missing. A trusted file stays trusted,
/// since a person made the change.
pub(crate) fn set_value(
    path: &Path,
    name: &Name,
    text: &str,
    trust: Option<&Trust>,
) -> Result<Value> {
    let value = Value::from_text(name.key, text).map_err(|message| {
        CommandError::invalid_value(name.key.name, format!("{}: {message}", name.key.name))
    })?;
    edit_file(path, trust, |document| {
        let item = toml_edit::value(value.to_toml());
        let table = table_mut(document, name.agent.as_deref(), path)?;
        match table.get_mut(name.key.name).and_then(Item::as_value_mut) {
            // The comment at the end of the line belongs to the place, not to the value.
            Some(old) => {
                let decor = old.decor().clone();
                *old = value.to_toml();
                *old.decor_mut() = decor;
            }
            None => drop(table.insert(name.key.name, item)),
        }
        Ok(())
    })?;
    Ok(value)
}

/// Removes a setting from the file. Returns `false` if the setting was not there. A trusted file
/// stays trusted.
pub(crate) fn unset_value(path: &Path, name: &Name, trust: Option<&Trust>) -> Result<bool> {
    if !path.exists() {
        return Ok(false);
    }
    edit_file(path, trust, |document| {
        let Some(agent) = name.agent.as_deref() else {
            return Ok(document.remove(name.key.name).is_some());
        };
        let agents = document.get("agents").and_then(Item::as_table_like);
        if agents.and_then(|agents| agents.get(agent)).is_none() {
            return Ok(false);
        }
        let table = table_mut(document, Some(agent), path)?;
        let is_removed = table.remove(name.key.name).is_some();
        // An empty table would still be an agent.
        if is_removed && table.is_empty() {
            document["agents"].as_table_mut().map(|agents| agents.remove(agent));
        }
        Ok(is_removed)
    })
}

/// The text of the file; `None` if there is no file.
pub(crate) fn read_if_present(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CommandError::file_error("read", path, source)),
    }
}

/// Puts a whole text in the place of `before`, once checked. Returns the remaining faults, which
/// stop nothing.
///
/// # Errors
/// If the text has a mistake, or another process has changed the file meanwhile.
pub(crate) fn replace(
    path: &Path,
    before: Option<&str>,
    after: &str,
    trust: Option<&Trust>,
) -> Result<Vec<String>> {
    let parsed = ConfigFile::parse(path, after);
    let parsed = if trust.is_some() { parsed.of_project() } else { parsed };
    let mut faults = super::faults::file_faults(&parsed).into_iter();
    if let Some(first) = faults.next() {
        return Err(first.with_listing(faults.map(|error| error.message().to_owned())));
    }
    locked(path, |target| {
        if read_if_present(target)?.as_deref() != before {
            return Err(CommandError::conflict(
                "changed",
                format!("{} was changed by somebody else meanwhile", target.display()),
            ));
        }
        write_and_trust(path, target, trust, before.unwrap_or_default(), after)
    })?;
    Ok(parsed.problems.iter().map(ToString::to_string).collect())
}

fn table_mut<'d>(
    document: &'d mut DocumentMut,
    agent: Option<&str>,
    path: &Path,
) -> Result<&'d mut Table> {
    let Some(agent) = agent else { return Ok(document.as_table_mut()) };
    let not_a_table = |what: &str| {
        CommandError::config_error(what, format!("{}: {what} is not a table", path.display()))
    };
    let agents = document.entry("agents").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let agents = agents.as_table_mut().ok_or_else(|| not_a_table("agents"))?;
    let table = agents.entry(agent).or_insert_with(|| Item::Table(Table::new()));
    table.as_table_mut().ok_or_else(|| not_a_table(&format!("agents.{agent}")))
}

fn edit_file<T>(
    path: &Path,
    trust: Option<&Trust>,
    change: impl FnOnce(&mut DocumentMut) -> Result<T>,
) -> Result<T> {
    locked(path, |target| {
        let before = read_if_present(target)?.unwrap_or_default();
        let mut document: DocumentMut = before.parse().map_err(|error: toml_edit::TomlError| {
            let line =
                error.span().map_or(1, |span| before[..span.start].matches('\n').count() + 1);
            CommandError::config_error(
                "config.toml",
                format!("{}:{line}: {}", target.display(), error.message()),
            )
            .with_hint("correct that line first; el does not change a file that it cannot read")
        })?;
        let done = change(&mut document)?;
        let after = document.to_string();
        write_and_trust(path, target, trust, &before, &after)?;
        Ok(done)
    })
}

/// Writes the file. The new text of a project's file is trusted if the old text was: the person who
/// makes the change also trusts.
fn write_and_trust(
    path: &Path,
    target: &Path,
    trust: Option<&Trust>,
    before: &str,
    after: &str,
) -> Result<()> {
    replace_file(target, after.as_bytes())
        .map_err(|source| CommandError::file_error("write", target, source))?;
    let Some(trust) = trust else { return Ok(()) };
    let asked = |text: &str| ConfigFile::parse(path, text).of_project().settings_to_trust();
    let (before, after) = (asked(before), asked(after));
    if before != after && trust.holds(&before) {
        trust.give_settings(after, Timestamp::from(SystemTime::now()))?;
    }
    Ok(())
}

/// Does the work on the file behind a path, and makes a missing folder. Two changes at the same
/// time must both survive.
fn locked<T>(path: &Path, work: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    // A configuration may be a link into a dotfiles folder; then the target is changed.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    fs::create_dir_all(&folder)
        .map_err(|source| CommandError::file_error("create the folder", &folder, source))?;
    // The lock ends with the handle.
    let lock = File::open(&folder).and_then(|handle| handle.lock().map(|()| handle));
    let _lock =
        lock.map_err(|source| CommandError::file_error("lock the folder", &folder, source))?;
    work(&target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse_name(text).unwrap()
    }

    #[test]
    fn a_change_keeps_comments_order_and_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let text = "# ours\nmodel = \"opus\" # the big one\nbanana = 1\n\n\
                    [agents.gendry]\nmax_turns = 3\n";
        fs::write(&path, text).unwrap();
        set_value(&path, &name("model"), "haiku", None).unwrap();
        set_value(&path, &name("lease"), "2m", None).unwrap();
        set_value(&path, &name("agents.gendry.model"), "sonnet", None).unwrap();
        set_value(&path, &name("agents.ada.allowed_tools"), "Bash(a,b),Edit", None).unwrap();
        insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
        # ours
        model = "haiku" # the big one
        banana = 1
        lease = "2m"

        [agents.gendry]
        max_turns = 3
        model = "sonnet"

        [agents.ada]
        allowed_tools = ["Bash(a,b)", "Edit"]
        "#);
        assert!(unset_value(&path, &name("lease"), None).unwrap());
        assert!(!unset_value(&path, &name("lease"), None).unwrap());
        // The last setting of an agent takes the agent along.
        assert!(unset_value(&path, &name("agents.ada.allowed_tools"), None).unwrap());
        assert!(!unset_value(&path, &name("agents.nobody.model"), None).unwrap());
        let left = fs::read_to_string(&path).unwrap();
        assert!(left.contains("agents.gendry") && !left.contains("ada"), "{left}");
        assert!(!left.contains("nobody"), "{left}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_bad_value_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/config.toml");
        assert_eq!(
            set_value(&path, &name("concurrency"), "0", None).unwrap_err().exit(),
            crate::exit::Exit::Usage
        );
        assert!(!path.exists());
        set_value(&path, &name("concurrency"), "4", None).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "concurrency = 4\n");
    }

    #[test]
    fn a_broken_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, "model = \"x\"\nlease = \n").unwrap();
        let error = set_value(&path, &name("model"), "y", None).unwrap_err();
        assert!(error.message().contains("config.toml:2:"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "model = \"x\"\nlease = \n");
    }

    #[test]
    fn names_are_checked() {
        assert_eq!(Name::parse_name("max_turn").unwrap_err().hints(), ["is 'max_turns' meant?"]);
        assert!(Name::parse_name("agents.x.lease").is_err());
        assert_eq!(name("agents.dotted.name.model").agent.as_deref(), Some("dotted.name"));
    }
}
