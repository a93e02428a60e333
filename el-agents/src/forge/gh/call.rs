//! A call of `gh`, with its failures sorted.

use super::{ForgeError, GH, Result};
use crate::forge::call::{Call, run_program, sort_words};

/// Returns the output of a call.
///
/// # Errors
/// If gh fails.
pub(super) fn run(call: &Call<'_>) -> Result<String> {
    match run_whole(call)? {
        (said, None) => Ok(said),
        (_, Some(error)) => Err(error),
    }
}

/// Returns the output, and the error of a call that failed although gh ran.
///
/// # Errors
/// If gh cannot be run, or takes too long.
pub(super) fn run_whole(call: &Call<'_>) -> Result<(String, Option<ForgeError>)> {
    let said = run_program(call)?;
    let failed = said.code != Some(0);
    let error = failed.then(|| sort_failure(call.host, &said.stderr, said.code));
    Ok((said.stdout, error))
}

/// The kind of a failure. gh gives no codes for most, so its words count.
fn sort_failure(host: &str, said: &str, code: Option<i32>) -> ForgeError {
    let lower = said.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let host = host.to_owned();
    let line =
        || said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("").to_owned();
    // gh exits with 4 where it wants a sign-in.
    if code == Some(4) || has(&["gh auth login", "try authenticating with", "http 401"]) {
        return ForgeError::NotSignedIn { program: &GH, host };
    }
    if has(&["draft pull requests are not supported"]) {
        return ForgeError::NoDrafts { repo: host };
    }
    if has(&["rate limit", "abuse detection", "submitted too quickly", "http 429"]) {
        return ForgeError::RateLimit { host, wait: None };
    }
    if has(&["could not resolve to a repository", "http 404"]) {
        return ForgeError::NoRepository { program: &GH, repo: host };
    }
    if has(&["resource not accessible", "must have", "permission", "http 403"]) {
        return ForgeError::NoRights { repo: host, said: line() };
    }
    sort_words(&GH, &host, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_sorted_by_what_gh_says() {
        let kind = |said: &str, code| match sort_failure("github.com", said, Some(code)) {
            ForgeError::NotSignedIn { .. } => "sign in",
            ForgeError::RateLimit { .. } => "limit",
            ForgeError::NoRepository { .. } => "repository",
            ForgeError::NoRights { .. } => "rights",
            ForgeError::Network { .. } => "network",
            ForgeError::Refused { .. } => "refused",
            _ => "other",
        };
        for (said, code, wanted) in [
            ("To get started with GitHub CLI, please run:  gh auth login", 4, "sign in"),
            ("HTTP 401: Bad credentials\nTry authenticating with:  gh auth login", 1, "sign in"),
            ("HTTP 403: API rate limit exceeded for user ID 1.", 1, "limit"),
            ("HTTP 403: You have exceeded a secondary rate limit", 1, "limit"),
            ("HTTP 403: You have triggered an abuse detection mechanism.", 1, "limit"),
            ("pull request create failed: was submitted too quickly", 1, "limit"),
            ("GraphQL: Could not resolve to a Repository with the name 'a/b'.", 1, "repository"),
            ("GraphQL: ada must have push access to acme/shop", 1, "rights"),
            ("error connecting to api.github.com", 1, "network"),
            ("Post \"https://api.github.com/graphql\": EOF", 1, "network"),
            ("HTTP 502: Bad Gateway", 1, "network"),
            ("pull request create failed: GraphQL: No commits between main and x", 1, "refused"),
        ] {
            assert_eq!(kind(said, code), wanted, "{said}");
        }
    }
}
