//! Runs commands in the agent's session for a test, as the client's Bash tool would.
//!
//! A test puts `N.call` into `$HOME/calls/$EL_ATOM`, with the words of the command, each ended by
//! NUL, and the pipes `N.in`, `N.out` and `N.err`. The exit code comes back in `N.code`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(10);

/// Runs such commands in the background for as long as the agent lives.
pub(crate) fn serve() {
    let (Some(home), Ok(atom)) = (std::env::var_os("HOME"), std::env::var("EL_ATOM")) else {
        return;
    };
    let folder = PathBuf::from(home).join("calls").join(atom);
    std::thread::spawn(move || {
        loop {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (call, taken) = (entry.path(), entry.path().with_extension("taken"));
                if call.extension().is_some_and(|e| e == "call")
                    && fs::rename(&call, &taken).is_ok()
                {
                    std::thread::spawn(move || run(&taken));
                }
            }
            std::thread::sleep(LOOK);
        }
    });
}

fn run(taken: &Path) -> Option<()> {
    let words: Vec<OsString> = fs::read(taken)
        .ok()?
        .split_inclusive(|byte| *byte == 0)
        .map(|word| OsString::from_vec(word[..word.len() - 1].to_vec()))
        .collect();
    // In the order in which the test's side opens them.
    let out = File::options().write(true).open(taken.with_extension("out")).ok()?;
    let err = File::options().write(true).open(taken.with_extension("err")).ok()?;
    let input = File::open(taken.with_extension("in")).ok()?;
    let mut command = Command::new(words.first()?);
    command.args(&words[1..]).stdin(input).stdout(out.try_clone().ok()?).stderr(err);
    let status = command.status().ok()?;
    // Written before the test's side sees the end of the output.
    fs::write(taken.with_extension("code"), status.code().unwrap_or(137).to_string()).ok()?;
    drop(out);
    Some(())
}
