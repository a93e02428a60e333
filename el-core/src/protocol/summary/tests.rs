//! The corpus: summaries as models write them (`tests/data/summaries/*.md`), each with its expected
//! reading beside it; and properties that hold for any text.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::model::{SummaryStatus, TestOutcome};
use crate::protocol::corpus::assert_read;
use crate::protocol::workspace::{Rules, judge};

#[test]
fn each_summary_of_the_corpus_is_read_as_expected() {
    assert_read("summaries", "md", 40, |_, text| serde_json::to_value(parse(text)).unwrap());
}

#[test]
fn words_of_tests_are_weighed() {
    let of = |text: &str| {
        parse(&format!("## Test Results\n{text}\n")).tests.and_then(|tests| tests.outcome)
    };
    for text in [
        "✅ All 8 tests passed",
        "8/8 passed",
        "test result: ok. 3 passed; 0 failed",
        "All green.",
        "no failed tests, 12 passed",
        "npm test: ok",
    ] {
        assert_eq!(of(text), Some(TestOutcome::Passed), "{text}");
    }
    for text in [
        "❌ 2 tests failed",
        "7 passed, 1 failed",
        "7/8 passed",
        "FAILED",
        "failures: 3",
        "✅ unit\n❌ e2e: 1 test failed",
    ] {
        assert_eq!(of(text), Some(TestOutcome::Failed), "{text}");
    }
    for text in [
        "⏭️ No tests (docs)",
        "N/A",
        "none",
        "Not run: no database",
        "no tests were needed",
        "Tests were skipped",
    ] {
        assert_eq!(of(text), Some(TestOutcome::Skipped), "{text}");
    }
    for text in ["see the log", "I looked at it by hand", "7/8 passed, 1 skipped"] {
        assert_ne!(of(text), Some(TestOutcome::Failed), "{text}");
    }
}

#[test]
fn words_of_status_are_weighed() {
    let of = |text: &str| parse(&format!("## Status\n{text}\n")).status;
    for text in [
        "✅ COMPLETED",
        "Done.",
        "**Completed**",
        "success",
        "✅",
        "Finished, at last",
        "COMPLETED - nothing failed",
    ] {
        assert_eq!(of(text), Some(SummaryStatus::Completed), "{text}");
    }
    for text in [
        "⚠️ PARTIAL",
        "partially completed",
        "In progress",
        "not completed",
        "It is not yet done",
        "⚠️ PARTIAL - completed the parser",
        "Incomplete",
    ] {
        assert_eq!(of(text), Some(SummaryStatus::Partial), "{text}");
    }
    for text in ["❌ FAILED", "failed: the API is gone", "❌"] {
        assert_eq!(of(text), Some(SummaryStatus::Failed), "{text}");
    }
    for text in ["✅ COMPLETED [OR] ⚠️ PARTIAL [OR] ❌ FAILED", "see above", ""] {
        assert_eq!(of(text), None, "{text}");
    }
}

#[test]
fn a_fallback_reads_as_it_was_made() {
    let facts = Facts {
        atom_id: "t-1a2b".to_owned(),
        title: "Fix\nthe parser".to_owned(),
        close_reason: Some("done".to_owned()),
        record: vec!["Run run-1 by claude".to_owned()],
        changed: (0..7).map(|n| format!("src/file {n}.rs")).collect(),
        changed_more: 2,
        changed_by: Some("by git"),
        output: "last words\n## Status\n✅ COMPLETED\n```".to_owned(),
        warning: None,
    };
    let (summary, text) = fallback(&facts);
    assert_eq!(
        (summary.status, summary.is_fallback, summary.deliverables.len()),
        (Some(SummaryStatus::Partial), true, 4)
    );
    let read = parse(&text);
    assert_eq!(
        (&read.status, &read.deliverables, &read.accomplishments),
        (&summary.status, &summary.deliverables, &summary.accomplishments),
        "{text}"
    );
    assert_eq!(read.objective.as_deref(), Some("Fix the parser (t-1a2b)"));
    assert!(
        text.contains("⚠️ PARTIAL - Summary not created by the agent")
            && text.contains("last words"),
        "{text}"
    );
    assert!(
        read.notes.iter().any(|note| note.contains("file 6.rs` and 2 more")),
        "{:?}",
        read.notes
    );
}

#[test]
fn the_request_names_the_file_and_reads_as_an_untouched_template() {
    let text = request(".eluent/summaries/t-1.md");
    assert!(text.contains("`.eluent/summaries/t-1.md`"), "{text}");
    let read = parse(request::FORM);
    assert_eq!((read.status, &read.accomplishments[..], read.objective), (None, &[][..], None));
    assert!(
        read.warnings.iter().any(|warning| warning.contains("template")),
        "{:?}",
        read.warnings
    );
}

/// What makes a slow parser slow: much of the same, and things that never end. Quadratic time would
/// take minutes here.
#[test]
fn time_and_memory_grow_with_the_text_and_no_faster() {
    let much = |part: &str| part.repeat((READ_MAX / part.len()).max(1));
    let texts = [
        much("#"),
        much("`"),
        much("["),
        much("- "),
        much("- `a"),
        much("- `a`, "),
        much("**"),
        much("> "),
        much("|"),
        much("```\n"),
        much("~~~x\n"),
        much("## Key Deliverables\n"),
        much("## Status\nx\n"),
        much("a\n"),
        much("- a.b\n"),
        much("("),
        much("- [a](b"),
        much("\r"),
        much("é"),
        much("\u{1f600}"),
        format!("## Key Deliverables\n- {}", much("`x` ")),
        format!("## Key Deliverables\n{}", much("- `f` - d\n")),
        format!("## Key Deliverables\n- {}", much("` ")),
        format!("## Key Deliverables\n{}", much("| a.b ")),
        format!("## Status\n{}", much("not ")),
        format!("## Test Results\n{}", much("1/2 failed ")),
        format!("## Key Deliverables\n- a.b\n{}", much("  - told\n")),
    ];
    let began = Instant::now();
    for text in &texts {
        let summary = parse(text);
        let size = serde_json::to_string(&summary).unwrap().len();
        assert!(
            size < 2 << 20,
            "{size} bytes from {:?}…",
            text.chars().take(30).collect::<String>()
        );
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

/// Texts made of the pieces that mean something to the parser.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("## Objective\n"),
        Just("## Key Deliverables\n"),
        Just("**Status:** "),
        Just("Status: done\n"),
        Just("### Tests\n"),
        Just("- "),
        Just("* "),
        Just("+ "),
        Just("1. "),
        Just("`"),
        Just("``"),
        Just("```"),
        Just("\n"),
        Just("\r\n"),
        Just("\n\n"),
        Just("  "),
        Just("\t"),
        Just(" - "),
        Just(": "),
        Just("["),
        Just("]("),
        Just(")"),
        Just("|"),
        Just("../"),
        Just("/"),
        Just("a.rs"),
        Just("src/"),
        Just("✅"),
        Just("❌"),
        Just("[OR]"),
        Just("COMPLETED"),
        Just("---\n"),
        Just("> "),
        Just("é"),
        Just("\u{200d}"),
        Just("\u{0}"),
        Just("\u{1b}[2J"),
        Just("#L1"),
        Just(":12"),
        Just("\""),
        Just("# "),
        Just("text"),
        Just("<!--"),
        Just("-->"),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic(text in any::<String>()) {
        harmless(&parse(&text));
    }

    #[test]
    fn any_text_of_meaningful_pieces_is_read_without_a_panic(text in pieces()) {
        harmless(&parse(&text));
    }

    #[test]
    fn what_is_rendered_is_read_back(
        objective in "[A-Za-z][a-z ]{0,30}[a-z]",
        done in prop::collection::vec("[A-Z][a-z]{1,8} [a-z]{1,8}", 1..5),
        files in prop::collection::btree_set("[a-z]{1,8}(/[a-z]{1,8}){0,3}\\.(rs|md|ts)", 0..5),
        status in prop::sample::select(SummaryStatus::ALL),
    ) {
        let made = Summary {
            objective: Some(objective.trim().to_owned()),
            accomplishments: done,
            deliverables: files.into_iter().map(|path| crate::model::Deliverable { path, description: Some("what it is".to_owned()) }).collect(),
            status: Some(status),
            ..Summary::default()
        };
        let read = parse(&render(&made));
        prop_assert_eq!(read.objective, made.objective);
        prop_assert_eq!(read.accomplishments, made.accomplishments);
        prop_assert_eq!(read.deliverables, made.deliverables);
        prop_assert_eq!(read.status, made.status);
    }
}

/// What holds for every reading.
fn harmless(summary: &Summary) {
    let rules = Rules { root: "/home/me/work".to_owned(), ..Rules::default() };
    let texts = summary
        .accomplishments
        .iter()
        .chain(&summary.notes)
        .chain(&summary.warnings)
        .chain(&summary.objective);
    for text in texts {
        assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{text:?}");
    }
    for file in &summary.deliverables {
        assert!(!file.path.is_empty() && !file.path.contains(char::is_control), "{file:?}");
        if let Ok(path) = judge(&file.path, &rules) {
            assert!(
                !path.starts_with('/')
                    && path.split('/').all(|name| !matches!(name, "" | "." | "..")),
                "{file:?} became {path:?}"
            );
        }
    }
    // Read again from what it became, it is no worse.
    drop(parse(&render(summary)));
    drop(in_words(summary, 10));
}
