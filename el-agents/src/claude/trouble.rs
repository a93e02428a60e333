//! Classifies the errors that Claude Code reports: the party at fault, and the use of another
//! attempt. The texts are the client's own (2.1.197 to 2.1.332), never a model's.

use el_core::model::{Fault, Refusal};

/// The meaning of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCause {
    /// The account, or the service: not the agent's.
    Fault(Fault),
    /// The request itself is refused, and would be refused again.
    Permanent,
    /// Unknown: a failure of the run.
    Unknown,
}

/// An error as reported by the client.
#[derive(Debug, Clone, Copy, Default)]
pub struct ErrorReport<'a> {
    /// The HTTP status of the API's last answer.
    pub status: Option<u16>,
    /// The client's error code: `authentication_failed`, `billing_error`, `server_error`, …
    pub kind: &'a str,
    pub stop_reason: &'a str,
    pub terminal_reason: &'a str,
    pub text: &'a str,
}

/// Texts of a refused request, and of an answer that was too long four times in a row.
const PERMANENT: [&str; 6] = [
    "prompt is too long",
    "request too large",
    "unable to respond to this request",
    "safeguards flagged this message",
    "max_output_tokens",
    "output token maximum",
];
/// Texts of a refused account, under any status.
const REFUSALS: [(Refusal, &[&str]); 4] = [
    (Refusal::Credit, &["billing_error", "credit balance"]),
    (Refusal::Access, &["organization has been disabled", "disabled organization"]),
    (Refusal::Model, &["model_not_found", "issue with the selected model"]),
    (
        Refusal::Login,
        &[
            "not logged in",
            "please run /login",
            "invalid api key",
            "invalid x-api-key",
            "invalid bearer token",
            "oauth token",
            "authentication_error",
        ],
    ),
];
/// The text of a limit that an organization has set for itself, under status 400.
const OWN_LIMIT: &str = "reached your specified api usage limits";
/// Words that tell that the service failed, where no status does.
const OUTAGES: [&str; 10] = [
    "server_error",
    "overloaded",
    "internal server error",
    "unable to connect to api",
    "connection error",
    "econnrefused",
    "econnreset",
    "etimedout",
    "request timed out",
    "fetch failed",
];

/// Reads an error.
#[must_use]
pub fn classify_error(report: &ErrorReport<'_>) -> ErrorCause {
    let text = format!("{}\n{}", report.kind, report.text).to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if report.status == Some(413)
        || report.stop_reason == "refusal"
        || report.stop_reason == "max_tokens" && report.status.is_none()
        || matches!(report.terminal_reason, "prompt_too_long" | "image_error")
        || has(&PERMANENT)
    {
        return ErrorCause::Permanent;
    }
    let account = |refusal| ErrorCause::Fault(Fault::Account { refusal });
    if let Some((refusal, _)) = REFUSALS.iter().find(|(_, words)| has(words)) {
        return account(*refusal);
    }
    // Another 400 may be due to the conversation, and a new attempt begins another one.
    match report.status {
        _ if has(&[OWN_LIMIT]) => ErrorCause::Fault(Fault::UsageLimit { resets_at: None }),
        Some(401) => account(Refusal::Login),
        Some(402) => account(Refusal::Credit),
        Some(403) => account(Refusal::Access),
        Some(404) => account(Refusal::Model),
        Some(429) => ErrorCause::Fault(Fault::UsageLimit { resets_at: None }),
        Some(408 | 500..=599) => ErrorCause::Fault(Fault::Outage),
        None if has(&["authentication_failed"]) => account(Refusal::Login),
        None if has(&["rate_limit"]) => ErrorCause::Fault(Fault::UsageLimit { resets_at: None }),
        None if has(&OUTAGES) => ErrorCause::Fault(Fault::Outage),
        _ => ErrorCause::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_as_the_client_words_them() {
        let account = |refusal| ErrorCause::Fault(Fault::Account { refusal });
        let outage = ErrorCause::Fault(Fault::Outage);
        for (status, text, expected) in [
            (Some(401), "Invalid API key · Fix external API key", account(Refusal::Login)),
            (Some(401), "Please run /login · API Error: 401", account(Refusal::Login)),
            (None, "Not logged in · Please run /login", account(Refusal::Login)),
            (Some(403), "Failed to authenticate. API Error: 403 no", account(Refusal::Access)),
            (Some(400), "Credit balance is too low", account(Refusal::Credit)),
            (
                Some(400),
                "API Error: 400 This organization has been disabled.",
                account(Refusal::Access),
            ),
            (
                Some(401),
                "Your ANTHROPIC_API_KEY belongs to a disabled organization · Unset it",
                account(Refusal::Access),
            ),
            (
                Some(400),
                "API Error: 400 You have reached your specified API usage limits. You will regain \
                 access on 2026-04-01 at 00:00 UTC.",
                ErrorCause::Fault(Fault::UsageLimit { resets_at: None }),
            ),
            (Some(402), "API Error: 402 pay", account(Refusal::Credit)),
            (
                Some(404),
                "There's an issue with the selected model (x). It may not exist",
                account(Refusal::Model),
            ),
            (Some(413), "Request too large (max 32MB)", ErrorCause::Permanent),
            (Some(400), "Prompt is too long", ErrorCause::Permanent),
            (
                None,
                "API Error: Claude's response exceeded the 64000 output token maximum.",
                ErrorCause::Permanent,
            ),
            (Some(500), "API Error: 500 broken", outage),
            (None, "API Error: Repeated 529 Overloaded errors.", outage),
            (None, "API Error: Unable to connect to API (ConnectionRefused)", outage),
            (None, "Request timed out", outage),
            (Some(400), "API Error: 400 messages.0: bad", ErrorCause::Unknown),
            (None, "Reached maximum number of turns (3)", ErrorCause::Unknown),
        ] {
            let report = ErrorReport { status, text, ..ErrorReport::default() };
            assert_eq!(classify_error(&report), expected, "{status:?} {text}");
        }
        for stop_reason in ["refusal", "max_tokens"] {
            let refused = ErrorReport { stop_reason, ..ErrorReport::default() };
            assert_eq!(classify_error(&refused), ErrorCause::Permanent);
        }
        let too_long = ErrorReport { kind: "max_output_tokens", ..ErrorReport::default() };
        assert_eq!(classify_error(&too_long), ErrorCause::Permanent);
        let billing =
            ErrorReport { kind: "billing_error", status: Some(400), ..ErrorReport::default() };
        assert_eq!(classify_error(&billing), account(Refusal::Credit));
    }
}
