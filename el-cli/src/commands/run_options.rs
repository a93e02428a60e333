//! `--model`, `--effort`, `--base` and `--env` of an atom: how the atom's runs differ from the
//! agent's settings.

use std::collections::BTreeMap;

use el_core::model::{EFFORTS, RunOptions, RunOptionsPatch};

use crate::{CommandError, Result};

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct RunOptionArgs {
    /// The model of its runs; empty leaves it to the agent's settings
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// How much the model is to think: low, medium, high, xhigh or max
    #[arg(long, value_name = "EFFORT", add = clap_complete::ArgValueCandidates::new(efforts))]
    effort: Option<String>,
    /// The branch or commit at which its branch begins
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// A variable of its agent's environment; NAME alone takes it away, and it is no place for
    /// secrets
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
}

fn efforts() -> Vec<clap_complete::CompletionCandidate> {
    EFFORTS.iter().map(clap_complete::CompletionCandidate::new).collect()
}

impl RunOptionArgs {
    /// Returns the change; an empty text empties a field.
    pub(super) fn patch(&self) -> Result<RunOptionsPatch> {
        let text = |text: &Option<String>| {
            text.as_deref().map(|text| Some(text.to_owned()).filter(|text| !text.is_empty()))
        };
        let mut env = BTreeMap::new();
        for given in &self.env {
            let (name, value) = match given.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (given.as_str(), None),
            };
            if env.insert(name.to_owned(), value).is_some() {
                return Err(CommandError::invalid_value(
                    "env",
                    format!("env: {name} is given twice"),
                ));
            }
        }
        Ok(RunOptionsPatch {
            model: text(&self.model),
            effort: text(&self.effort),
            base: text(&self.base),
            env,
        })
    }
}

/// The options in words, by name.
pub(super) fn told(options: Option<&RunOptions>) -> [(&'static str, Option<String>); 4] {
    let options = options.cloned().unwrap_or_default();
    let env = options.env.iter().map(|(name, value)| format!("{name}={value}"));
    let env: Vec<String> = env.collect();
    [
        ("Model", options.model),
        ("Effort", options.effort),
        ("Base", options.base),
        ("Environment", (!env.is_empty()).then(|| env.join(" "))),
    ]
}
