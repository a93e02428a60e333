//! Caches that tools make at their first use.

use std::fs;
use std::path::{Path, PathBuf};

/// The caches below the home, each in a folder of its tool.
const CACHES: [&str; 8] = [
    ".cargo/registry",
    ".cargo/git",
    ".bun/install/cache",
    ".local/share/pnpm/store",
    ".gradle/caches",
    ".m2/repository",
    ".nuget/packages",
    "go/pkg",
];

/// Makes the caches that may be written and are missing although the tool is there: in the sandbox,
/// the tool's own folder is read-only, and a first build would fail.
pub(super) fn make_missing(home: &Path, writable: &[PathBuf]) {
    for cache in CACHES.map(|name| home.join(name)) {
        let is_wanted = writable.contains(&cache) && cache.parent().is_some_and(Path::is_dir);
        if is_wanted && !cache.exists() {
            // A tool reports a missing cache itself.
            let _ = fs::create_dir(cache);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_present_tool_may_write_is_made() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir(at(".cargo")).unwrap();
        fs::create_dir(at("go")).unwrap();
        make_missing(home.path(), &[at(".cargo/registry"), at(".m2/repository"), at(".tool/x")]);
        assert!(at(".cargo/registry").is_dir() && !at(".cargo/git").exists());
        assert!(!at("go/pkg").exists() && !at(".m2").exists() && !at(".tool").exists());
    }
}
