//! The versions of the protocol, and in what they differ for us.

/// Those that begin with `initialize`, the newest first.
pub(super) const WITH_HANDSHAKE: [&str; 4] =
    ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// That without a handshake: each request says which version it is in, and who asks.
pub(super) const STATELESS: &str = "2026-07-28";

/// A version that we speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version(&'static str);

impl Version {
    /// What holds while nothing was agreed on.
    pub(super) const DEFAULT: Version = Version(WITH_HANDSHAKE[0]);

    /// Exactly this one, if we speak it.
    pub(super) fn exactly(text: &str) -> Option<Version> {
        Version::all().find(|known| *known == text).map(Version)
    }

    /// The answer to `initialize`: the one that was asked for, or else our newest of those with a
    /// handshake.
    pub(super) fn negotiated(asked: &str) -> Version {
        WITH_HANDSHAKE.into_iter().find(|known| *known == asked).map_or(Version::DEFAULT, Version)
    }

    /// All of them, the newest first.
    pub(super) fn all() -> impl Iterator<Item = &'static str> {
        std::iter::once(STATELESS).chain(WITH_HANDSHAKE)
    }

    pub(super) const fn as_str(self) -> &'static str {
        self.0
    }

    pub(super) fn is_stateless(self) -> bool {
        self.0 == STATELESS
    }

    /// Several messages in one array: they came with one version and went with the next.
    pub(super) fn has_batches(self) -> bool {
        self.0 == "2025-03-26"
    }

    /// A progress notification may say something in words.
    pub(super) fn has_progress_messages(self) -> bool {
        self.0 >= "2025-03-26"
    }

    /// An error about a message whose id is not known has no id, instead of `null`.
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
            assert_eq!(Version::negotiated(known).as_str(), known);
        }
        for other in ["1999-01-01", "2099-01-01", STATELESS, ""] {
            assert_eq!(Version::negotiated(other).as_str(), "2025-11-25");
        }
        assert!(Version::exactly(STATELESS).is_some_and(Version::is_stateless));
        assert_eq!(Version::exactly("2099-01-01"), None);
    }
}
