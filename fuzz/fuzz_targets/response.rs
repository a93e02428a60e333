//! Any bytes as a model's answer, whole and in pieces: no panic, the same reading however it is
//! cut, nothing that grows beyond its text.
#![no_main]

use el_core::model::Phase;
use el_core::protocol::response::{Answer, Scanner, answer, ask_again, fallback, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((step, data)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(data);
    let reading = read(&text);
    let mut scanner = Scanner::default();
    let mut rest: &str = &text;
    while !rest.is_empty() {
        let mut len = (usize::from(*step) + 1).min(rest.len());
        while !rest.is_char_boundary(len) {
            len += 1;
        }
        scanner.push(&rest[..len]);
        rest = &rest[len..];
    }
    let in_pieces = scanner.finish();
    // How much may be looked at again depends on how much has come: in a long text that was made to
    // cost much, the last resort may differ.
    if text.len() <= 1_500 {
        assert_eq!(in_pieces, reading);
    }
    let kept: usize = reading.texts.iter().map(String::len).sum();
    assert!(kept <= text.len(), "{kept} bytes of {}", text.len());
    for phase in Phase::ALL {
        if let Answer::Faulty(faulty) = answer(&reading, *phase, Some("task_001")) {
            drop(ask_again(*phase, Some(&faulty), 1));
        }
        drop(fallback(&text, *phase));
    }
});
