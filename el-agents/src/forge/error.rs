use std::time::Duration;

use el_core::count_noun;

use super::RepoName;

/// The user's own program that asks a forge.
#[derive(Debug, PartialEq, Eq)]
pub struct ForgeProgram {
    pub name: &'static str,
    /// Where it can be had.
    pub page: &'static str,
    /// The first version that is new enough.
    pub(super) needed: &'static str,
    /// The variables that keep the program from asking and from saying more.
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// The variables that it is not to see.
    pub(super) unset: &'static [&'static str],
    /// The variables that sign it in to any host.
    pub(super) tokens: &'static [&'static str],
    /// The words of `auth status` about a host without a sign-in.
    pub(super) signed_out: &'static [&'static str],
}

pub type Result<T, E = ForgeError> = std::result::Result<T, E>;

/// Why the forge did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    #[error("{} is not installed", program.name)]
    Missing { program: &'static ForgeProgram },
    #[error("this is {} {version}, and pull requests need {needed} or later", program.name)]
    TooOld { program: &'static ForgeProgram, version: String, needed: &'static str },
    #[error("{} cannot read its configuration: {said}", program.name)]
    Configuration { program: &'static ForgeProgram, said: String },
    #[error("nobody is signed in to {host}")]
    NotSignedIn { program: &'static ForgeProgram, host: String },
    /// Neither program is signed in to a host whose name tells nothing.
    #[error("it is not clear which forge {host} is, and nobody is signed in to it")]
    Unclear { host: String },
    #[error("{host} takes no more calls for now")]
    RateLimit {
        host: String,
        /// How long it wants to be left alone, if it said so.
        wait: Option<Duration>,
    },
    #[error("{host} cannot be reached: {said}")]
    Network { host: String, said: String },
    /// Such as the page of a proxy, or an answer that was cut off.
    #[error("{host} answered with something that is not JSON: {said}")]
    NotJson { host: String, said: String },
    #[error("{repo} is not there, or is not shown to you")]
    NoRepository { program: &'static ForgeProgram, repo: String },
    #[error("you may not do this in {repo}: {said}")]
    NoRights { repo: String, said: String },
    #[error("{repo} takes no drafts")]
    NoDrafts { repo: String },
    #[error("{repo} has no pull request {number}")]
    NoRequest { repo: String, number: u64 },
    #[error("{repo} refused it: {said}")]
    Refused { repo: String, said: String },
    #[error("the answer of {} cannot be read: {said}", program.name)]
    Answer { program: &'static ForgeProgram, said: String },
    #[error("{} failed without a word why", program.name)]
    Silent { program: &'static ForgeProgram },
    /// It asked nobody yet.
    #[error("{} does not answer: {said}", program.name)]
    Hangs { program: &'static ForgeProgram, said: String },
}

/// The shortest time in words after which a wait is over.
fn wait_in_words(wait: Duration) -> String {
    match usize::try_from(wait.as_secs()).unwrap_or(usize::MAX) {
        seconds @ ..=90 => count_noun(seconds, "second"),
        seconds => count_noun(seconds.div_ceil(60), "minute"),
    }
}

/// The words of a forge about a token that may too little.
const TOKEN: [&str; 2] = ["scope", "access token"];

impl ForgeError {
    /// Tells the user what to do next.
    pub fn hint(&self) -> String {
        match self {
            ForgeError::Missing { program: ForgeProgram { name, page, .. } } => {
                format!("install it ({page}), then {name} auth login")
            }
            ForgeError::TooOld { program, .. } | ForgeError::Answer { program, .. } => {
                format!("install a newer one ({})", program.page)
            }
            ForgeError::Configuration { program, .. } => {
                format!("mend that file, or move it away, then {} auth login", program.name)
            }
            ForgeError::NotSignedIn { program, host } => {
                format!("{} auth login --hostname {host}", program.name)
            }
            ForgeError::Unclear { host } => format!(
                "el config set pr_forge gitlab, or github, says which; then glab, or gh, auth \
                 login --hostname {host}"
            ),
            ForgeError::RateLimit { wait: Some(wait), .. } => {
                format!("do it again in {}; nothing was lost", wait_in_words(*wait))
            }
            ForgeError::RateLimit { .. } => "wait, and do it again; nothing was lost".to_owned(),
            ForgeError::Network { .. } | ForgeError::NotJson { .. } => {
                "try again: el finds what was done already, and does the rest".to_owned()
            }
            ForgeError::NoRepository { program, .. } => format!(
                "git remote -v and el config get pr_repo say which one is meant; {} auth status \
                 says who asks",
                program.name
            ),
            ForgeError::NoRights { said, .. } if TOKEN.iter().any(|words| said.contains(words)) => {
                "sign in with a token of a wider scope: glab auth login, with the scope api, or gh \
                 auth refresh"
                    .to_owned()
            }
            ForgeError::NoRights { .. } => {
                "push to a fork of yours: el config set pr_remote names its remote, and pr_repo \
                 the repository that receives the work"
                    .to_owned()
            }
            ForgeError::NoDrafts { .. } => {
                "el pr --ready opens it ready for review; el config set pr_draft false, always"
                    .to_owned()
            }
            ForgeError::NoRequest { .. } => "el pr list shows what el knows".to_owned(),
            ForgeError::Silent { program } | ForgeError::Hangs { program, .. } => format!(
                "{0} auth status by hand shows whether {0} works; a newer one is at {1}",
                program.name, program.page
            ),
            ForgeError::Refused { .. } => "the pull request's page says more".to_owned(),
        }
    }

    /// The call itself knows no repository.
    pub(super) fn in_repository(self, to: &RepoName) -> ForgeError {
        let repo = to.to_string();
        match self {
            ForgeError::NoRepository { program, .. } => ForgeError::NoRepository { program, repo },
            ForgeError::NoDrafts { .. } => ForgeError::NoDrafts { repo },
            ForgeError::NoRights { said, .. } => ForgeError::NoRights { repo, said },
            ForgeError::Refused { said, .. } => ForgeError::Refused { repo, said },
            error => error,
        }
    }

    /// The host that could not be asked.
    pub(crate) fn host(&self) -> Option<&str> {
        match self {
            ForgeError::RateLimit { host, .. }
            | ForgeError::Network { host, .. }
            | ForgeError::NotJson { host, .. } => Some(host),
            _ => None,
        }
    }

    /// The same question may be answered later.
    pub fn is_passing(&self) -> bool {
        self.host().is_some()
    }
}
