//! The versions of the protocol, and the differences that matter to `el`.

/// The versions that begin with `initialize`, newest first.
pub(super) const WITH_HANDSHAKE: [&str; 4] =
    ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The version without a handshake: each request names the version and the client.
pub(super) const STATELESS: &str = "2026-07-28";

/// A supported version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version(&'static str);

impl Version {
    /// The version in use before any agreement.
    pub(super) const DEFAULT: Version = Version(WITH_HANDSHAKE[0]);

    /// The version with this very name, if supported.
    pub(super) fn from_exact_text(text: &str) -> Option<Version> {
        Version::all_newest_first().find(|known| *known == text).map(Version)
    }

    /// The version that answers `initialize`: the requested version if supported, or else the
    /// newest with a handshake.
    pub(super) fn negotiate(asked: &str) -> Version {
        WITH_HANDSHAKE.into_iter().find(|known| *known == asked).map_or(Version::DEFAULT, Version)
    }

    /// All versions, newest first.
    pub(super) fn all_newest_first() -> impl Iterator<Item = &'static str> {
        std::iter::once(STATELESS).chain(WITH_HANDSHAKE)
    }

    pub(super) const fn as_str(self) -> &'static str {
        self.0
    }

    pub(super) fn is_stateless(self) -> bool {
        self.0 == STATELESS
    }

    /// Returns true if a message may be an array of messages. A single version had such batches.
    pub(super) fn has_batches(self) -> bool {
        self.0 == "2025-03-26"
    }

    /// Returns true if a progress notification may carry a text.
    pub(super) fn has_progress_messages(self) -> bool {
        self.0 >= "2025-03-26"
    }

    /// Returns true if an error about a message without a known id omits the id instead of sending
    /// `null`.
    pub(super) fn leaves_out_unknown_id(self) -> bool {
        self.0 >= "2025-11-25"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_agreed_on_where_we_know_it() {
        for known in WITH_HANDSHAKE {
            assert_eq!(Version::negotiate(known).as_str(), known);
        }
        for other in ["1999-01-01", "2099-01-01", STATELESS, ""] {
            assert_eq!(Version::negotiate(other).as_str(), "2025-11-25");
        }
        assert!(Version::from_exact_text(STATELESS).is_some_and(Version::is_stateless));
        assert_eq!(Version::from_exact_text("2099-01-01"), None);
    }
}
