//! Reads a file for the hand-over: short texts whole, other files as a hash.

use std::fs::File;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// The maximum size of a copied text, in bytes.
const COPY_MAX: u64 = 2 << 20;
/// The maximum size of a hashed file, in bytes.
const HASH_MAX: u64 = 64 << 20;

/// The result of reading a file.
#[derive(Debug)]
pub(super) struct Taken {
    /// The size as read; for a file too long to read, the size in the metadata.
    pub(super) size: u64,
    pub(super) sha256: Option<String>,
    /// The whole content of a text to copy.
    pub(super) text: Option<Vec<u8>>,
    /// The reason why the file is not copied.
    pub(super) note: Option<String>,
}

/// Reads a file from the beginning.
pub(super) fn read_file(mut file: File) -> io::Result<Taken> {
    let told = file.metadata()?.len();
    let mut start = Vec::new();
    (&mut file).take(COPY_MAX + 1).read_to_end(&mut start)?;
    let read = u64::try_from(start.len()).unwrap_or(u64::MAX);
    let binary = if is_text(&start, read > COPY_MAX) { "" } else { "binary, " };
    if read <= COPY_MAX {
        let sha256 = Some(sha256_hex(&start));
        let (text, note) = match binary {
            "" => (Some(start), None),
            _ => (None, Some("binary: handed over by reference, not copied".to_owned())),
        };
        return Ok(Taken { size: read, sha256, text, note });
    }
    let note = format!("{binary}{}: handed over by reference, not copied", size_in_mib(told));
    if told > HASH_MAX {
        return Ok(Taken {
            size: told,
            sha256: None,
            text: None,
            note: Some(format!("{note}; too large to be hashed")),
        });
    }
    // The file may grow meanwhile; an extra byte shows that.
    let (sha256, size) = sha256(&mut start.as_slice().chain(file.take(HASH_MAX + 1 - read)))?;
    if size > HASH_MAX {
        return Ok(Taken {
            size,
            sha256: None,
            text: None,
            note: Some(format!("{note}; too large to be hashed")),
        });
    }
    Ok(Taken { size, sha256: Some(sha256), text: None, note: Some(note) })
}

/// The SHA-256, in hexadecimal, of all that can be read, and how many bytes that is.
///
/// # Errors
/// If reading fails.
pub fn sha256(from: &mut impl Read) -> io::Result<(String, u64)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    let mut total = 0;
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok((to_hex(&hasher.finalize()), total)),
            Ok(len) => {
                hasher.update(&buffer[..len]);
                total += u64::try_from(len).unwrap_or(0);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns true if the bytes are a text. A cut text may end within a character.
fn is_text(bytes: &[u8], is_cut: bool) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => !bytes.contains(&0),
        Err(error) => is_cut && error.error_len().is_none() && !bytes.contains(&0),
    }
}

/// Returns the SHA-256 of the bytes in hexadecimal, as `sha256sum` prints it.
pub fn sha256_hex(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn size_in_mib(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn taken(content: &[u8]) -> Taken {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        read_file(File::open(file.path()).unwrap()).unwrap()
    }

    #[test]
    fn a_text_is_kept_whole_with_the_hash_that_sha256sum_prints() {
        let text = taken(b"abc");
        assert_eq!(text.text.as_deref(), Some(b"abc".as_slice()));
        assert_eq!(
            text.sha256.as_deref(),
            Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        );
        assert_eq!((text.size, text.note), (3, None));
    }

    #[test]
    fn what_is_binary_is_referred_to() {
        for content in [b"a\0b".as_slice(), b"\x89PNG\r\n\x1a\n", b"\xff\xfe"] {
            let found = taken(content);
            assert_eq!(found.text, None);
            assert!(
                found.sha256.is_some() && found.note.unwrap().starts_with("binary"),
                "{content:?}"
            );
        }
    }

    #[test]
    fn what_is_very_large_is_referred_to_and_hashed_in_pieces() {
        let content = "é".repeat((3 << 20) / 2);
        let found = taken(content.as_bytes());
        assert_eq!((found.size, found.text), (3 << 20, None));
        assert_eq!(found.sha256, Some(sha256_hex(content.as_bytes())));
        assert_eq!(found.note.as_deref(), Some("3 MiB: handed over by reference, not copied"));
    }

    #[test]
    fn what_is_enormous_is_not_even_hashed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(10 << 30).unwrap();
        let found = read_file(File::open(file.path()).unwrap()).unwrap();
        assert_eq!((found.size, found.sha256), (10 << 30, None));
        assert!(found.note.unwrap().ends_with("too large to be hashed"));
    }
}
