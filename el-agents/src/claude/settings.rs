//! The settings file of a run. The Stop hook sends back an agent that has not ended its atom; in a
//! sandbox, another hook tells the agent why a command failed.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::requirements::ConfigurationError;

/// Seconds that the hook may take; a hook that takes longer lets the agent stop.
const HOOK_TIMEOUT: u32 = 10;

/// Returns the content of a `--settings` file for this `el` (an absolute path). The hook command
/// prints its answer as JSON and always exits 0: an exit code of 2, which a shell also uses for its
/// own errors, would hold the agent back. el's own variables of the agent's environment outrank the
/// `env` of all other settings; the token, which opens nothing without them, is in no file.
///
/// # Errors
/// If the path cannot be written in JSON (not UTF-8), or is not absolute.
pub fn settings_json(
    el: &Path,
    environment: &[(OsString, OsString)],
    in_sandbox: bool,
) -> Result<String, ConfigurationError> {
    let error = |what: &str| {
        let message = format!("the path of el, {}, {what}", el.display());
        ConfigurationError::new("el", message, "install el in a folder with a plain name")
    };
    if !el.is_absolute() {
        return Err(error("is not absolute"));
    }
    let path = el.to_str().ok_or_else(|| error("is not UTF-8"))?;
    let hook = |name: &str| {
        let command = format!("{} hook {name}", shell_escape::unix::escape(Cow::Borrowed(path)));
        json!({ "type": "command", "command": command, "timeout": HOOK_TIMEOUT })
    };
    let mut hooks = json!({ "Stop": [{ "hooks": [hook("stop")] }] });
    if in_sandbox {
        hooks["PostToolUseFailure"] = json!([{ "hooks": [hook("tool-failed")] }]);
    }
    let own = environment.iter().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| name.starts_with("EL_") && *name != "EL_TOKEN")?;
        Some((name.to_owned(), Value::from(value.to_str()?)))
    });
    let own: Map<String, Value> = own.collect();
    Ok(format!("{:#}\n", json!({ "hooks": hooks, "env": own })))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    use super::*;

    fn command(el: &str) -> String {
        let text = settings_json(Path::new(el), &[], false).unwrap();
        assert!(!text.contains("PostToolUseFailure"));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let hook = &value["hooks"]["Stop"][0]["hooks"][0];
        assert_eq!((hook["type"].as_str(), hook["timeout"].as_u64()), (Some("command"), Some(10)));
        hook["command"].as_str().unwrap().to_owned()
    }

    #[test]
    fn the_hook_calls_this_very_el() {
        assert_eq!(command("/usr/local/bin/el"), "/usr/local/bin/el hook stop");
    }

    #[test]
    fn any_path_reaches_the_shell_whole() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "with space",
            "it's",
            "$(touch x)",
            "a;b",
            "ü",
            "{a,b}",
            "new\nline",
            "*",
            "~",
            "\"",
            "\\",
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, "#!/bin/sh\necho \"$0|$1|$2\"\n").unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
                .unwrap();
            for shell in ["sh", "bash"] {
                let output = Command::new(shell)
                    .args(["-c", &command(path.to_str().unwrap())])
                    .output()
                    .unwrap();
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                assert_eq!(
                    said.trim_end_matches('\n'),
                    format!("{}|hook|stop", path.display()),
                    "{shell}"
                );
            }
        }
    }

    #[test]
    fn a_path_that_cannot_be_told_is_refused() {
        assert_eq!(settings_json(Path::new("el"), &[], false).unwrap_err().field, "el");
        assert!(
            settings_json(Path::new(std::ffi::OsStr::from_bytes(b"/x\xff/el")), &[], false)
                .unwrap_err()
                .message
                .contains("UTF-8")
        );
    }
}
