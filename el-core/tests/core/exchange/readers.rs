//! The formats of others, in samples that were written for these tests after the shapes of real
//! files.

use el_core::exchange::{self, Input, NoteKind, Tracker};
use el_core::model::{IssueType, Status};
use el_core::ops;
use proptest::prelude::*;

use crate::support::Project;

const BD: &str = include_str!("../../../../tests/data/import/bd.jsonl");
const ELUENT: &str = include_str!("../../../../tests/data/import/eluent.jsonl");
const GITHUB: &str = include_str!("../../../../tests/data/import/github.json");
const PLAN: &str = include_str!("../../../../tests/data/import/plan.md");

fn tracker_of(text: &str) -> Option<Tracker> {
    exchange::detect_tracker(&mut Input::from_bytes(text.as_bytes())).unwrap()
}

#[test]
fn each_sample_is_recognised() {
    for (text, want) in [
        (BD, Tracker::Bd),
        (ELUENT, Tracker::Eluent),
        (GITHUB, Tracker::Github),
        (PLAN, Tracker::Markdown),
    ] {
        assert_eq!(tracker_of(text), Some(want));
    }
}

#[test]
fn everything_of_a_bd_issue_has_its_place() {
    let mut p = Project::new();
    let told = p.import(BD, Tracker::Bd);
    assert_eq!(told.created, 8);
    let full = ops::show(&p.store, "demo-a1b").unwrap();
    assert_eq!(
        full.atom.description,
        "Dates are read wrong.\n\n## Design\n\nUse one parser.\n\n## Notes\n\nSee the log."
    );
    assert_eq!(full.atom.acceptance.as_deref(), Some("All tests pass."));
    assert_eq!(
        (full.atom.priority.value(), full.atom.issue_type, full.atom.labels.join(" ").as_str()),
        (0, IssueType::Bug, "api help-wanted")
    );
    assert_eq!(
        (full.atom.assignee.as_deref(), full.atom.created_by.as_str()),
        (Some("ann"), "bob")
    );
    assert_eq!(full.atom.created_at.to_string(), "2026-08-04T05:47:45.219884Z");
    assert_eq!(full.comments[0].content, "Seen on the server too.");
    assert_eq!(full.atom.metadata["source"]["estimated_minutes"], 90);
    assert_eq!(ops::resolve_id(&p.store, "gh-9").unwrap(), full.atom.id);
    let gone = ops::get_atom(&p.store, "demo-tmb").unwrap();
    assert_eq!((gone.status, gone.close_reason.as_deref()), (Status::Discard, Some("a double")));
    assert_eq!(ops::get_atom(&p.store, "demo-def").unwrap().status, Status::Deferred);
    assert_eq!(ops::get_atom(&p.store, "demo-hok").unwrap().status, Status::InProgress);
    assert!(
        told.notes.iter().any(|n| n.kind == NoteKind::Kept && n.what.contains("estimated_minutes"))
    );
}

#[test]
fn everything_of_eluent_has_its_place() {
    let mut p = Project::new();
    let told = p.import(ELUENT, Tracker::Eluent);
    assert_eq!((told.created, told.bonds_added, told.comments_added), (4, 2, 2));
    let task = ops::show(&p.store, "demo-01KQ3W8Z5N7M2R4T6V8X0Y2A4C").unwrap();
    assert_eq!(
        (task.atom.status, task.atom.labels.join(" ").as_str()),
        (Status::Review, "api web")
    );
    assert_eq!(task.atom.metadata["estimate"], 3);
    assert_eq!(task.comments.len(), 2, "two clones gave two comments one id");
    assert_eq!(
        task.atom.parent_id,
        Some(ops::resolve_id(&p.store, "demo-01KQ3W8Z5N7M2R4T6V8X0Y2A4B").unwrap())
    );
    assert_eq!(p.import(ELUENT, Tracker::Eluent).unchanged, 4);
}

#[test]
fn everything_of_a_github_issue_has_its_place() {
    let mut p = Project::new();
    let told = p.import(GITHUB, Tracker::Github);
    assert_eq!((told.created, told.bonds_added, told.comments_added), (4, 1, 1));
    let bug = ops::show(&p.store, "ann/shop#12").unwrap();
    assert_eq!(ops::resolve_id(&p.store, "#12").unwrap(), bug.atom.id);
    assert_eq!(
        ops::resolve_id(&p.store, "https://github.com/ann/shop/issues/12").unwrap(),
        bug.atom.id
    );
    assert_eq!(
        (bug.atom.issue_type, bug.atom.priority.value(), bug.atom.assignee.as_deref()),
        (IssueType::Bug, 1, Some("bob"))
    );
    assert_eq!(bug.atom.labels, ["bug", "help-wanted", "priority:-high"]);
    assert_eq!(bug.atom.metadata["source"]["assignees"], serde_json::json!(["bob", "eve"]));
    assert_eq!(bug.atom.metadata["source"]["milestone"], "1.0");
    assert_eq!(bug.atom.parent_id, Some(ops::resolve_id(&p.store, "#10").unwrap()));
    let refused = ops::get_atom(&p.store, "#13").unwrap();
    assert_eq!(
        (refused.status, refused.close_reason.as_deref()),
        (Status::WontDo, Some("not planned"))
    );
    assert_eq!(ops::get_atom(&p.store, "#14").unwrap().status, Status::Closed);
}

#[test]
fn a_plan_becomes_epics_and_tasks_and_grows_with_its_file() {
    let mut p = Project::new();
    let told = p.import(PLAN, Tracker::Markdown);
    assert_eq!(told.created, 7);
    let again = p.import(
        &PLAN.replace("- [ ] Queries", "- [x] Queries").replace("# Plan", "# Plan\n\n- [ ] New\n"),
        Tracker::Markdown,
    );
    assert_eq!((again.created, again.updated, again.unchanged), (1, 1, 6), "{again:?}");
    assert_eq!(ops::get_atom(&p.store, "Storage / Queries").unwrap().status, Status::Closed);
}

#[test]
fn a_bad_line_is_named_and_stops_no_other() {
    let text = "{\"id\":\"b-1\",\"title\":\"One\",\"status\":\"open\"}\n\
                {\"id\":\"b-2\",\"status\":\"open\"}\nrubbish\n\
                {\"title\":\"no id\",\"status\":\"open\"}\n";
    let batch = exchange::read_records(text.as_bytes(), Tracker::Bd, "", &mut |_, _| {});
    let bad: Vec<_> = batch.bad.iter().map(|b| (b.line, b.message.as_str())).collect();
    assert_eq!(
        bad,
        [(2, "it has no title"), (3, "it is not JSON: expected value"), (4, "it has no id")]
    );
    assert_eq!(batch.records.len(), 1);
}

proptest! {
    #[test]
    fn no_text_of_any_format_panics(
        text in "([\\[{}\\],:]|\"(id|title|status|number|_type|atom|labels|dependencies)\"|\
                 [0-9]{1,3}|\n|## x|- \\[ \\] y|.){0,60}",
    ) {
        for tracker in Tracker::ALL {
            let batch = exchange::read_records(text.as_bytes(), *tracker, "x", &mut |_, _| {});
            prop_assert!(batch.bad.iter().all(|bad| bad.line > 0 && !bad.message.is_empty()));
        }
        let _ = tracker_of(&text);
    }

    /// Whatever a field holds, the record goes in, and nothing of it is lost without a word.
    #[test]
    fn odd_values_of_fields_are_kept_or_named(
        key in "(status|priority|issue_type|labels|assignee|created_at|dependencies|comments|\
                metadata|x)",
        value in prop::sample::select(vec![
            "null", "-7", "1e300", "true", "\"\"", "\"odd\\u0000 \\n word\"", "[]",
            "[1,\"a b\",null,{}]", "{\"a\":1}", "{}",
        ]),
    ) {
        let text =
            format!("{{\"id\":\"b-1\",\"title\":\"One\",\"issue_type2\":1,\"{key}\":{value}}}\n");
        for tracker in [Tracker::Bd, Tracker::Eluent, Tracker::El] {
            let text = if tracker == Tracker::Bd {
                text.clone()
            } else {
                text.replacen('{', "{\"_type\":\"atom\",", 1)
            };
            let mut p = Project::new();
            let batch = exchange::read_records(text.as_bytes(), tracker, "", &mut |_, _| {});
            prop_assert!(batch.bad.is_empty(), "{:?}", batch.bad);
            let ctx = p.person();
            let options = ops::ImportOptions::default();
            let told = ops::import(&mut p.store, &ctx, batch, &options, &mut |_, _| {}).unwrap();
            prop_assert_eq!(told.created, 1);
        }
    }
}
