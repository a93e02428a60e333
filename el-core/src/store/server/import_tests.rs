//! An import asks a server few questions, and leaves the same rows as in a file.

use std::path::Path;

use super::super::engine::Database;
use super::super::{ServerAddress, Store, transfer};
use crate::exchange::{self, Tracker};
use crate::model::Timestamp;
use crate::ops::{self, ImportOptions, Imported};
use crate::{Ctx, model};

/// How many issues; each but the first waits for the one before.
const ISSUES: usize = 600;

/// Issues of bd, of which every tenth comes before its epic, with labels and comments.
fn issues(title: &str, comment: &str, is_done: bool) -> String {
    let line = |n: usize| {
        let is_each = |nth: usize| n.is_multiple_of(nth);
        let status = if is_done && is_each(7) { "closed" } else { "open" };
        let kind = if is_each(50) { "epic" } else { "task" };
        let mut bonds = Vec::new();
        if n > 1 && !is_each(50) && !(n - 1).is_multiple_of(50) {
            bonds.push(("blocks", n - 1));
        }
        if !is_each(50) && is_each(10) {
            bonds.push(("parent-child", n.next_multiple_of(50)));
        }
        let bonds: Vec<_> = bonds
            .into_iter()
            .map(|(kind, on)| {
                serde_json::json!({ "issue_id": format!("bd-{n}"), "type": kind,
                    "depends_on_id": format!("bd-{on}"), "created_at": "2026-01-01T00:00:00Z" })
            })
            .collect();
        let comments = serde_json::json!([{ "id": n, "issue_id": format!("bd-{n}"),
            "author": "ann", "text": format!("{comment} {n}"),
            "created_at": "2026-01-02T00:00:00Z" }]);
        let no = serde_json::json!([]);
        let line = serde_json::json!({
            "id": format!("bd-{n}"), "title": format!("{title} {n}"), "status": status,
            "priority": n % 4, "issue_type": kind, "labels": [format!("part-{}", n % 9)],
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z",
            "dependencies": bonds, "comments": if is_each(3) { comments } else { no },
        });
        format!("{line}\n")
    };
    (1..=ISSUES).map(line).collect()
}

fn import(store: &mut Store, text: &str, tracker: Tracker) -> Imported {
    let batch = exchange::read_records(text.as_bytes(), tracker, "plan.md", &mut |_, _| {});
    assert_eq!(batch.bad, []);
    let ctx =
        Ctx { now: Timestamp::from_micros(2_000_000_000_000_000), actor: "ann", session: None };
    ops::import(store, &ctx, batch, &ImportOptions::default(), &mut |_, _| {}).unwrap()
}

fn count_questions(store: &Store) -> u64 {
    match &store.database {
        Database::Postgres(server) => server.count_questions(),
        Database::Sqlite(_) => 0,
    }
}

fn export(store: &Store) -> String {
    let mut out = Vec::new();
    let everything = ops::AtomFilter { include_over: true, ..ops::AtomFilter::default() };
    ops::export(store, &everything, &mut |piece| {
        exchange::write_jsonl(&mut out, &piece).unwrap();
        Ok::<(), crate::Error>(())
    })
    .unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn an_import_asks_a_server_few_questions_and_leaves_what_it_leaves_in_a_file() {
    let Ok(url) = std::env::var("EL_TEST_POSTGRES") else {
        eprintln!("skipped: scripts/with-postgres starts a server for it");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let now = Timestamp::from_micros(0);
    let file = |name: &str| Store::create(&dir.path().join(name), "el", now).unwrap();
    // An export has the ids of the atoms, so that both sides have the same.
    let exported = |text: &str| {
        let mut first = file("first.db");
        import(&mut first, &issues("Old", "said", false), Tracker::Bd);
        let old = export(&first);
        import(&mut first, text, Tracker::Bd);
        let new = export(&first);
        drop(first);
        std::fs::remove_file(dir.path().join("first.db")).unwrap();
        (old, new)
    };
    let (old, new) = exported(&issues("New", "meant", true));
    assert_ne!(old, new);
    let schema = model::fresh_uuid().replace('-', "_");
    let url = ServerAddress::new(&format!("{url}&options=-csearch_path%3Dt_{schema}"), []);
    let mut server = Store::create_on_server(&url, Path::new("/nowhere/el.db"), "el", now).unwrap();
    let mut here = file("here.db");
    for (text, most) in [(&old, 60), (&old, 40), (&new, 200)] {
        let before = count_questions(&server);
        let told = import(&mut server, text, Tracker::El);
        let asked = count_questions(&server) - before;
        assert_eq!(import(&mut here, text, Tracker::El), told);
        assert!(asked <= most, "{asked} questions: {told:?}");
        let contents = |store: &Store| store.read(transfer::digests).unwrap();
        let (server, here) = (contents(&server), contents(&here));
        assert_eq!(server, here);
    }
}
