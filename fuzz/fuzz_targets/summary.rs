//! Any bytes as an agent's summary: no panic, nothing that leaves the workspace, nothing that grows
//! beyond its text.
#![no_main]

use el_core::protocol::summary::{in_words, parse, render};
use el_core::protocol::workspace::{Rules, judge};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let summary = parse(&text);
    let rules = Rules { root: "/home/me/work".to_owned(), ..Rules::default() };
    for file in &summary.deliverables {
        if let Ok(path) = judge(&file.path, &rules) {
            let mut names = path.split('/');
            assert!(names.all(|name| !matches!(name, "" | "." | "..")), "{file:?} became {path:?}");
        }
    }
    let kept: usize = summary.accomplishments.iter().chain(&summary.notes).map(String::len).sum();
    assert!(kept <= text.len() * 2 + 4096, "{kept} bytes of {}", text.len());
    drop(parse(&render(&summary)));
    drop(in_words(&summary, 10));
});
