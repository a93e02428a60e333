//! Any text as a completion report: no panic, and no file that it takes is outside the project.
#![no_main]

use el_core::protocol::report::{CompletionReport, in_words};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Ok((report, given)) = CompletionReport::parse(&text) {
        for file in report.files() {
            assert!(!file.starts_with(['/', '\\', '~']), "{file:?}");
            assert!(!file.split(['/', '\\']).any(|part| part == ".."), "{file:?}");
        }
        assert!(in_words(&given).is_some());
    }
});
