//! A call of `glab api`, with its failures sorted by the code of the answer. `glab` itself loses
//! the code and the words of many, so it is asked for the head of the answer, too.

use serde_json::Value;

use super::{ForgeError, GLAB, Result};
use crate::forge::answer::Answer;
use crate::forge::call::{Call, run_program, sort_words};

/// Returns the answer to a call. `input`: JSON.
///
/// # Errors
/// If glab fails, or the server refuses.
pub(super) fn answer_to(
    host: &str,
    method: &str,
    path: &str,
    input: Option<&str>,
) -> Result<Answer> {
    let mut words = vec!["api", path, "--include", "--hostname", host, "--method", method];
    if input.is_some() {
        words.extend(["--input", "-", "--header", "Content-Type: application/json"]);
    }
    let said = run_program(&Call { program: &GLAB, host, words: &words, input })?;
    match Answer::parse(&said.stdout) {
        Some(answer) if answer.code < 400 => Ok(answer),
        Some(answer) => Err(sort_answer(host, &answer)),
        None => Err(sort_failure(host, &said.stderr)),
    }
}

/// The kind of a refusal of the server.
fn sort_answer(host: &str, answer: &Answer) -> ForgeError {
    let host = host.to_owned();
    let said = words_of(answer);
    match answer.code {
        401 => ForgeError::NotSignedIn { program: &GLAB, host },
        403 if said.to_ascii_lowercase().contains("rate limit") => {
            ForgeError::RateLimit { host, wait: answer.retry_wait() }
        }
        403 => ForgeError::NoRights { repo: host, said },
        404 => ForgeError::NoRepository { program: &GLAB, repo: host },
        429 => ForgeError::RateLimit { host, wait: answer.retry_wait() },
        500.. => ForgeError::Network { host, said },
        _ => ForgeError::Refused { repo: host, said },
    }
}

/// The words of the server: `{"message": …}` or `{"error": …}`, or the name of the code.
fn words_of(answer: &Answer) -> String {
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let word = [&body["message"], &body["error_description"], &body["error"]];
    let said = match word.into_iter().find(|word| !word.is_null()) {
        Some(Value::String(said)) => said.clone(),
        Some(Value::Array(all)) => {
            all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; ")
        }
        Some(other) => other.to_string(),
        None => String::new(),
    };
    if !said.is_empty() {
        return said;
    }
    let first = answer.head.lines().next().unwrap_or_default();
    first.split_once(' ').map_or("no word why", |(_, named)| named).trim().to_owned()
}

/// The kind of a failure without an answer: glab's own words count.
fn sort_failure(host: &str, stderr: &str) -> ForgeError {
    // Such as a token that cannot be renewed.
    if ["glab auth login", "oauth2:", "invalid_grant"].iter().any(|it| stderr.contains(it)) {
        return ForgeError::NotSignedIn { program: &GLAB, host: host.to_owned() };
    }
    sort_words(&GLAB, host, stderr)
}

/// A text as a part of an address.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_without_the_scope_is_told_to_get_a_wider_one() {
        let body = "{\"error\":\"insufficient_scope\",\"error_description\":\"The request requires \
                    higher privileges than provided by the access token.\"}";
        let said = format!("HTTP/2.0 403 Forbidden\n\n{body}");
        let hint = sort_answer("gitlab.com", &Answer::parse(&said).unwrap()).hint();
        assert!(hint.contains("the scope api"), "{hint}");
    }

    #[test]
    fn answers_are_sorted_by_their_code() {
        let kind = |said: &str| match sort_answer("gitlab.com", &Answer::parse(said).unwrap()) {
            ForgeError::NotSignedIn { .. } => "sign in".to_owned(),
            ForgeError::RateLimit { .. } => "limit".to_owned(),
            ForgeError::NoRepository { .. } => "repository".to_owned(),
            ForgeError::NoRights { said, .. } => format!("rights: {said}"),
            ForgeError::Network { said, .. } => format!("network: {said}"),
            ForgeError::Refused { said, .. } => format!("refused: {said}"),
            _ => "other".to_owned(),
        };
        for (said, wanted) in [
            ("HTTP/2.0 401 Unauthorized\n\n{\"message\":\"401 Unauthorized\"}", "sign in"),
            ("HTTP/2.0 404 Not Found\r\nA: b\r\n\r\n{\"message\":\"404\"}", "repository"),
            ("HTTP/2.0 403 Forbidden\n\n{\"message\":\"403 Forbidden\"}", "rights: 403 Forbidden"),
            // glab cannot read these, and shows no more of them.
            ("HTTP/2.0 409 Conflict\nA: b\n\n", "refused: 409 Conflict"),
            ("HTTP/2.0 429 Too Many Requests\nRetry-After: 1\n\n", "limit"),
            ("HTTP/2.0 502 Bad Gateway\n\n", "network: 502 Bad Gateway"),
            (
                "HTTP/2.0 400 Bad Request\n\n{\"error\":\"title is missing\"}",
                "refused: title is missing",
            ),
            ("HTTP/2.0 409 Conflict\n\n{\"message\":[\"one\",\"two\"]}", "refused: one; two"),
        ] {
            assert_eq!(kind(said), wanted, "{said}");
        }
    }

    #[test]
    fn what_glab_says_without_an_answer_is_sorted_too() {
        let lost = sort_failure("h", "Get \"http://h/api/v4/x\": EOF");
        assert!(matches!(lost, ForgeError::Network { .. }));
        let other = sort_failure("h", "DEPRECATION WARNING: NO_PROMPT\nerror: no");
        assert!(matches!(other, ForgeError::Refused { said, .. } if said == "error: no"));
    }

    #[test]
    fn names_and_headers() {
        assert_eq!(escape("acme/my shop"), "acme%2Fmy%20shop");
        let answer = Answer::parse("HTTP/1.1 200 OK\r\nX-Next-Page: 2\r\n\r\n[]\n\n").unwrap();
        assert_eq!((answer.header("x-next-page"), answer.body.as_str()), (Some("2"), "[]\n\n"));
        assert_eq!(Answer::parse("{}"), None);
    }
}
