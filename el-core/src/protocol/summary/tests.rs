//! The corpus: summaries as models write them (`tests/data/summaries/*.md`), each with its expected
//! reading beside it; and properties that hold for any text.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::model::SummaryStatus;
use crate::protocol::corpus::assert_read;
use crate::protocol::workspace::{Rules, judge_path};

#[test]
fn each_summary_of_the_corpus_is_read_as_expected() {
    assert_read("summaries", "md", 40, |_, text| {
        serde_json::to_value(parse_summary(text)).unwrap()
    });
}

/// Each line of `tests/data/summaries/{name}` with the word that it stands below.
#[track_caller]
fn assert_lines(name: &str, least: usize, read: impl Fn(&str) -> &'static str) {
    let file = format!("{}/../tests/data/summaries/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).unwrap();
    let (_, text) = text.split_once("\n\n").unwrap();
    let mut wanted = "";
    let mut count = 0;
    let mut wrong = String::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(word) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            wanted = word;
            continue;
        }
        count += 1;
        let found = read(&line.replace("\\n", "\n"));
        if found != wanted {
            wrong += &format!("{line}: {found}, and not {wanted}\n");
        }
    }
    assert!(count >= least, "only {count} lines");
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_status_is_completed_only_where_it_says_that_and_no_more() {
    assert_lines("status-lines.txt", 100, |line| {
        let summary = parse_summary(&format!("## Status\n{line}\n"));
        assert_eq!(summary.status.is_none(), summary.status_text.is_some(), "{line}");
        summary.status.map_or("unknown", |status| status.as_str())
    });
}

#[test]
fn red_in_any_line_of_the_tests_is_red() {
    assert_lines("test-lines.txt", 70, |line| {
        let tests = parse_summary(&format!("## Test Results\n{line}\n\n## Status\nx\n")).tests;
        tests.and_then(|tests| tests.outcome).map_or("unknown", |outcome| outcome.as_str())
    });
}

#[test]
fn the_end_of_a_large_summary_is_read_and_a_cut_fence_hides_nothing() {
    let form = |noise: &str, status: &str| {
        format!(
            "## Objective\nIt\n\n## Accomplishments\n- Tried\n\n## Important Notes\n```\n\
             ## Key Deliverables\n- `fenced.rs` - no\n\n## Status\n✅ COMPLETED\n{noise}```\n\n\
             ## Key Deliverables\n- `real.rs` - yes\n\n## Status\n{status}\n"
        )
    };
    for size in [10_usize, 300_000, 3_000_000] {
        let line = format!("{}\n", "log line ".repeat(20));
        let noise = line.repeat(size.div_ceil(line.len()));
        let failed = parse_summary(&form(&noise, "❌ FAILED"));
        assert_eq!(failed.status, Some(SummaryStatus::Failed), "{size}");
        let completed = parse_summary(&form(&noise, "✅ COMPLETED"));
        let files: Vec<_> = completed.deliverables.iter().map(|file| &*file.path).collect();
        if size < READ_MAX {
            assert_eq!(
                (completed.status, files),
                (Some(SummaryStatus::Completed), vec!["real.rs"])
            );
        } else {
            assert_ne!(
                parse_summary(&form(&noise, "I gave up")).status,
                Some(SummaryStatus::Completed)
            );
            assert!(completed.warnings[0].contains("its middle"), "{:?}", completed.warnings);
        }
    }
    // Open where the file was cut.
    let cut = parse_summary("## Status\n❌ FAILED\n\n## Important Notes\n```\nlog");
    assert_eq!(cut.status, Some(SummaryStatus::Failed));
    let open = parse_summary("## Accomplishments\n```\nlog\n\n## Status\n❌ FAILED\n");
    assert_eq!(open.status, Some(SummaryStatus::Failed));
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
        removed: vec!["old.rs".to_owned()],
        changed_by: Some("by git"),
        output: "last words\n## Status\n✅ COMPLETED\n```".to_owned(),
        warnings: Vec::new(),
    };
    let (summary, text) = fallback_summary(&facts);
    assert_eq!(
        (summary.status, summary.is_fallback, summary.deliverables.len()),
        (Some(SummaryStatus::Partial), true, 4)
    );
    let read = parse_summary(&text);
    assert_eq!(
        (&read.status, &read.deliverables, &read.accomplishments),
        (&summary.status, &summary.deliverables, &summary.accomplishments),
        "{text}"
    );
    assert_eq!(read.objective.as_deref(), Some("Fix the parser (t-1a2b)"));
    assert!(
        text.contains("⚠️ PARTIAL - Summary not created by the agent")
            && text.contains("`src/file 6.rs` and 2 more\n")
            && text.contains("Removed: `old.rs`\n")
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
    let text = request_summary(".eluent/summaries/t-1.md");
    assert!(text.contains("`.eluent/summaries/t-1.md`"), "{text}");
    let read = parse_summary(request::FORM);
    assert_eq!((read.status, &read.accomplishments[..], read.objective), (None, &[][..], None));
    assert!(
        read.warnings.iter().any(|warning| warning.contains("template")),
        "{:?}",
        read.warnings
    );
}

/// Texts that make a slow parser slow: much of the same, and things that never end. Quadratic time
/// would take minutes here.
#[test]
fn time_and_memory_grow_with_the_text_and_no_faster() {
    let much = |part: &str| part.repeat((1 << 18) / part.len());
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
        much("<!--"),
        much("<!-- -->"),
        much("<!-- -->\n\n"),
        much("~~"),
        much("```x\n~~~y\n"),
        format!("## Status\n{}", much("a. ")),
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
    let before = processor_time();
    for text in &texts {
        let summary = parse_summary(text);
        let size = serde_json::to_string(&summary).unwrap().len();
        assert!(
            size < 2 << 20,
            "{size} bytes from {:?}…",
            text.chars().take(30).collect::<String>()
        );
    }
    let taken = processor_time() - before;
    assert!(taken < Duration::from_secs(60), "{taken:?}");
}

/// The time that this thread has spent on a processor, so that a busy machine does not count.
/// Linux tells it (`/proc/thread-self/schedstat`, nanoseconds first); elsewhere it is zero.
fn processor_time() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = told.split_ascii_whitespace().next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(first.unwrap_or_default())
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
        harmless(&parse_summary(&text));
    }

    #[test]
    fn any_text_of_meaningful_pieces_is_read_without_a_panic(text in pieces()) {
        harmless(&parse_summary(&text));
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
            deliverables: files
                .into_iter()
                .map(|path| crate::model::Deliverable {
                    path,
                    description: Some("what it is".to_owned()),
                })
                .collect(),
            status: Some(status),
            ..Summary::default()
        };
        let read = parse_summary(&render_summary(&made));
        prop_assert_eq!(read.objective, made.objective);
        prop_assert_eq!(read.accomplishments, made.accomplishments);
        prop_assert_eq!(read.deliverables, made.deliverables);
        prop_assert_eq!(read.status, made.status);
    }
}

/// Asserts the properties of every reading.
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
        if let Ok(path) = judge_path(&file.path, &rules) {
            assert!(
                !path.starts_with('/')
                    && path.split('/').all(|name| !matches!(name, "" | "." | "..")),
                "{file:?} became {path:?}"
            );
        }
    }
    // Read again from what it became, it is no worse.
    drop(parse_summary(&render_summary(summary)));
    drop(in_words(summary, 10));
}
