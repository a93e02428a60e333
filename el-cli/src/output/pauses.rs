//! A pause of claiming in words.

use el_core::model::Pause;

use super::{sanitize, time};

/// "Nothing is claimed until 16:40: …"; without a time for a pause that a person ends.
pub(crate) fn pause_sentence(pause: &Pause) -> String {
    let reason = sanitize::one_line(&pause.reason);
    match pause.until {
        Some(until) => format!("Nothing is claimed until {}: {reason}", time::local_time(until)),
        None => format!("Nothing is claimed: {reason}"),
    }
}
