//! Ids for imported atoms.

use super::*;

/// The short parts in use, in the store and in this import. Held in memory, since thousands are
/// made at once.
#[derive(Default)]
pub(super) struct Pool {
    taken: Option<BTreeSet<String>>,
}

impl Pool {
    fn taken_ids(&mut self, tx: &Tx<'_>) -> Result<&mut BTreeSet<String>> {
        if self.taken.is_none() {
            let short = |(id, _): (String, Option<String>)| {
                id.rsplit_once('-').map_or(id.clone(), |(_, short)| short.to_owned())
            };
            self.taken = Some(atom::all_parents(tx)?.into_iter().map(short).collect());
        }
        Ok(self.taken.get_or_insert_default())
    }

    /// Takes another project's id as it is, if the form is legal and the short part is free.
    pub(super) fn take_id(&mut self, tx: &Tx<'_>, id: &str) -> Result<bool> {
        let Some((prefix, short)) = id.rsplit_once('-') else { return Ok(false) };
        let is_ours = model::safe_prefix(prefix) == prefix
            && (model::SHORT_MIN..=16).contains(&short.len())
            && model::canonical_short(short).as_deref() == Some(short);
        Ok(is_ours && self.taken_ids(tx)?.insert(short.to_owned()))
    }

    /// Returns a new id. The short part is no beginning of another short part, nor the reverse.
    pub(super) fn fresh_id(&mut self, tx: &Tx<'_>, prefix: &str) -> Result<String> {
        let taken = self.taken_ids(tx)?;
        for len in model::SHORT_MIN..=12 {
            for _ in 0..4 {
                let short = model::fresh_short(len);
                let follows = taken
                    .range(short.clone()..)
                    .next()
                    .is_some_and(|other| other.starts_with(&short));
                let has_beginning =
                    (model::SHORT_MIN..len).any(|shorter| taken.contains(&short[..shorter]));
                if !follows && !has_beginning {
                    taken.insert(short.clone());
                    return Ok(format!("{prefix}-{short}"));
                }
            }
        }
        Err(Error::conflict("exists", "no free id was found"))
    }
}

/// Makes an id from texts: the same texts always give the same id. The form is a UUID of version 8,
/// which allows a rule of one's own.
pub(super) fn of_text(parts: &[&str]) -> String {
    let mut both = [0xcbf2_9ce4_8422_2325_u64, 0x6c62_272e_07bb_0142];
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            for half in &mut both {
                *half = (*half ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            // The two halves differ only by the start value; the rotation lets each byte meet the
            // second half in another position.
            both[1] = both[1].rotate_left(5);
        }
    }
    let hex = format!("{:016x}{:016x}", both[0], both[1]);
    format!("{}-{}-8{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::of_text;

    #[test]
    fn the_same_text_has_the_same_id_and_another_has_another() {
        let id = of_text(&["bd", "bd-1", "ann", "", "hello"]);
        assert_eq!(id, of_text(&["bd", "bd-1", "ann", "", "hello"]));
        assert_ne!(id, of_text(&["bd", "bd-1", "ann", "hello", ""]));
        assert_eq!((id.len(), id.as_bytes()[14]), (36, b'8'));
    }
}
