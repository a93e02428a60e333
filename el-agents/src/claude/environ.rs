//! Builds the environment of an agent from the caller's, without variables of other sessions.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::git::is_local_variable;
use crate::tmux::is_utf8;

/// Variables of a surrounding Claude Code session, tmux, or run of el.
const FOREIGN: [&str; 24] = [
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_PARENT_SESSION_ID",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_ENV_FILE",
    "CLAUDE_EFFORT",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
    "AI_AGENT",
    "TMUX",
    "TMUX_PANE",
    "EL_ATOM",
    "EL_SESSION",
    "EL_DB",
    "EL_DATABASE_URL",
    "EL_ACTOR",
    // Describe the caller's shell and terminal, not the agent's.
    "PWD",
    "OLDPWD",
    "COLUMNS",
    "LINES",
    "_",
];
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How an agent's environment is made of the caller's.
#[derive(Debug, Clone, Default)]
pub struct ChildEnvironment {
    /// Variables of the agent and its atom; the last of a name counts. Those of other sessions, and
    /// those that bind git, are left out.
    pub own: Vec<(String, String)>,
    /// Names that the configuration takes out; `NAME*` takes out all that begin so.
    pub strip: Vec<String>,
    /// Names that stay in spite of `strip` and of the built-in list.
    pub pass: Vec<String>,
    /// Variables that are set last: `EL_ATOM`, `EL_SESSION`, …
    pub set: Vec<(String, OsString)>,
    /// The folder of this `el`, put first on PATH, so that the bare word `el` names the same
    /// program.
    pub el_folder: PathBuf,
    /// `CLAUDE_CODE_MAX_RETRIES`: the client's retries of a failed request (10 by default).
    pub max_retries: Option<u32>,
    /// `API_TIMEOUT_MS`: the client's time limit for an answer (600,000 by default).
    pub api_timeout_ms: Option<u64>,
}

/// Returns the whole environment of an agent, sorted by name, for use after `env_clear`. Variables
/// that bind git to another repository are left out even if `pass` names them.
#[must_use]
pub fn child_environment(
    caller: impl IntoIterator<Item = (OsString, OsString)>,
    rules: &ChildEnvironment,
) -> Vec<(OsString, OsString)> {
    let passed = |name: &str| rules.pass.iter().any(|pattern| matches_pattern(pattern, name));
    let stripped = |name: &str| {
        FOREIGN.contains(&name) || rules.strip.iter().any(|pattern| matches_pattern(pattern, name))
    };
    let mut environment: std::collections::BTreeMap<OsString, OsString> = caller
        .into_iter()
        .filter(|(name, value)| is_settable(name, value) && !is_local_variable(name))
        // An empty value would make Claude Code keep its files in the working folder.
        .filter(|(name, value)| name != "CLAUDE_CONFIG_DIR" || !value.is_empty())
        .filter(|(name, _)| {
            let name = name.to_string_lossy();
            passed(&name) || !stripped(&name)
        })
        .collect();

    for (name, value) in &rules.own {
        let is_foreign = FOREIGN.contains(&name.as_str()) || is_local_variable(OsStr::new(name));
        if !is_foreign && is_settable(OsStr::new(name), OsStr::new(value)) {
            environment.insert(name.into(), value.into());
        }
    }

    let path = path_with(&rules.el_folder, environment.get(OsStr::new("PATH")));
    environment.insert("PATH".into(), path);
    set_utf8(&mut environment);
    if let Some(retries) = rules.max_retries {
        environment.insert("CLAUDE_CODE_MAX_RETRIES".into(), retries.to_string().into());
    }
    if let Some(timeout) = rules.api_timeout_ms {
        environment.insert("API_TIMEOUT_MS".into(), timeout.to_string().into());
    }
    for (name, value) in &rules.set {
        if is_settable(OsStr::new(name), value) {
            environment.insert(name.into(), value.clone());
        }
    }
    environment.into_iter().collect()
}

fn matches_pattern(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// Returns true if the system accepts the variable. An empty name, a name with `=`, or a NUL would
/// make the spawn fail.
fn is_settable(name: &OsStr, value: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    !name.is_empty()
        && !name.contains(&b'=')
        && !name.contains(&0)
        && !value.as_encoded_bytes().contains(&0)
}

/// Puts the folder first on the PATH. A folder with `:` in its name cannot be on a PATH; the PATH
/// then stays unchanged.
fn path_with(folder: &Path, path: Option<&OsString>) -> OsString {
    let path = path.filter(|path| !path.is_empty()).cloned().unwrap_or_else(|| DEFAULT_PATH.into());
    if folder.as_os_str().is_empty() {
        return path;
    }
    let rest = std::env::split_paths(&path).filter(|entry| entry != folder);
    std::env::join_paths(std::iter::once(folder.to_owned()).chain(rest)).unwrap_or(path)
}

/// Sets a UTF-8 locale, unless the caller has one. Without a locale (cron, a container), programs
/// of the agent would not write UTF-8.
fn set_utf8(environment: &mut std::collections::BTreeMap<OsString, OsString>) {
    let given = |name: &str| environment.get(OsStr::new(name)).filter(|value| !value.is_empty());
    let deciding = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(|name| given(name).is_some());
    match deciding {
        Some(name) if given(name).is_some_and(|value| is_utf8(value)) => {}
        Some(name) => drop(environment.insert(name.into(), "C.UTF-8".into())),
        None => drop(environment.insert("LANG".into(), "C.UTF-8".into())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn made(
        caller: &[(&str, &str)],
        rules: &ChildEnvironment,
    ) -> std::collections::BTreeMap<String, String> {
        let caller =
            caller.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        child_environment(caller, rules)
            .into_iter()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
            .collect()
    }

    #[test]
    fn what_belongs_to_other_sessions_is_gone_and_the_rest_stays() {
        let caller = [
            ("HOME", "/h"),
            ("ANTHROPIC_BASE_URL", "http://x"),
            ("CLAUDE_CODE_USE_BEDROCK", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_SESSION_ID", "s"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("TMUX", "/x,1,0"),
            ("TMUX_PANE", "%1"),
            ("EL_SESSION", "/outer"),
            ("EL_DB", "/outer"),
            ("EL_DATABASE_URL", "postgres://outer"),
            ("PWD", "/somewhere"),
            ("LANG", "de_DE.UTF-8"),
            ("GIT_DIR", "/other/.git"),
            ("GIT_INDEX_FILE", "/other/.git/index"),
            ("GIT_AUTHOR_DATE", "@1 +0000"),
            ("GIT_AUTHOR_NAME", "A"),
            ("GIT_SSH_COMMAND", "ssh -x"),
            ("GIT_LFS_SKIP_SMUDGE", "1"),
        ];
        let names: Vec<String> = made(&caller, &ChildEnvironment::default()).into_keys().collect();
        let expected = [
            "ANTHROPIC_BASE_URL",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CONFIG_DIR",
            "GIT_AUTHOR_NAME",
            "GIT_LFS_SKIP_SMUDGE",
            "GIT_SSH_COMMAND",
            "HOME",
            "LANG",
            "PATH",
        ];
        assert_eq!(names, expected);
        let pass = ChildEnvironment { pass: vec!["GIT_*".to_owned()], ..Default::default() };
        assert_eq!(made(&caller, &pass).get("GIT_DIR"), None);
    }

    #[test]
    fn an_empty_name_of_the_clients_folder_is_none() {
        let given = made(&[("CLAUDE_CONFIG_DIR", ""), ("HOME", "")], &ChildEnvironment::default());
        assert_eq!(
            (given.contains_key("CLAUDE_CONFIG_DIR"), given.contains_key("HOME")),
            (false, true)
        );
    }

    #[test]
    fn the_configuration_strips_passes_and_sets() {
        let rules = ChildEnvironment {
            strip: vec!["ANTHROPIC_API_KEY".to_owned(), "AWS_*".to_owned()],
            pass: vec!["AWS_REGION".to_owned(), "TMUX".to_owned()],
            set: vec![
                ("EL_SESSION".to_owned(), "/run-1".into()),
                ("HOME".to_owned(), "/other".into()),
            ],
            max_retries: Some(2),
            api_timeout_ms: Some(60_000),
            ..ChildEnvironment::default()
        };
        let caller = [
            ("ANTHROPIC_API_KEY", "k"),
            ("ANTHROPIC_API_KEY_2", "k"),
            ("AWS_SECRET", "k"),
            ("AWS_REGION", "eu"),
            ("TMUX", "t"),
            ("HOME", "/h"),
            ("EL_SESSION", "outer"),
            ("CLAUDE_CODE_MAX_RETRIES", "9"),
        ];
        let made = made(&caller, &rules);
        assert_eq!(made.get("ANTHROPIC_API_KEY"), None);
        assert_eq!(made.get("AWS_SECRET"), None);
        for (name, value) in [
            ("ANTHROPIC_API_KEY_2", "k"),
            ("AWS_REGION", "eu"),
            ("TMUX", "t"),
            ("EL_SESSION", "/run-1"),
            ("HOME", "/other"),
            ("CLAUDE_CODE_MAX_RETRIES", "2"),
            ("API_TIMEOUT_MS", "60000"),
        ] {
            assert_eq!(made.get(name).map(String::as_str), Some(value), "{name}");
        }
    }

    #[test]
    fn nothing_is_bounded_or_disabled_that_was_not_asked_for() {
        let made = made(&[], &ChildEnvironment::default());
        let names: Vec<&str> = made.keys().map(String::as_str).collect();
        assert_eq!(names, ["LANG", "PATH"]);
    }

    #[test]
    fn this_very_el_comes_first_on_the_path() {
        let path = |folder: &str, path: &str| {
            let rules =
                ChildEnvironment { el_folder: folder.into(), ..ChildEnvironment::default() };
            made(&[("PATH", path)], &rules).remove("PATH").unwrap()
        };
        assert_eq!(path("/opt/el", "/a:/b"), "/opt/el:/a:/b");
        assert_eq!(path("/b", "/a:/b:/c:/b"), "/b:/a:/c");
        assert_eq!(path("/opt/el", ""), format!("/opt/el:{DEFAULT_PATH}"));
        assert_eq!(path("/opt/a:b", "/a"), "/a");
        assert_eq!(path("", "/a:/b"), "/a:/b");
    }

    #[test]
    fn the_locale_is_utf8() {
        let locale = |caller: &[(&str, &str)]| {
            let made = made(caller, &ChildEnvironment::default());
            ["LC_ALL", "LC_CTYPE", "LANG"].map(|name| made.get(name).cloned().unwrap_or_default())
        };
        assert_eq!(locale(&[]), ["", "", "C.UTF-8"]);
        assert_eq!(locale(&[("LANG", "de_DE.UTF-8")]), ["", "", "de_DE.UTF-8"]);
        assert_eq!(
            locale(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")]),
            ["C.UTF-8", "", "de_DE.UTF-8"]
        );
        assert_eq!(locale(&[("LANG", "C"), ("LC_CTYPE", "en_US.utf8")]), ["", "en_US.utf8", "C"]);
        assert_eq!(locale(&[("LANG", "")]), ["", "", "C.UTF-8"]);
    }

    #[test]
    fn what_no_system_takes_is_left_out_and_other_bytes_are_kept() {
        let odd = OsString::from_vec(vec![0xff, b'x']);
        let caller = vec![
            (odd.clone(), odd.clone()),
            (OsString::from(""), OsString::from("x")),
            (OsString::from("A=B"), OsString::from("x")),
            (OsString::from("NUL"), OsString::from("a\0b")),
        ];
        let rules = ChildEnvironment {
            set: vec![("B\0".to_owned(), "x".into())],
            ..ChildEnvironment::default()
        };
        let made = child_environment(caller, &rules);
        assert_eq!(made.len(), 3, "{made:?}");
        assert!(made.contains(&(odd.clone(), odd)));
    }
}
