//! Ids: made from the system's randomness, short enough to type, read forgivingly.

/// The alphabet of ids: Crockford's base 32 in lower case (no `i`, `l`, `o`, `u`).
/// Source: <https://www.crockford.com/base32.html>.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The prefix of run ids; no project's atoms may use the prefix.
pub const RUN_PREFIX: &str = "run";

/// The shortest short part of an atom's id.
pub const SHORT_MIN: usize = 4;

/// How many atoms an ambiguous id names.
pub const MAX_CANDIDATES: usize = 10;

const PREFIX_MAX: usize = 20;

fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .expect("the system's random source answers on every system that el runs on");
    bytes
}

/// A random short part of `len` characters (at most 16).
pub fn fresh_short(len: usize) -> String {
    let bytes = random_bytes::<16>();
    bytes.iter().take(len).map(|b| char::from(ALPHABET[usize::from(b & 31)])).collect()
}

/// A fresh id of a run: `run-` and eight characters.
pub fn fresh_run_id() -> String {
    format!("{RUN_PREFIX}-{}", fresh_short(8))
}

/// A fresh fencing token: 128 random bits in hexadecimal.
pub fn fresh_token() -> String {
    random_bytes::<16>().iter().map(|b| format!("{b:02x}")).collect()
}

/// A fresh UUID (version 4), for the session id that Claude Code is started with.
pub fn fresh_uuid() -> String {
    uuid::Builder::from_random_bytes(random_bytes::<16>()).into_uuid().to_string()
}

/// Maps a typed short part to the alphabet: lower case, with look-alikes replaced (`I`, `L` → `1`,
/// `O` → `0`, `U` → `v`). Returns `None` if a character has no counterpart.
pub fn canonical_short(text: &str) -> Option<String> {
    text.chars()
        .map(|c| match c.to_ascii_lowercase() {
            'i' | 'l' => Some('1'),
            'o' => Some('0'),
            'u' => Some('v'),
            c if c.is_ascii_alphanumeric() => Some(c),
            _ => None,
        })
        .collect()
}

/// Makes a project's name safe as the prefix of ids: lower-case letters and digits in words joined
/// by `-`, beginning with a letter, never `run`, at most twenty characters.
pub fn safe_prefix(name: &str) -> String {
    let mut prefix = String::new();
    for c in name.chars() {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_alphanumeric() {
            prefix.push(c);
        } else if !prefix.is_empty() && !prefix.ends_with('-') {
            prefix.push('-');
        }
    }
    if !prefix.starts_with(|c: char| c.is_ascii_lowercase()) {
        prefix.insert(0, 'p');
    }
    prefix.truncate(PREFIX_MAX);
    let prefix = prefix.trim_end_matches('-');
    match prefix {
        RUN_PREFIX => "runs".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_prefix_is_made_from_any_name() {
        for (name, want) in [
            ("Eluent", "eluent"),
            ("2048", "p2048"),
            ("my project (v1.2)", "my-project-v1-2"),
            ("", "p"),
            ("---", "p"),
            ("日本", "p"),
            ("run", "runs"),
            ("a-very-long-name-of-a-project-that-goes-on", "a-very-long-name-of"),
        ] {
            assert_eq!(safe_prefix(name), want, "{name}");
        }
    }

    #[test]
    fn look_alikes_are_read_as_what_is_meant() {
        assert_eq!(canonical_short("OIlU9z").as_deref(), Some("011v9z"));
        assert_eq!(canonical_short("a;b"), None);
    }

    #[test]
    fn fresh_ids_have_their_shape() {
        assert_eq!(fresh_short(4).len(), 4);
        assert_eq!(fresh_token().len(), 32);
        assert_eq!(fresh_uuid().as_bytes()[14], b'4');
        assert_ne!(fresh_run_id(), fresh_run_id());
    }

    proptest! {
        #[test]
        fn every_prefix_is_safe_and_stable(name in ".{0,80}") {
            let prefix = safe_prefix(&name);
            prop_assert!(prefix.len() <= PREFIX_MAX && !prefix.is_empty());
            prop_assert!(prefix.starts_with(|c: char| c.is_ascii_lowercase()));
            prop_assert!(
                prefix.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            );
            prop_assert_eq!(safe_prefix(&prefix), prefix);
        }

        #[test]
        fn a_fresh_short_is_its_own_canonical_form(len in 4_usize..16) {
            let short = fresh_short(len);
            prop_assert_eq!(canonical_short(&short), Some(short));
        }
    }
}
