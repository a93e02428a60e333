//! Any text as a mailbox file: no panic, and what was read is written back with nothing lost.
#![no_main]

use el_core::protocol::mailbox::{Document, MailboxFile, digest, numbered, read_assignment};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for file in [MailboxFile::ToDeveloper, MailboxFile::Queue, MailboxFile::Status] {
        let Ok(document) = Document::parse(&text, file.list()) else { continue };
        assert_eq!(numbered(&document.items).len(), document.items.len());
        let again = Document::parse(&document.render(), file.list());
        let again = again.expect("what we write can be read");
        let digests = |document: &Document| document.items.iter().map(digest).collect::<Vec<_>>();
        assert_eq!(digests(&again), digests(&document));
        for message in &document.items {
            drop(read_assignment(message));
        }
    }
});
