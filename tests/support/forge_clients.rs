//! The real clients of forges with which tests are run.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A client of a forge.
#[derive(Debug, Clone)]
pub(crate) struct ForgeClient {
    pub(crate) is_gitlab: bool,
    pub(crate) program: PathBuf,
}

impl ForgeClient {
    pub(crate) fn name(&self) -> &'static str {
        if self.is_gitlab { "glab" } else { "gh" }
    }

    pub(crate) fn host(&self) -> &'static str {
        if self.is_gitlab { "gitlab.localhost" } else { "github.localhost" }
    }

    /// The word for the one or the other.
    pub(crate) fn pick<'a>(&self, github: &'a str, gitlab: &'a str) -> &'a str {
        if self.is_gitlab { gitlab } else { github }
    }
}

/// All clients: [`gh_versions`], and `glab`.
///
/// Without one of them, a line says so; with `EL_REQUIRE_GLAB=1` the lack of `glab` is a failure.
#[track_caller]
pub(crate) fn forge_clients() -> Vec<ForgeClient> {
    let mut found = gh_versions();
    let glab = pinned("EL_TEST_GLAB", "glab-client/glab").or_else(|| on_path("glab"));
    let is_required = std::env::var_os("EL_REQUIRE_GLAB").is_some_and(|value| value == "1");
    assert!(!is_required || glab.is_some(), "there is no GitLab client; run scripts/get-glab");
    match glab {
        Some(program) => found.push(ForgeClient { is_gitlab: true, program }),
        None => say_skipped("GitLab", "glab"),
    }
    found
}

/// The versions of `gh`: the pinned one of `scripts/get-gh` (or `EL_TEST_GH`), and the machine's
/// own.
///
/// Without any: none, and a line that says so; with `EL_REQUIRE_GH=1` a failure, as it is then if
/// one of the two is missing.
#[track_caller]
pub(crate) fn gh_versions() -> Vec<ForgeClient> {
    let all = [pinned("EL_TEST_GH", "gh-client/gh"), on_path("gh")];
    let mut found: Vec<PathBuf> = all.into_iter().flatten().collect();
    found.dedup();
    let is_required = std::env::var_os("EL_REQUIRE_GH").is_some_and(|value| value == "1");
    assert!(
        !is_required || found.len() == 2,
        "of the two GitHub clients there is {found:?}; run scripts/get-gh, and install the system's"
    );
    if found.is_empty() {
        say_skipped("GitHub", "gh");
    }
    found.into_iter().map(|program| ForgeClient { is_gitlab: false, program }).collect()
}

fn pinned(variable: &str, place: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).filter(|named| !named.is_empty());
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    named.map_or_else(|| target.join(place), PathBuf::from).canonicalize().ok()
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name));
    found.into_iter().find(|it| it.is_file())?.canonicalize().ok()
}

/// Written past the capture of the test runner: a test that did not run must be seen.
fn say_skipped(forge: &str, name: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED, no {forge} client: run scripts/get-{name}");
}
