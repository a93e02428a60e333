//! The folders in which `el` finds programs.

use std::env;
use std::ffi::{OsStr, OsString};

/// Takes all folders from PATH that are relative to the present one. `el` calls git where agents
/// have written, and a program there is none that a person chose.
pub(crate) fn keep_absolute_folders() {
    let Some(path) = env::var_os("PATH") else { return };
    let Some(kept) = absolute_folders(&path) else { return };
    #[expect(unsafe_code, reason = "the system looks for programs by this variable alone")]
    match kept.is_empty() {
        // SAFETY: this process has one thread yet.
        false => unsafe { env::set_var("PATH", kept) },
        // An empty PATH means the present folder.
        // SAFETY: the same.
        true => unsafe { env::remove_var("PATH") },
    }
}

/// `None`: all folders are absolute.
fn absolute_folders(path: &OsStr) -> Option<OsString> {
    let is_relative = |folder: &std::path::PathBuf| !folder.is_absolute();
    if !env::split_paths(path).any(|folder| is_relative(&folder)) {
        return None;
    }
    let kept = env::split_paths(path).filter(|folder| !is_relative(folder));
    Some(env::join_paths(kept).expect("each came out of such a list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_and_empty_folders_go() {
        let kept = |path: &str| absolute_folders(path.as_ref()).map(|p| p.into_string().unwrap());
        assert_eq!(kept("/usr/bin:/bin"), None);
        for path in [".:/usr/bin:/bin", "/usr/bin::/bin:", "bin:/usr/bin:../x:/bin"] {
            assert_eq!(kept(path).as_deref(), Some("/usr/bin:/bin"), "{path}");
        }
        assert_eq!(kept(".").as_deref(), Some(""));
    }
}
