//! A line that is the same as at the last import is known again, and its record is not read: what
//! comes of it is the same as if it were.

use std::collections::BTreeSet;

use el_core::exchange::{self, Input, RecordFile, Tracker};
use el_core::model::Status;
use el_core::ops::{self, AtomPatch, Guard, ImportOptions, Theirs};

use crate::support::Project;

/// Two projects with the same history. One imports files, whose lines it knows again; the other
/// imports from memory, where there are no lines.
struct Pair([Project; 2]);

const IDS: [&str; 5] = ["bd-p", "bd-1", "bd-2", "bd-3", "bd-late"];

/// The text with the names of the atoms in place of their ids.
fn with_names(p: &Project, text: &str) -> String {
    let mut text = text.to_owned();
    for name in IDS {
        if let Ok(id) = ops::resolve_id(&p.store, name) {
            text = text.replace(&id, name);
        }
    }
    text
}

impl Pair {
    fn new() -> Pair {
        Pair([Project::new(), Project::new()])
    }

    /// Imports the text into both, and compares what came of it. Returns the number of changed
    /// atoms.
    fn import(&mut self, text: &str, tracker: Tracker, theirs: Option<&str>) -> usize {
        let mut told = Vec::new();
        for (at, p) in self.0.iter_mut().enumerate() {
            let records = match at {
                0 => {
                    let input = Input::from_bytes(text.as_bytes());
                    RecordFile::index_records(input, tracker, &mut |_, _| {}).unwrap()
                }
                _ => exchange::read_records(text.as_bytes(), tracker, "", &mut |_, _| {}).into(),
            };
            let theirs = theirs.map_or(Theirs::Nowhere, |name| {
                Theirs::Atoms(BTreeSet::from([ops::resolve_id(&p.store, name).unwrap()]))
            });
            let options = ImportOptions { theirs, ..ImportOptions::default() };
            let ctx = p.person();
            let done = ops::import(&mut p.store, &ctx, records, &options, &mut |_, _| {}).unwrap();
            let mut lines: Vec<_> = with_names(p, &p.export()).lines().map(str::to_owned).collect();
            lines.sort();
            told.push((done.updated, with_names(p, &format!("{done:#?}")), lines));
        }
        let memory = told.pop().unwrap();
        assert_eq!(told.pop().unwrap(), memory);
        memory.0
    }

    fn each(&mut self, mut change: impl FnMut(&mut Project)) {
        self.0.iter_mut().for_each(&mut change);
    }

    fn update(&mut self, id: &str, patch: &AtomPatch) {
        self.each(|p| {
            let ctx = p.person();
            ops::update(&mut p.store, &ctx, &[id], patch, &Guard::default()).unwrap();
        });
    }
}

fn line(id: &str, more: &str) -> String {
    format!(r#"{{"id":"{id}","title":"{id}","issue_type":"task"{more}}}"#) + "\n"
}

fn depends(on: &[(&str, &str)]) -> String {
    let one = |(on, kind): &(&str, &str)| format!(r#"{{"depends_on_id":"{on}","type":"{kind}"}}"#);
    let all: Vec<String> = on.iter().map(one).collect();
    format!(r#","dependencies":[{}]"#, all.join(","))
}

/// An epic, a closed task with a comment and a name, and two that wait; one of these for an atom
/// that comes late, which is also its parent.
fn file() -> String {
    let comment = r#","comments":[{"id":1,"author":"ann","text":"hello"}]"#;
    line("bd-p", "").replace("\"task\"", "\"epic\"")
        + &line(
            "bd-1",
            &format!(r#","status":"closed","external_ref":"ticket-1","estimate":3{comment}"#),
        )
        + &line("bd-2", &depends(&[("bd-1", "blocks"), ("bd-p", "parent-child")]))
        + &line("bd-3", &depends(&[("bd-late", "blocks"), ("bd-late", "parent-child")]))
}

#[test]
fn a_line_that_is_known_again_brings_what_its_record_would_bring() {
    let mut pair = Pair::new();
    let (text, tracker) = (file(), Tracker::Bd);
    assert_eq!(pair.import(&text, tracker, None), 0);
    assert_eq!(pair.import(&text, tracker, None), 0);

    // Changes made here stand, until the file's values are wanted.
    let title = |text: &str| AtomPatch { title: Some(text.into()), ..AtomPatch::default() };
    pair.update("bd-2", &title("Here"));
    assert_eq!(pair.import(&text, tracker, None), 0);
    assert_eq!(pair.import(&text, tracker, Some("bd-2")), 1);
    pair.update("bd-2", &title("Here again"));
    let there = text.replace(r#""title":"bd-2""#, r#""title":"There""#);
    assert_eq!(pair.import(&there, tracker, None), 0, "changed on both sides");
    assert_eq!(pair.import(&there, tracker, None), 0);

    // Work goes on here on what is closed there.
    let status = |status| AtomPatch { status: Some(status), ..AtomPatch::default() };
    pair.update("bd-1", &status(Status::Open));
    pair.update("bd-1", &status(Status::InProgress));
    assert_eq!(pair.import(&there, tracker, None), 0);
    pair.update("bd-1", &status(Status::Open));
    assert_eq!(pair.import(&there, tracker, None), 0);

    // Bonds and parents that were changed here, or there.
    pair.each(|p| {
        let ctx = p.person();
        ops::dep_remove(&mut p.store, &ctx, "bd-1", "bd-2", None).unwrap();
    });
    pair.update("bd-2", &AtomPatch { parent: Some(None), ..AtomPatch::default() });
    assert_eq!(pair.import(&there, tracker, None), 0);
    assert_eq!(pair.import(&there, tracker, Some("bd-2")), 1, "the parent, and the title");
    let late = there.clone() + &line("bd-late", "").replace("\"task\"", "\"epic\"");
    assert_eq!(pair.import(&late, tracker, None), 1, "its line is the same");
    pair.each(|p| {
        let late = ops::resolve_id(&p.store, "bd-late").unwrap();
        assert_eq!(ops::get_atom(&p.store, "bd-3").unwrap().parent_id, Some(late));
    });
    assert_eq!(pair.import(&late, tracker, None), 0);
    assert_eq!(pair.import(&there, tracker, None), 0, "what is gone there stays");

    // A comment that was edited or is new, and a line of which nothing counts has changed.
    let edited = there.replace("hello", "hello, all");
    assert_eq!(pair.import(&edited, tracker, None), 1);
    let spaced = edited.replace(r#""estimate":3"#, r#""estimate": 3"#);
    assert_eq!(pair.import(&spaced, tracker, None), 0);
    assert_eq!(pair.import(&spaced, tracker, None), 0);

    // An epic by its type waits for its children.
    let epic = spaced.replace(
        r#""title":"There","issue_type":"task""#,
        r#""title":"There","issue_type":"epic""#,
    );
    assert_eq!(pair.import(&epic, tracker, None), 1);
    assert_eq!(pair.import(&epic, tracker, None), 0);
}

#[test]
fn an_export_of_our_own_is_known_again_too() {
    let mut from = Project::new();
    from.import(&file(), Tracker::Bd);
    let text = from.export();
    let mut pair = Pair::new();
    for _ in 0..3 {
        pair.import(&text, Tracker::El, None);
    }
    let there = text.replace(r#""title":"bd-2""#, r#""title":"There""#);
    assert_eq!(pair.import(&there, Tracker::El, None), 1);
    assert_eq!(pair.import(&there, Tracker::El, None), 0);
    let without: String = there
        .lines()
        .filter(|line| !line.contains("\"bond\""))
        .map(|l| l.to_owned() + "\n")
        .collect();
    pair.import(&without, Tracker::El, None);
    pair.import(&there, Tracker::El, None);
}
