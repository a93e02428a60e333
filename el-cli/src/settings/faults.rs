//! Faults of the configuration, as errors.

use super::file::{ConfigFile, Entry};
use super::{Given, Settings};
use crate::{CommandError, Result};

impl Settings {
    /// Refuses settings that must not start agents: an unreadable file or line may hold the agents'
    /// limits.
    ///
    /// # Errors
    ///
    /// The first fault, with its file and line; the others are listed.
    pub(crate) fn reliable(self) -> Result<Settings> {
        let wrong: Vec<CommandError> =
            [&self.project, &self.user].into_iter().flat_map(file_faults).collect();
        let listed: Vec<String> =
            wrong.iter().skip(1).map(|error| error.message().to_owned()).collect();
        match wrong.into_iter().next() {
            None => Ok(self),
            Some(first) => Err(first.with_listing(listed).with_hint(
                "put that right first: no agent is started while a setting that was made \
                     does not hold",
            )),
        }
    }

    /// Every unusable value, also values that another layer overrides.
    pub(crate) fn bad_values(&self) -> Vec<CommandError> {
        let files = [&self.project, &self.user].into_iter().flat_map(|file| {
            file.entries
                .iter()
                .filter_map(|entry| Some(bad_entry(file, entry, entry.value.as_ref().err()?)))
        });
        let given = self
            .given
            .iter()
            .filter_map(|given| Some(bad_given(given, given.value.as_ref().err()?)));
        given.chain(files).collect()
    }
}

/// The faults that make this file unreliable, by line.
pub(super) fn file_faults(file: &ConfigFile) -> Vec<CommandError> {
    let of_lines = file.problems.iter().filter(|problem| problem.is_serious).map(|problem| {
        let error = CommandError::config_error("config.toml", problem.to_string());
        (problem.line, error.with_path(&problem.path).with_detail("line", problem.line))
    });
    let of_values = file.entries.iter().filter_map(|entry| {
        Some((entry.line, bad_entry(file, entry, entry.value.as_ref().err()?)))
    });
    let mut found: Vec<_> = of_lines.chain(of_values).collect();
    found.sort_by_key(|(line, _)| *line);
    found.into_iter().map(|(_, error)| error).collect()
}

pub(super) fn bad_entry(file: &ConfigFile, entry: &Entry, message: &str) -> CommandError {
    let name = entry.name();
    CommandError::config_error(
        &name,
        format!("{}:{}: {name}: {message}", file.path.display(), entry.line),
    )
    .with_path(&file.path)
    .with_detail("line", entry.line)
}

pub(super) fn bad_given(given: &Given, message: &str) -> CommandError {
    given.origin.refusal_error(given.key.name, &format!("{}: {message}", given.origin))
}
