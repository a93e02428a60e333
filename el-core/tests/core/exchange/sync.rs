//! The import as a sync with GitHub uses it: in parts, with fields that wait or are held, and with
//! changes that can be written back.

use std::collections::BTreeSet;

use el_core::exchange::{self, Batch, NoteKind, Tracker};
use el_core::model::Status;
use el_core::ops::{self, AtomPatch, Guard, ImportOptions, Imported, Theirs};
use serde_json::{Value, json};

use crate::support::Project;

const SCOPE: &str = "acme/shop#";

fn issue(number: u64, more: Value) -> Value {
    let mut issue = json!({
        "number": number, "title": format!("Issue {number}"), "body": "As it was", "state": "OPEN",
        "stateReason": "", "labels": [], "assignees": [], "author": { "login": "ada" },
        "createdAt": "2026-11-01T00:00:00Z", "updatedAt": "2026-11-02T00:00:00Z",
        "url": format!("https://github.com/acme/shop/issues/{number}"),
    });
    issue.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    issue
}

fn batch(issues: &[Value]) -> Batch {
    let text = Value::Array(issues.to_vec()).to_string();
    exchange::read_records(text.as_bytes(), Tracker::Github, "", &mut |_, _| {})
}

fn sync(p: &mut Project, issues: &[Value], options: &ImportOptions) -> Imported {
    let ctx = p.person();
    ops::import(&mut p.store, &ctx, batch(issues), options, &mut |_, _| {}).unwrap()
}

fn part() -> ImportOptions {
    ImportOptions { is_partial: true, ..ImportOptions::default() }
}

fn title(p: &Project) -> String {
    ops::get_atom(&p.store, "acme/shop#1").unwrap().title
}

fn status(p: &Project) -> Status {
    ops::get_atom(&p.store, "acme/shop#1").unwrap().status
}

fn rename(p: &mut Project, title: &str) {
    let patch = AtomPatch { title: Some(title.to_owned()), ..AtomPatch::default() };
    let ctx = p.person();
    ops::update(&mut p.store, &ctx, &["acme/shop#1"], &patch, &Guard::default()).unwrap();
}

fn notes(told: &Imported, kind: NoteKind) -> Vec<&str> {
    told.notes.iter().filter(|note| note.kind == kind).map(|note| note.what.as_str()).collect()
}

#[test]
fn what_is_gone_is_told_by_a_whole_sync_of_its_repository_alone() {
    let mut p = Project::new();
    sync(&mut p, &[issue(1, json!({})), issue(2, json!({}))], &part());
    let whole = ImportOptions { scope: Some(SCOPE.to_owned()), ..ImportOptions::default() };
    assert_eq!(sync(&mut p, &[issue(1, json!({}))], &part()).notes, []);
    let told = sync(&mut p, &[issue(1, json!({}))], &whole);
    assert_eq!(notes(&told, NoteKind::Remark).len(), 1);
    assert!(told.notes[0].places[0].starts_with("acme/shop#2"));
    let other = ImportOptions { scope: Some("acme/web#".to_owned()), ..whole };
    assert_eq!(sync(&mut p, &[issue(1, json!({}))], &other).notes, []);
}

#[test]
fn a_list_without_relations_changes_none() {
    let mut p = Project::new();
    let parent = json!({ "number": 2, "url": "https://github.com/acme/shop/issues/2" });
    let with = json!({ "parent": parent, "blockedBy": { "nodes": [{ "number": 3 }] } });
    let all = [issue(1, with), issue(2, json!({})), issue(3, json!({}))];
    assert_eq!(sync(&mut p, &all, &part()).bonds_added, 1);
    let before = ops::show(&p.store, "acme/shop#1").unwrap();
    assert!(before.atom.parent_id.is_some());
    let bare = [issue(1, json!({ "title": "New" })), issue(2, json!({})), issue(3, json!({}))];
    let told = sync(&mut p, &bare, &part());
    assert_eq!((told.updated, told.bonds_removed), (1, 0));
    let after = ops::show(&p.store, "acme/shop#1").unwrap();
    assert_eq!((after.atom.title.as_str(), after.atom.parent_id), ("New", before.atom.parent_id));
    assert_eq!(after.dependencies, before.dependencies);
    // The next one with relations changes nothing either, and then takes what is new.
    let told = sync(&mut p, &[issue(1, json!({ "title": "New", "parent": null }))], &part());
    assert_eq!(told.bonds_removed, 1);
    assert_eq!(ops::get_atom(&p.store, "acme/shop#1").unwrap().parent_id, None);
}

#[test]
fn what_changed_on_both_sides_stays_ours_until_theirs_is_wanted() {
    let mut p = Project::new();
    sync(&mut p, &[issue(1, json!({}))], &part());
    rename(&mut p, "Ours");
    let theirs = [issue(1, json!({ "title": "Theirs" }))];
    let told = sync(&mut p, &theirs, &part());
    assert_eq!(notes(&told, NoteKind::Conflict).len(), 1);
    assert_eq!(title(&p), "Ours");
    // Said once: from then on it is known.
    assert_eq!(sync(&mut p, &theirs, &part()).notes, []);
    let id = ops::resolve_id(&p.store, "acme/shop#1").unwrap();
    let wanted = Theirs::Atoms(BTreeSet::from([id]));
    sync(&mut p, &theirs, &ImportOptions { theirs: wanted, ..part() });
    assert_eq!(title(&p), "Theirs");
    rename(&mut p, "Ours again");
    let again = [issue(1, json!({ "title": "Theirs again" }))];
    sync(&mut p, &again, &ImportOptions { theirs: Theirs::Conflicts, ..part() });
    assert_eq!(title(&p), "Theirs again");
}

#[test]
fn an_accepted_text_is_not_reworded_by_a_stranger() {
    let mut p = Project::new();
    sync(&mut p, &[issue(1, json!({}))], &part());
    let held = BTreeSet::from(["acme/shop#1".to_owned()]);
    let held = ImportOptions { held_texts: held, ..part() };
    let reworded = [issue(1, json!({ "body": "rm -rf /", "labels": [{ "name": "bug" }] }))];
    for _ in 0..2 {
        let told = sync(&mut p, &reworded, &held);
        assert_eq!(notes(&told, NoteKind::Conflict).len(), 1, "told each time");
    }
    let atom = ops::get_atom(&p.store, "acme/shop#1").unwrap();
    assert_eq!((atom.description.as_str(), atom.labels), ("As it was", vec!["bug".to_owned()]));
    let wanted = Theirs::Atoms(BTreeSet::from([atom.id]));
    sync(&mut p, &reworded, &ImportOptions { theirs: wanted, ..held });
    assert_eq!(ops::get_atom(&p.store, "acme/shop#1").unwrap().description, "rm -rf /");
}

#[test]
fn what_is_closed_there_while_an_agent_works_is_closed_after_its_end() {
    let mut p = Project::new();
    sync(&mut p, &[issue(1, json!({}))], &part());
    let claimed = p.claim().unwrap();
    let closed = [issue(1, json!({ "state": "CLOSED", "stateReason": "COMPLETED" }))];
    let told = sync(&mut p, &closed, &part());
    assert_eq!((status(&p), told.updated), (Status::InProgress, 0));
    assert!(notes(&told, NoteKind::Remark)[0].contains("an agent is at work"));
    p.settle(&claimed.run.id, 1);
    assert_eq!(status(&p), Status::Open);
    sync(&mut p, &closed, &part());
    assert_eq!(status(&p), Status::Closed);
    sync(&mut p, &[issue(1, json!({}))], &part());
    assert_eq!(status(&p), Status::Open, "reopened there, what the sync had closed");
}

#[test]
fn what_was_closed_here_and_then_there_is_no_conflict_and_stays_closed() {
    let mut p = Project::new();
    sync(&mut p, &[issue(1, json!({}))], &part());
    let ctx = p.person();
    ops::close(&mut p.store, &ctx, &["acme/shop#1"], Some("landed"), &Guard::default()).unwrap();
    let closed = [issue(1, json!({ "state": "CLOSED", "stateReason": "COMPLETED" }))];
    assert_eq!(sync(&mut p, &closed, &part()).notes, []);
    let told = sync(&mut p, &[issue(1, json!({}))], &part());
    assert_eq!(status(&p), Status::Closed);
    assert_eq!(notes(&told, NoteKind::Conflict).len(), 1);
}

#[test]
fn only_fields_that_are_there_as_last_seen_may_be_written() {
    let mut p = Project::new();
    sync(&mut p, &[issue(1, json!({}))], &part());
    assert_eq!(ops::plan_push(&p.store, batch(&[issue(1, json!({}))])).unwrap()[0].1, []);
    rename(&mut p, "Ours");
    let patch = AtomPatch { description: Some("New text".to_owned()), ..AtomPatch::default() };
    let ctx = p.person();
    ops::update(&mut p.store, &ctx, &["acme/shop#1"], &patch, &Guard::default()).unwrap();
    let now = batch(&[issue(1, json!({ "title": "Theirs" }))]);
    let (_, fields) = ops::plan_push(&p.store, now).unwrap().remove(0);
    let found: Vec<_> =
        fields.iter().map(|it| (it.field, it.ours.as_str(), it.may_write)).collect();
    assert_eq!(found, [("title", "Ours", false), ("description", "New text", true)]);
    assert_eq!(ops::plan_push(&p.store, batch(&[issue(7, json!({}))])).unwrap(), []);

    // Written fields are the last state from then on; the others are as before.
    let written: Vec<_> = fields.into_iter().filter(|field| field.may_write).collect();
    let ctx = p.person();
    ops::note_push(&mut p.store, &ctx, "github", "acme/shop#1", &written).unwrap();
    let patch = AtomPatch { description: Some("Newer text".to_owned()), ..AtomPatch::default() };
    ops::update(&mut p.store, &ctx, &["acme/shop#1"], &patch, &Guard::default()).unwrap();
    let now = batch(&[issue(1, json!({ "title": "Theirs", "body": "New text" }))]);
    let (_, fields) = ops::plan_push(&p.store, now).unwrap().remove(0);
    let found: Vec<_> = fields.iter().map(|it| (it.field, it.may_write)).collect();
    assert_eq!(found, [("title", false), ("description", true)]);
}

#[test]
fn a_sync_remembers_how_far_it_came() {
    let mut p = Project::new();
    assert_eq!(ops::sync_state(&p.store, "github", "x").unwrap().until, None);
    sync(&mut p, &[issue(1, json!({}))], &part());
    let (ctx, now) = (p.person(), p.now);
    ops::note_sync(&mut p.store, &ctx, "x", now).unwrap();
    let state = ops::sync_state(&p.store, "github", "x").unwrap();
    assert_eq!(state.until, Some(now));
    assert_eq!(state.known.keys().collect::<Vec<_>>(), ["acme/shop#1"]);
    assert_eq!(ops::sync_state(&p.store, "github", "y").unwrap().until, None);
}
