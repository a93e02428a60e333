//! The repository of a sync, said once, and never guessed from several.

use el_agents::forge::RepoName;

use crate::commands::worktrees::find_repository;
use crate::{App, CommandError, Result};

/// How the ids of a repository's issues begin: `owner/name#`.
pub(super) fn scope_of(repo: &RepoName) -> String {
    format!("{}#", repo.short())
}

/// The named repository, or that of the setting, or that of the only remote.
pub(super) fn choose_repository(app: &App, named: Option<&str>) -> Result<RepoName> {
    let host = std::env::var("GH_HOST").unwrap_or_else(|_| "github.com".to_owned());
    let settings = app.settings()?;
    app.warn_of_inert(&settings);
    let setting = settings.sync_settings()?.repository;
    if let Some(text) = named.map(str::to_owned).or(setting) {
        return RepoName::parse(&text, &host).ok_or_else(|| {
            CommandError::invalid_value("repo", format!("'{text}' is no [HOST/]OWNER/NAME"))
        });
    }
    let help = "name it: el sync github -R OWNER/NAME, or el config set pr_repo OWNER/NAME";
    let remotes = match find_repository(app) {
        Ok(repository) => repository.remotes()?,
        Err(_) => Vec::new(),
    };
    let mut repos: Vec<RepoName> =
        remotes.iter().filter_map(|remote| RepoName::of_remote(&remote.url)).collect();
    repos.sort_by_key(|repo| repo.to_string().to_ascii_lowercase());
    repos.dedup_by(|a, b| a.is_same(b));
    match repos.len() {
        1 => Ok(repos.remove(0)),
        0 => Err(CommandError::config_error("pr_repo", "no repository at GitHub is known here")
            .with_hint(help)),
        _ => Err(CommandError::config_error("pr_repo", "the remotes name several repositories")
            .with_listing(repos.iter().map(RepoName::to_string))
            .with_hint(help)),
    }
}
