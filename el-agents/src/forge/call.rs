//! A call of the user's own program: without a terminal, in bounded time.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::{ForgeError, ForgeProgram, RepoName, Result};
use crate::git::run_bounded;

/// Creating and merging may wait for the forge's own work.
const LIMIT: Duration = Duration::from_secs(120);
/// The words of a program that reached nobody.
const UNREACHED: [&str; 13] = [
    "error connecting to",
    "dial tcp",
    "no such host",
    "connection refused",
    "connection reset",
    "deadline exceeded",
    "handshake timeout",
    "i/o timeout",
    "timeout awaiting",
    ": eof",
    "unexpected eof",
    "http 5",
    "tls: ",
];
/// Messages of a program that could not parse the answer: the page of a proxy, or a part of one.
const UNPARSED: [&str; 2] = ["unexpected end of json input", " looking for beginning of "];
/// The beginning of a program's message that it cannot read its own configuration.
const UNREADABLE: &str = "failed to read configuration:";
/// The words of glab for a folder in the place of its file: Go's bit of a folder, in octal.
const FOLDER_MODE: &str = " has the permissions 20000000";
/// Bytes of an answer.
const ANSWER_MAX: usize = 64 << 20;

/// A call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) program: &'static ForgeProgram,
    /// For errors.
    pub(super) host: &'a str,
    pub(super) words: &'a [&'a str],
    /// Standard input.
    pub(super) input: Option<&'a str>,
}

/// The words of a program that ran, whether or not it failed.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// `None`: a signal ended it.
    pub(super) code: Option<i32>,
}

/// Runs a program.
///
/// # Errors
/// If it cannot be run, or takes too long.
pub(super) fn run_program(call: &Call<'_>) -> Result<Said> {
    let program = call.program;
    let mut command = Command::new(program.name);
    // No answer depends on the repository of a folder.
    command.args(call.words).current_dir("/").env("NO_COLOR", "1").env("LC_ALL", "C");
    for (name, value) in program.variables {
        command.env(name, value);
    }
    for name in program.unset.iter().chain(&["DEBUG", "CLICOLOR_FORCE"]) {
        command.env_remove(name);
    }
    let input = call.input.map(str::as_bytes);
    let answer = |said: String| ForgeError::Answer { program, said };
    let ran = match run_bounded(&mut command, input, LIMIT, ANSWER_MAX) {
        Ok(Some(ran)) => ran,
        Ok(None) => {
            return Err(slow_error(call));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ForgeError::Missing { program });
        }
        Err(error) => return Err(answer(format!("it could not be run: {error}"))),
    };
    if ran.is_cut {
        return Err(answer("it is longer than can be kept".to_owned()));
    }
    let stderr = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
    // Both programs say so, whatever they were asked.
    let unreadable = stderr.split_once(UNREADABLE).filter(|_| !ran.status.success());
    if let Some((_, why)) = unreadable {
        let lines: Vec<&str> = why.lines().map(str::trim).collect();
        let said = match why.split_once(FOLDER_MODE) {
            Some((path, _)) => format!("{} is a folder", path.trim()),
            None => lines.join(" ").trim().to_owned(),
        };
        return Err(ForgeError::Configuration { program, said });
    }
    Ok(Said {
        stdout: String::from_utf8_lossy(&ran.stdout).into_owned(),
        stderr,
        code: ran.status.code(),
    })
}

/// The error of a program that took too long: of the host, if there was one to ask.
fn slow_error(call: &Call<'_>) -> ForgeError {
    let Call { program, host, .. } = *call;
    let said = format!("{} took longer than {} s, and was ended", program.name, LIMIT.as_secs());
    match host {
        "" => ForgeError::Hangs { program, said },
        host => ForgeError::Network { host: host.to_owned(), said },
    }
}

/// Asks a program about itself and a host.
pub(super) fn auth_status(program: &'static ForgeProgram, host: &str) -> Result<String> {
    let words = ["auth", "status", "--hostname", host];
    let said = run_program(&Call { program, host, words: &words, input: None })?;
    Ok(said.stdout + &said.stderr)
}

/// Turns a failed call into [`ForgeError::NotSignedIn`] if the program says that nobody is signed
/// in to the host: without a sign-in, a call fails in the same ways as without a network.
pub(super) fn ensure_signed_in<T>(
    program: &'static ForgeProgram,
    repo: &RepoName,
    asked: Result<T>,
) -> Result<T> {
    use ForgeError::{Answer, Network, NoRepository, NotJson, Refused};
    let is_stranger = |said: String| program.signed_out.iter().any(|words| said.contains(words));
    match asked {
        Err(
            Network { .. } | NotJson { .. } | NoRepository { .. } | Answer { .. } | Refused { .. },
        ) if program.tokens.iter().all(|name| std::env::var_os(name).is_none())
            && auth_status(program, &repo.host).is_ok_and(is_stranger) =>
        {
            Err(ForgeError::NotSignedIn { program, host: repo.host.clone() })
        }
        asked => asked,
    }
}

/// Reads an answer in JSON.
///
/// # Errors
/// [`ForgeError::NotJson`].
pub(super) fn parse(host: &str, said: &str) -> Result<Value> {
    serde_json::from_str(said).map_err(|error| not_json(host, error.to_string()))
}

fn not_json(host: &str, said: String) -> ForgeError {
    ForgeError::NotJson { host: host.to_owned(), said }
}

/// The kind of a failure that only the program's words tell: nobody was reached, or it was refused.
pub(super) fn sort_words(program: &'static ForgeProgram, host: &str, stderr: &str) -> ForgeError {
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with("DEPRECATION WARNING");
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(is_said).take(4).collect();
    let lower = stderr.to_ascii_lowercase();
    let has = |all: &[&str]| all.iter().any(|words| lower.contains(words));
    match lines.first() {
        Some(first) if has(&UNREACHED) => {
            ForgeError::Network { host: host.to_owned(), said: (*first).to_owned() }
        }
        Some(first) if has(&UNPARSED) => not_json(host, (*first).to_owned()),
        Some(_) => ForgeError::Refused { repo: host.to_owned(), said: lines.join("; ") },
        None => ForgeError::Silent { program },
    }
}

/// Checks that the program is there and new enough. `needed`: the first version that is.
///
/// # Errors
/// [`ForgeError::Missing`] or [`ForgeError::TooOld`].
pub(super) fn check_version(program: &'static ForgeProgram) -> Result<()> {
    let said = run_program(&Call { program, host: "", words: &["--version"], input: None })?;
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let version = said.stdout.split_whitespace().find(is_number).unwrap_or_default();
    let parts = |text: &str| -> Vec<u32> {
        text.split('.').take(2).map_while(|part| part.parse().ok()).collect()
    };
    let found = parts(version);
    // An unreadable version is left to the program's own errors.
    if found.len() == 2 && found < parts(program.needed) {
        let (version, needed) = (version.to_owned(), program.needed);
        return Err(ForgeError::TooOld { program, version, needed });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GONE: ForgeProgram = ForgeProgram {
        name: "/nowhere/gh",
        page: "",
        needed: "1.0",
        variables: &[],
        unset: &[],
        tokens: &[],
        signed_out: &[],
    };

    #[test]
    fn a_program_that_hangs_is_named_or_its_host() {
        let slow =
            |host| slow_error(&Call { program: &GONE, host, words: &[], input: None }).to_string();
        let took = "/nowhere/gh took longer than 120 s, and was ended";
        assert_eq!(slow(""), format!("/nowhere/gh does not answer: {took}"));
        assert_eq!(slow("github.com"), format!("github.com cannot be reached: {took}"));
    }

    #[test]
    fn a_name_in_a_refusal_makes_no_outage() {
        let is_outage = |said| matches!(sort_words(&GONE, "h", said), ForgeError::Network { .. });
        for said in [
            "a pull request for acme/geofence already exists",
            "acme/tls-proxy: timeout.rs must be reviewed",
        ] {
            assert!(!is_outage(said), "{said}");
        }
        for said in [
            "Post \"https://api.github.com/graphql\": EOF",
            "Get \"https://h/\": net/http: TLS handshake timeout",
            "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
            "remote error: tls: internal error",
            "HTTP 504: Gateway Timeout",
            "read tcp 10.0.0.1:1->10.0.0.2:443: i/o timeout",
        ] {
            assert!(is_outage(said), "{said}");
        }
    }

    #[test]
    fn an_answer_that_is_no_json_is_asked_for_again() {
        let page = "invalid character '<' looking for beginning of value";
        for said in ["unexpected end of JSON input", page] {
            let error = sort_words(&GONE, "h", said);
            assert!(matches!(error, ForgeError::NotJson { .. }) && error.is_passing(), "{said}");
        }
        let kept = sort_words(&GONE, "h", "the name has the invalid character ':'");
        assert!(matches!(kept, ForgeError::Refused { .. }));
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let found = check_version(&GONE);
        assert!(matches!(found, Err(ForgeError::Missing { program }) if *program == GONE));
    }
}
