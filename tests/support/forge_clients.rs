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

/// All clients: [`github_client`], and `glab`.
///
/// Without one of them, a line says so; with `EL_REQUIRE_GLAB=1` the lack of `glab` is a failure.
#[track_caller]
pub(crate) fn forge_clients() -> Vec<ForgeClient> {
    let glab = find_program("glab", "EL_TEST_GLAB", "EL_REQUIRE_GLAB")
        .map(|program| ForgeClient { is_gitlab: true, program });
    github_client().into_iter().chain(glab).collect()
}

/// The `gh` of `EL_TEST_GH`, else the pinned one of `scripts/get-gh`, else the machine's own.
///
/// Without any, a line says so; with `EL_REQUIRE_GH=1` that is a failure.
#[track_caller]
pub(crate) fn github_client() -> Option<ForgeClient> {
    let program = find_program("gh", "EL_TEST_GH", "EL_REQUIRE_GH")?;
    Some(ForgeClient { is_gitlab: false, program })
}

#[track_caller]
fn find_program(name: &str, variable: &str, requirement: &str) -> Option<PathBuf> {
    let found = pinned_program(name, variable).or_else(|| program_on_path(name));
    if found.is_none() {
        let is_required = std::env::var_os(requirement).is_some_and(|value| value == "1");
        assert!(!is_required, "there is no {name}; run scripts/get-{name}");
        // Written past the capture of the test runner: a test that did not run must be seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED, there is no {name}: run scripts/get-{name}");
    }
    found
}

fn pinned_program(name: &str, variable: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).filter(|named| !named.is_empty());
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    let place = || target.join(format!("{name}-client/{name}"));
    named.map_or_else(place, PathBuf::from).canonicalize().ok()
}

fn program_on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name));
    found.into_iter().find(|it| it.is_file())?.canonicalize().ok()
}
