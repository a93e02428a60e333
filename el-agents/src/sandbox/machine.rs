//! Finds out if this machine can make a sandbox, by making one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::mounts::{Access, Mounts};
use super::{flags, macos};
use crate::settings::Network;

const HINT: &str = "install bubblewrap 0.8 or later, and allow user namespaces";

static FOUND: [OnceLock<Result<PathBuf, String>>; 2] = [const { OnceLock::new() }; 2];

/// The program that makes sandboxes, if it can make one: bubblewrap on this PATH, or on macOS
/// `sandbox-exec`. Tried once in a process.
///
/// # Errors
/// Why there is none, with the remedy.
pub(super) fn find_program(
    environment: &[(OsString, OsString)],
    network: Network,
) -> Result<PathBuf, String> {
    if !cfg!(any(target_os = "linux", target_os = "macos")) {
        return Err("el has a sandbox on Linux and macOS only".to_owned());
    }
    FOUND[usize::from(network == Network::Off)]
        .get_or_init(|| match cfg!(target_os = "macos") {
            true => try_sandbox_exec(),
            false => try_bubblewrap(environment, network),
        })
        .clone()
}

fn try_sandbox_exec() -> Result<PathBuf, String> {
    let words = ["-p", "(version 1)(allow default)", "/usr/bin/true"];
    match Command::new(macos::PROGRAM).args(words).stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(macos::PROGRAM.into()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("{} cannot make a sandbox here ({})", macos::PROGRAM, said.trim()))
        }
        Err(error) => Err(format!("{} cannot be run ({error})", macos::PROGRAM)),
    }
}

fn try_bubblewrap(
    environment: &[(OsString, OsString)],
    network: Network,
) -> Result<PathBuf, String> {
    let path = environment.iter().find(|(name, _)| name == OsStr::new("PATH"));
    let path = path.map(|(_, path)| path.clone());
    let bwrap = which::which_in("bwrap", path, Path::new("/"))
        .map_err(|_| format!("bubblewrap (bwrap) is not installed; {HINT}"))?;
    let mut mounts = Mounts::default();
    mounts.set("/tmp", Access::Scratch);
    mounts.set("/run", Access::Hidden);
    let tried = Command::new(&bwrap)
        .args(flags(network))
        .args(mounts.arguments())
        .args(["--", "true"])
        .stdin(Stdio::null())
        .output();
    match tried {
        Ok(output) if output.status.success() => Ok(bwrap),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().last().unwrap_or("it said nothing").trim();
            let said = said.strip_prefix("bwrap: ").unwrap_or(said);
            Err(format!("bubblewrap cannot make one here ({said}); {HINT}"))
        }
        Err(error) => Err(format!("bubblewrap cannot be run ({error}); {HINT}")),
    }
}
