//! The remote at which the machines of a team share branches: whether this clone has it.

use el_agents::git::Repository;

use crate::settings::Settings;

/// Returns the fault of the setting `remote` in the repository here, and what to do. `None`: no
/// fault, or there is no repository to look at.
pub(crate) fn find_fault(settings: &Settings) -> Option<(String, String)> {
    let name = settings.shared_remote().ok()??;
    let work = settings.work_settings().ok()?;
    let folder = settings.agent_settings(work.agents.first()?).ok()?.working_directory;
    let remotes = Repository::open_at(&folder).ok()?.remotes().ok()?;
    if remotes.iter().any(|remote| remote.name == name) {
        return None;
    }
    let known: Vec<&str> = remotes.iter().map(|remote| remote.name.as_str()).collect();
    let known = match known.as_slice() {
        [] => "it has none".to_owned(),
        known => format!("it has {}", known.join(", ")),
    };
    let message = format!(
        "remote is '{name}', and the repository in {} has no such remote ({known}); no run of an \
         agent in a worktree begins so",
        folder.display()
    );
    let hint =
        format!("git remote add {name} URL makes it; el config set remote NAME names another");
    Some((message, hint))
}
