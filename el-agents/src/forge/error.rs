/// Why the forge did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    #[error("{program} is not installed")]
    Missing { program: &'static str },
    #[error("this is {program} {version}, and pull requests need {needed} or later")]
    TooOld { program: &'static str, version: String, needed: &'static str },
    #[error("nobody is signed in to {host}")]
    NotSignedIn { host: String },
    #[error("{host} takes no more calls for now")]
    RateLimit { host: String },
    #[error("{host} cannot be reached: {said}")]
    Network { host: String, said: String },
    #[error("{repo} is not there, or is not shown to you")]
    NoRepository { repo: String },
    #[error("you may not do this in {repo}: {said}")]
    NoRights { repo: String, said: String },
    #[error("{repo} has no pull request {number}")]
    NoRequest { repo: String, number: u64 },
    #[error("{repo} refused it: {said}")]
    Refused { repo: String, said: String },
    #[error("the answer of {program} cannot be read: {said}")]
    Answer { program: &'static str, said: String },
}

impl ForgeError {
    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            ForgeError::Missing { .. } => {
                "install it (https://cli.github.com), then gh auth login".to_owned()
            }
            ForgeError::TooOld { .. } => "install a newer one (https://cli.github.com)".to_owned(),
            ForgeError::NotSignedIn { host } => format!("gh auth login --hostname {host}"),
            ForgeError::RateLimit { .. } => {
                "wait; gh api rate_limit says until when, and nothing was lost".to_owned()
            }
            ForgeError::Network { .. } => {
                "try again: el finds what was done already, and does the rest".to_owned()
            }
            ForgeError::NoRepository { .. } => {
                "git remote -v and el config get pr_repo say which one is meant; gh auth status \
                 says who asks"
                    .to_owned()
            }
            ForgeError::NoRights { .. } => {
                "push to a fork of yours: el config set pr_remote names its remote, and pr_repo \
                 the repository that receives the work"
                    .to_owned()
            }
            ForgeError::NoRequest { .. } => "el pr list shows what el knows".to_owned(),
            ForgeError::Refused { .. } => "the pull request's page says more".to_owned(),
            ForgeError::Answer { .. } => "install a newer one (https://cli.github.com)".to_owned(),
        }
    }

    /// The host that could not be asked.
    pub(crate) fn host(&self) -> Option<&str> {
        match self {
            ForgeError::RateLimit { host } | ForgeError::Network { host, .. } => Some(host),
            _ => None,
        }
    }

    /// The same question may be answered later.
    pub fn is_passing(&self) -> bool {
        matches!(self, ForgeError::RateLimit { .. } | ForgeError::Network { .. })
    }
}
