//! The part of the caller's environment that the server may see. The server keeps the environment
//! for life and passes it to every session.

use std::ffi::{OsStr, OsString};

const KEPT: [&str; 7] =
    ["PATH", "HOME", "XDG_STATE_HOME", "SHELL", "TMUX_TMPDIR", "USER", "LOGNAME"];
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Returns the environment for the server and for every call: paths and user names, a UTF-8 locale,
/// and a terminal; no keys, and no variables of an outer agent or tmux session.
#[must_use]
pub fn server_environment(caller: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let get =
        |key: &str| caller.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_os_str());
    let mut kept: Vec<(OsString, OsString)> =
        KEPT.iter().filter_map(|key| Some((OsString::from(*key), get(key)?.to_owned()))).collect();
    if get("PATH").is_none_or(OsStr::is_empty) {
        kept.retain(|(key, _)| key != "PATH");
        kept.push(("PATH".into(), DEFAULT_PATH.into()));
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|key| get(key).filter(|value| !value.is_empty()));
    let locale = locale.filter(|value| is_utf8(value)).unwrap_or(OsStr::new("C.UTF-8"));
    kept.push(("LANG".into(), locale.to_owned()));
    let terminal = get("TERM").filter(|value| !value.is_empty()).unwrap_or(OsStr::new("xterm"));
    kept.push(("TERM".into(), terminal.to_owned()));
    kept
}

/// Returns true if a locale's name says UTF-8.
pub(crate) fn is_utf8(locale: &OsStr) -> bool {
    let name = locale.to_string_lossy().to_ascii_lowercase();
    name.contains("utf-8") || name.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    fn get(environment: &[(OsString, OsString)], name: &str) -> Option<String> {
        environment
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.to_string_lossy().into_owned())
    }

    #[test]
    fn keys_and_outer_sessions_never_reach_the_server() {
        let caller = environment(&[
            ("PATH", "/a:/b"),
            ("HOME", "/h"),
            ("ANTHROPIC_API_KEY", "secret"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_SESSION_ID", "x"),
            ("TMUX", "/tmp/tmux-0/default,1,0"),
            ("TMUX_PANE", "%1"),
            ("EL_SESSION", "secret"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("LD_PRELOAD", "/x.so"),
            ("TMUX_TMPDIR", "/t"),
        ]);
        let kept = server_environment(&caller);
        let mut names: Vec<String> =
            kept.iter().map(|(key, _)| key.to_string_lossy().into_owned()).collect();
        names.sort();
        assert_eq!(names, ["HOME", "LANG", "PATH", "TERM", "TMUX_TMPDIR"]);
        assert!(!format!("{kept:?}").contains("secret"));
    }

    #[test]
    fn the_locale_is_utf8_whatever_the_callers_is() {
        let lang =
            |pairs: &[(&str, &str)]| get(&server_environment(&environment(pairs)), "LANG").unwrap();
        assert_eq!(lang(&[]), "C.UTF-8");
        assert_eq!(lang(&[("LANG", "C")]), "C.UTF-8");
        assert_eq!(lang(&[("LANG", "de_DE.UTF-8")]), "de_DE.UTF-8");
        assert_eq!(lang(&[("LANG", "de_DE.utf8"), ("LC_ALL", "")]), "de_DE.utf8");
        assert_eq!(lang(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "POSIX")]), "C.UTF-8");
    }

    #[test]
    fn a_path_and_a_terminal_are_always_there() {
        let kept = server_environment(&environment(&[("PATH", ""), ("TERM", "")]));
        assert_eq!(get(&kept, "PATH").unwrap(), DEFAULT_PATH);
        assert_eq!(get(&kept, "TERM").unwrap(), "xterm");
        assert_eq!(kept.iter().filter(|(key, _)| key == "PATH").count(), 1);
    }
}
