//! Import and export, on a real database.

use el_core::exchange::{self, NoteKind, Tracker};
use el_core::model::{BondKind, IssueType, Status};
use el_core::ops::{self, AtomFilter, AtomPatch, Guard, Imported, Sort};
use el_core::{Error, Store};

use crate::support::Project;

mod again;
mod back_and_forth;
mod readers;
mod sessions;
mod sync;

const EVERYTHING: AtomFilter = AtomFilter {
    statuses: Vec::new(),
    include_over: true,
    types: Vec::new(),
    exclude_types: Vec::new(),
    priorities: Vec::new(),
    labels: Vec::new(),
    offers: None,
    assignee: None,
    parent: None,
    below: None,
    ids: Vec::new(),
    asks: false,
    text: None,
    created_after: None,
    created_before: None,
    updated_after: None,
    updated_before: None,
};

impl Project {
    pub(crate) fn export(&self) -> String {
        let mut out = Vec::new();
        ops::export(&self.store, &EVERYTHING, &mut |piece| {
            exchange::write_jsonl(&mut out, &piece).unwrap();
            Ok::<(), Error>(())
        })
        .unwrap();
        String::from_utf8(out).unwrap()
    }

    pub(crate) fn try_import(
        &mut self,
        text: &str,
        tracker: Tracker,
        dry_run: bool,
    ) -> Result<Imported, Error> {
        let batch = exchange::read_records(text.as_bytes(), tracker, "plan.md", &mut |_, _| {});
        assert_eq!(batch.bad, [], "{text}");
        let ctx = self.person();
        ops::import(
            &mut self.store,
            &ctx,
            batch,
            &ops::ImportOptions::with_dry_run(dry_run),
            &mut |_, _| {},
        )
    }

    pub(crate) fn import(&mut self, text: &str, tracker: Tracker) -> Imported {
        self.try_import(text, tracker, false).unwrap()
    }

    pub(crate) fn count(&self) -> i64 {
        ops::list(&self.store, &EVERYTHING, Sort::Oldest, None, 0, self.now).unwrap().total
    }
}

const BD: &str = concat!(
    r#"{"id":"bd-1","title":"Epic","status":"open","priority":1,"issue_type":"epic","#,
    r#""created_at":"2025-12-01T00:00:00Z","updated_at":"2025-12-01T00:00:00Z"}"#,
    "\n",
    r#"{"id":"bd-1.1","title":"First","status":"closed","priority":2,"issue_type":"bug","#,
    r#""created_at":"2025-12-02T00:00:00Z","updated_at":"2025-12-02T00:00:00Z","#,
    r#""closed_at":"2025-12-03T00:00:00Z","close_reason":"done","#,
    r#""dependencies":[{"issue_id":"bd-1.1","depends_on_id":"bd-1","type":"parent-child","#,
    r#""created_at":"2025-12-02T00:00:00Z"}],"comments":[{"id":1,"issue_id":"bd-1.1","#,
    r#""author":"ann","text":"hello","created_at":"2025-12-02T00:00:00Z"}]}"#,
    "\n",
    r#"{"id":"bd-1.2","title":"Second","status":"open","priority":0,"issue_type":"chore","#,
    r#""created_at":"2025-12-02T00:00:00Z","updated_at":"2025-12-02T00:00:00Z","labels":["api"],"#,
    r#""dependencies":[{"issue_id":"bd-1.2","depends_on_id":"bd-1.1","type":"blocks","#,
    r#""created_at":"2025-12-02T00:00:00Z"},{"issue_id":"bd-1.2","depends_on_id":"bd-1","#,
    r#""type":"parent-child","created_at":"2025-12-02T00:00:00Z"}]}"#,
    "\n",
);

#[test]
fn an_import_is_one_change_and_again_it_is_none() {
    let mut p = Project::new();
    let first = p.import(BD, Tracker::Bd);
    assert_eq!((first.created, first.updated, first.unchanged), (3, 0, 0));
    assert_eq!((first.bonds_added, first.comments_added), (1, 1));
    let text = p.export();
    let again = p.import(BD, Tracker::Bd);
    assert_eq!(
        (again.created, again.updated, again.unchanged, again.bonds_added, again.comments_added),
        (0, 0, 3, 0, 0)
    );
    assert_eq!(p.export(), text);
}

#[test]
fn a_rehearsal_tells_the_same_and_changes_nothing() {
    let mut p = Project::new();
    let told = p.try_import(BD, Tracker::Bd, true).unwrap();
    assert_eq!(p.count(), 0);
    assert_eq!(p.import(BD, Tracker::Bd), told);
}

#[test]
fn ids_of_the_other_tracker_find_their_atoms_in_every_verb() {
    let mut p = Project::new();
    p.import(BD, Tracker::Bd);
    let second = ops::resolve_id(&p.store, "bd-1.2").unwrap();
    assert!(second.starts_with("el-"));
    assert_eq!(ops::resolve_id(&p.store, "BD-1.2").unwrap(), second);
    assert!(matches!(
        ops::resolve_id(&p.store, "bd-1.").unwrap_err(),
        Error::Ambiguous { candidates, .. } if candidates.len() == 2
    ));
    assert!(
        matches!(ops::resolve_id(&p.store, "d-1.2").unwrap_err(), Error::NotFound { .. }),
        "never in the middle"
    );
    let ctx = p.person();
    ops::close(&mut p.store, &ctx, &["bd-1.2"], Some("done"), &Guard::default()).unwrap();
    let shown = ops::show(&p.store, "bd-1.2").unwrap();
    assert_eq!((shown.atom.status, shown.aliases[0].alias.as_str()), (Status::Closed, "bd-1.2"));
}

#[test]
fn what_was_done_here_stands_and_what_changed_there_comes() {
    let mut p = Project::new();
    p.import(BD, Tracker::Bd);
    let ctx = p.person();
    ops::close(&mut p.store, &ctx, &["bd-1.2"], Some("done here"), &Guard::default()).unwrap();
    let newer = BD
        .replace("\"title\":\"Second\"", "\"title\":\"Second, renamed\"")
        .replace("[\"api\"]", "[\"api\",\"web\"]");
    let told = p.import(&newer, Tracker::Bd);
    assert_eq!((told.updated, told.unchanged), (1, 2));
    let atom = ops::get_atom(&p.store, "bd-1.2").unwrap();
    assert_eq!(
        (atom.title.as_str(), atom.status, atom.labels.join(" ").as_str()),
        ("Second, renamed", Status::Closed, "api web")
    );
    let (_, events) = ops::history(&p.store, "bd-1.2").unwrap();
    let updated = events.iter().find(|e| e.kind.as_str() == "updated").unwrap();
    assert_eq!(updated.data["title"]["to"], "Second, renamed");
}

#[test]
fn of_two_changes_to_one_field_ours_stands_and_a_note_says_so() {
    for updated_at in ["2030-01-01T00:00:00Z", "2025-12-05T00:00:00Z"] {
        let mut p = Project::new();
        p.import(BD, Tracker::Bd);
        let ctx = p.person();
        let patch = AtomPatch { title: Some("Here".into()), ..AtomPatch::default() };
        ops::update(&mut p.store, &ctx, &["bd-1"], &patch, &Guard::default()).unwrap();
        let there = BD.replacen("Epic", "There", 1).replacen(
            "\"updated_at\":\"2025-12-01T00:00:00Z\"",
            &format!("\"updated_at\":\"{updated_at}\""),
            1,
        );
        let told = p.import(&there, Tracker::Bd);
        assert_eq!(ops::get_atom(&p.store, "bd-1").unwrap().title, "Here");
        assert!(
            told.notes.iter().any(|n| n.kind == NoteKind::Conflict && n.what.contains("title")),
            "{:?}",
            told.notes
        );
        // Somebody comments there later: the title that changed there before does not come back.
        let commented = there.replacen(updated_at, "2031-01-01T00:00:00Z", 1);
        p.import(&commented, Tracker::Bd);
        assert_eq!(ops::get_atom(&p.store, "bd-1").unwrap().title, "Here");
    }
}

#[test]
fn a_comment_that_was_edited_there_replaces_the_earlier_text() {
    let mut p = Project::new();
    p.import(BD, Tracker::Bd);
    let told = p.import(&BD.replace("\"text\":\"hello\"", "\"text\":\"hello, all\""), Tracker::Bd);
    assert_eq!((told.comments_added, told.comments_edited, told.updated), (0, 1, 1));
    let contents = |p: &Project| -> Vec<String> {
        let comments = ops::show(&p.store, "bd-1.1").unwrap().comments;
        comments.into_iter().map(|comment| comment.content).collect()
    };
    assert_eq!(contents(&p), ["hello, all"]);
    // Two clones gave two comments one id: both stay.
    let comment = concat!(
        r#"{"id":1,"issue_id":"bd-1.1","author":"ann","text":"hello","#,
        r#""created_at":"2025-12-02T00:00:00Z"}"#
    );
    let twice = BD.replace(comment, &format!("{comment},{}", comment.replace("hello", "other")));
    let mut p = Project::new();
    assert_eq!(p.import(&twice, Tracker::Bd).comments_added, 2);
    let again = p.import(&twice, Tracker::Bd);
    assert_eq!((again.comments_added, again.comments_edited), (0, 0));
    assert_eq!(contents(&p), ["hello", "other"]);
}

#[test]
fn an_issue_that_is_gone_from_the_file_stays_and_a_note_says_so() {
    let mut p = Project::new();
    p.import(BD, Tracker::Bd);
    let rest: String = BD.lines().take(2).map(|line| format!("{line}\n")).collect();
    let told = p.import(&rest, Tracker::Bd);
    let note = told.notes.iter().find(|note| note.what.contains("not in this file")).unwrap();
    assert_eq!((note.kind, note.count), (NoteKind::Remark, 1));
    assert!(note.places[0].starts_with("bd-1.2 ("), "{:?}", note.places);
    assert_eq!(ops::get_atom(&p.store, "bd-1.2").unwrap().status, Status::Open);
}

#[test]
fn a_bond_that_the_file_has_no_more_goes_and_one_that_was_removed_here_stays_away() {
    let mut p = Project::new();
    p.import(BD, Tracker::Bd);
    let bond = concat!(
        r#"{"issue_id":"bd-1.2","depends_on_id":"bd-1.1","type":"blocks","#,
        r#""created_at":"2025-12-02T00:00:00Z"},"#
    );
    let gone = BD.replace(bond, "");
    assert_eq!(p.import(&gone, Tracker::Bd).bonds_removed, 1);
    assert_eq!(p.import(BD, Tracker::Bd).bonds_added, 1);
    let ctx = p.person();
    ops::dep_remove(&mut p.store, &ctx, "bd-1.1", "bd-1.2", None).unwrap();
    assert_eq!(p.import(BD, Tracker::Bd).bonds_added, 0);
}

#[test]
fn bonds_that_cannot_be_are_left_out_kept_and_told() {
    let mut p = Project::new();
    let line = |id: &str, depends: &[(&str, &str)]| {
        let deps: Vec<String> = depends
            .iter()
            .map(|(on, kind)| {
                format!(r#"{{"issue_id":"{id}","depends_on_id":"{on}","type":"{kind}"}}"#)
            })
            .collect();
        format!(
            r#"{{"id":"{id}","title":"{id}","status":"open","dependencies":[{}]}}"#,
            deps.join(",")
        ) + "\n"
    };
    let text = line("bd-a", &[("bd-b", "blocks")])
        + &line("bd-b", &[("bd-a", "blocks"), ("bd-nowhere", "blocks")])
        + &line("bd-c", &[("bd-p", "parent-child")])
        // In bd an epic may wait for its own children; here that would hold both for ever.
        + &line("bd-p", &[("bd-c", "blocks"), ("bd-p", "related")]);
    let told = p.import(&text, Tracker::Bd);
    assert_eq!((told.created, told.bonds_added), (4, 1));
    let left: Vec<_> = told
        .notes
        .iter()
        .filter(|n| n.kind == NoteKind::LeftOut)
        .map(|n| (n.what.as_str(), n.count))
        .collect();
    assert_eq!(
        left,
        [
            ("a bond 'blocks' whose other end is nowhere", 1),
            ("a bond 'related' of an atom with itself", 1),
            ("a bond 'blocks' that would make an atom wait for itself", 2)
        ]
    );
    assert_eq!(ops::dep_check(&p.store).unwrap(), []);
    let kept = ops::get_atom(&p.store, "bd-b").unwrap().metadata["source"]["left_out"].clone();
    assert_eq!(kept.as_array().unwrap().len(), 2, "{kept}");
    assert_eq!(
        ops::show(&p.store, "bd-c").unwrap().atom.parent_id,
        Some(ops::resolve_id(&p.store, "bd-p").unwrap())
    );
    let again = p.import(&text, Tracker::Bd);
    assert_eq!((again.unchanged, again.bonds_added), (4, 0), "{:?}", again.notes);
}

#[test]
fn ids_of_another_project_are_not_mistaken_for_those_that_were_imported_before() {
    let mut p = Project::new();
    p.import(BD, Tracker::Bd);
    let other = BD.replace("2025-12-01T00:00:00Z", "2024-01-01T00:00:00Z");
    let error = p.try_import(&other, Tracker::Bd, false).unwrap_err();
    assert_eq!(error.code(), "other_project");
    let mut batch = exchange::read_records(other.as_bytes(), Tracker::Bd, "", &mut |_, _| {});
    batch.source = "bd:other".to_owned();
    let ctx = p.person();
    assert_eq!(
        ops::import(&mut p.store, &ctx, batch, &ops::ImportOptions::default(), &mut |_, _| {})
            .unwrap()
            .created,
        3
    );
    assert!(matches!(ops::resolve_id(&p.store, "bd-1.1").unwrap_err(), Error::Ambiguous { .. }));
}

#[test]
fn a_file_of_thousands_of_atoms_and_bonds_is_checked_as_a_whole() {
    let mut p = Project::new();
    let mut text = String::new();
    for n in 0..3_000 {
        let deps: Vec<String> = (1..4)
            .filter(|k| n >= *k)
            .map(|k| format!(r#"{{"depends_on_id":"x-{}","type":"blocks"}}"#, n - k))
            .collect();
        text.push_str(&format!(
            "{{\"id\":\"x-{n}\",\"title\":\"n {n}\",\"status\":\"open\",\"dependencies\":[{}]}}\n",
            deps.join(",")
        ));
    }
    let mut steps = Vec::new();
    let ctx = p.person();
    let mut lines: Vec<(usize, usize)> = Vec::new();
    let batch = exchange::read_records(text.as_bytes(), Tracker::Bd, "", &mut |at, of| {
        lines.push((at, of))
    });
    assert_eq!(lines.len(), 6);
    assert!(lines.is_sorted() && lines.iter().all(|(at, of)| at < of && *of == text.len()));
    let told =
        ops::import(&mut p.store, &ctx, batch, &ops::ImportOptions::default(), &mut |at, of| {
            steps.push((at, of))
        })
        .unwrap();
    assert_eq!((told.created, told.bonds_added), (3_000, 3 * 3_000 - 6));
    let total = 3 * 3_000 + 3 * 3_000 - 6;
    assert_eq!((steps.first(), steps.last()), (Some(&(0, total)), Some(&(total, total))));
    assert!(steps.len() > 30 && steps.is_sorted() && steps.iter().all(|(_, of)| *of == total));
    assert_eq!(p.ready().len(), 1);
    let Store { .. } = p.store;
}

#[test]
fn types_that_no_worker_may_take_are_held() {
    let mut p = Project::new();
    let text = concat!(
        r#"{"_type":"issue","id":"b-1","title":"Mail","status":"open","issue_type":"message","#,
        r#""sender":"ann"}"#,
        "\n",
        r#"{"_type":"issue","id":"b-2","title":"Template","status":"open","issue_type":"task","#,
        r#""is_template":true}"#,
        "\n",
        r#"{"_type":"issue","id":"b-3","title":"Note","status":"pinned"}"#,
        "\n",
        r#"{"_type":"memory","key":"k","value":"v"}"#,
        "\n",
    );
    let told = p.import(text, Tracker::Bd);
    assert_eq!((told.created, p.ready()), (3, vec![]));
    assert_eq!(ops::get_atom(&p.store, "b-2").unwrap().issue_type, IssueType::Formula);
    assert_eq!(ops::get_atom(&p.store, "b-1").unwrap().metadata["source"]["sender"], "ann");
    assert!(told.notes.iter().any(|n| n.what.contains("'memory'")));
}

#[test]
fn bonds_point_where_the_other_tracker_means_them() {
    let mut p = Project::new();
    let text = concat!(
        r#"{"id":"b-1","title":"One","status":"open"}"#,
        "\n",
        r#"{"id":"b-2","title":"Two","status":"open","dependencies":[{"depends_on_id":"b-1","#,
        r#""type":"discovered-from"},{"depends_on_id":"b-1","type":"duplicates"},"#,
        r#"{"depends_on_id":"b-1","type":"waits-for"},{"depends_on_id":"b-1","type":"tracks"}]}"#,
        "\n",
    );
    let told = p.import(text, Tracker::Bd);
    let (one, two) =
        (ops::resolve_id(&p.store, "b-1").unwrap(), ops::resolve_id(&p.store, "b-2").unwrap());
    let mut found: Vec<_> = ops::dep_all(&p.store)
        .unwrap()
        .into_iter()
        .map(|b| (b.dependency_type, b.source_id == one && b.target_id == two))
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            (BondKind::WaitsFor, true),
            (BondKind::Related, false),
            (BondKind::Duplicates, false),
            (BondKind::DiscoveredFrom, true)
        ]
    );
    assert!(
        told.notes.iter().any(|n| n.kind == NoteKind::Approximated && n.what.contains("tracks"))
    );
}
