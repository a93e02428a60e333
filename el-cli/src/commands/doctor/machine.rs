//! What `el doctor` looks at beyond the database: the configuration, and the programs and folders that `el work` needs.

use std::ffi::OsString;

use el_agents::check::{self, ConfigurationError};
use el_agents::settings::Executor;
use el_core::ops::Finding;

use crate::app::App;
use crate::error::Result;
use crate::settings::Settings;

pub(super) fn look(app: &App) -> Result<Vec<Finding>> {
    let settings = app.settings()?;
    let untidy = settings.problems().map(|problem| Finding {
        code: "config",
        serious: problem.is_serious,
        message: problem.to_string(),
        hint: match problem.is_serious {
            true => "put that line right; until then el work and el run start no agent".to_owned(),
            false => "el config show lists every setting".to_owned(),
        },
    });
    let bad = settings.bad_values().into_iter().map(|error| Finding {
        code: "config",
        serious: true,
        message: error.message().to_owned(),
        hint: "el config set KEY VALUE checks a value before it writes it".to_owned(),
    });
    let mut findings: Vec<Finding> = untidy.chain(bad).collect();
    findings.extend(needs(&settings).into_iter().map(|error| Finding {
        code: "machine",
        // The tracker works without; `el work` says so itself before it claims anything.
        serious: false,
        message: format!("el work cannot run here: {}", error.message),
        hint: error.hint,
    }));
    Ok(findings)
}

/// What the agent of this configuration needs and does not find.
fn needs(settings: &Settings) -> Vec<ConfigurationError> {
    // What cannot be used at all is told above.
    let Ok(agent) = settings.work().and_then(|work| settings.agent(&work.agents[0])) else { return Vec::new() };
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let tmux = check::find_tmux(&environment).and_then(|bin| check::tmux_version(&bin)).err();
    let program = match &agent.executor {
        Executor::Claude | Executor::Interactive => {
            check::find_program(&agent.claude_code_path, &environment, &agent.working_directory).err()
        }
        Executor::Command(_) => None,
    };
    let folder = check::working_directory(&agent.working_directory).err();
    [tmux, program, folder].into_iter().flatten().collect()
}
