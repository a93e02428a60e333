//! Numbers with nouns.

use std::fmt::Display;

/// `0 atoms`, `1 atom`, `2 atoms`.
pub(crate) fn with_noun<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_one_is_one() {
        assert_eq!(
            [0_i64, 1, 2].map(|n| super::with_noun(n, "atom")),
            ["0 atoms", "1 atom", "2 atoms"]
        );
    }
}
