//! Any text as the path of a deliverable: what is let through stays below the working folder, by
//! its letters.
#![no_main]

use el_core::protocol::workspace::{Rules, judge};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (path, asked) = input;
    let rules = Rules {
        root: "/home/me/work".to_owned(),
        state: Some(".eluent".to_owned()),
        summaries: Some(".eluent/summaries".to_owned()),
        contexts: Some(".eluent/agent-context".to_owned()),
        asked: asked.to_owned(),
    };
    if let Ok(kept) = judge(path, &rules) {
        let mut names = kept.split('/');
        assert!(names.all(|name| !matches!(name, "" | "." | "..")), "{path:?} became {kept:?}");
        assert!(!kept.starts_with(".git/") && kept != ".git", "{path:?}");
        assert_eq!(judge(&kept, &rules).as_ref(), Ok(&kept));
    }
});
