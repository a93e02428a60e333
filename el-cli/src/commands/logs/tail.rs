//! The place in a long log where the last lines begin, found from the end.

use std::io::{self, Read, Seek, SeekFrom};

use super::feed::{Feed, Show};

/// The bytes that are read first; four times as many each time they hold too few lines.
const FIRST_LOOK: u64 = 256 << 10;

/// Moves to the place from which `show` makes at least `lines` lines, or to the beginning.
pub(super) fn seek_to_last(
    file: &mut (impl Read + Seek),
    lines: usize,
    show: impl Fn() -> Show,
) -> io::Result<()> {
    let end = file.seek(SeekFrom::End(0))?;
    let mut look = FIRST_LOOK;
    while look < end {
        let begin = end - look;
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.by_ref().take(look).read_to_end(&mut bytes)?;
        // The first line is incomplete.
        if let Some(cut) = bytes.iter().position(|byte| *byte == b'\n') {
            let shown = Feed::new(show(), None).push(&bytes[cut + 1..]);
            if shown.iter().filter(|byte| **byte == b'\n').count() >= lines {
                file.seek(SeekFrom::Start(begin + cut as u64 + 1))?;
                return Ok(());
            }
        }
        look *= 4;
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    struct Counting {
        file: Cursor<Vec<u8>>,
        read: usize,
    }

    impl Read for Counting {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.file.read(buffer)?;
            self.read += read;
            Ok(read)
        }
    }

    impl Seek for Counting {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    fn last_lines(bytes: Vec<u8>, lines: usize) -> (usize, Vec<String>) {
        let mut file = Counting { file: Cursor::new(bytes), read: 0 };
        seek_to_last(&mut file, lines, || Show::Text).unwrap();
        let looked = file.read;
        let mut rest = String::new();
        file.read_to_string(&mut rest).unwrap();
        (looked, rest.lines().map(str::to_owned).collect())
    }

    #[test]
    fn the_end_of_fifty_megabytes_is_found_without_reading_them() {
        let text = format!("{}\n", "x".repeat(99)).repeat(500_000);
        let (looked, rest) = last_lines(text.into_bytes(), 5_000);
        assert!(rest.len() >= 5_000 && rest.iter().all(|line| line.len() == 99));
        assert!(looked < 2 << 20, "{looked} bytes were read");
    }

    #[test]
    fn lines_longer_than_a_look_are_whole_and_a_short_log_is_shown_from_its_beginning() {
        let long = format!("{}\n", "y".repeat(300 << 10)).repeat(5);
        let (_, rest) = last_lines(long.into_bytes(), 2);
        assert!(rest.len() >= 2 && rest.iter().all(|line| line.len() == 300 << 10));
        assert_eq!(last_lines(b"a\nb\n".to_vec(), 1), (0, vec!["a".into(), "b".into()]));
    }
}
