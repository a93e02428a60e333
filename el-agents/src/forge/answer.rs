//! An answer of a server with its head, as `gh api --include` and `glab api --include` print it.

use std::time::Duration;

use crate::clock;

/// An answer of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn parse(said: &str) -> Option<Answer> {
        let text = said.replace("\r\n", "\n");
        let first = text.lines().next().filter(|line| line.starts_with("HTTP/"))?;
        let code = first.split(' ').nth(1)?.parse().ok()?;
        let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
        Some(Answer { code, head: head.to_owned(), body: body.to_owned() })
    }

    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, it)| it.trim())
    }

    /// How long the server wants to be left alone, if it says so: GitHub and GitLab, in their own
    /// words each.
    pub(super) fn retry_wait(&self) -> Option<Duration> {
        let number = |name: &str| self.header(name)?.parse::<i64>().ok();
        if let Some(seconds) = number("retry-after") {
            return u64::try_from(seconds).ok().map(Duration::from_secs);
        }
        ["x-ratelimit", "ratelimit"].iter().find_map(|kind| {
            let is_used_up = number(&format!("{kind}-remaining")) == Some(0);
            let reset = number(&format!("{kind}-reset")).filter(|_| is_used_up)?;
            u64::try_from(reset - clock::now().as_secs()).ok().map(Duration::from_secs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_how_long_it_wants_to_be_left_alone() {
        let wait =
            |head: &str| Answer::parse(&format!("HTTP/2.0 403 No\r\n{head}\r\n{{}}"))?.retry_wait();
        assert_eq!(wait("Retry-After: 90\r\n"), Some(Duration::from_secs(90)));
        assert_eq!(wait("retry-after: Mon, 30 Nov 2026 00:00:00 GMT\r\n"), None);
        let reset = clock::now().as_secs() + 600;
        for kind in ["X-RateLimit", "RateLimit"] {
            let used = wait(&format!("{kind}-Remaining: 0\r\n{kind}-Reset: {reset}\r\n"));
            let seconds = used.unwrap().as_secs();
            assert!((590..=600).contains(&seconds), "{seconds}");
            let some = wait(&format!("{kind}-Remaining: 7\r\n{kind}-Reset: {reset}\r\n"));
            assert_eq!(some, None, "another limit was reached");
        }
        assert_eq!(wait("X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 1\r\n"), None);
    }
}
