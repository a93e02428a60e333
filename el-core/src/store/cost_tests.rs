//! What the hooks of agents ask does not grow with the project: counted in steps of SQLite's machine, which no busy computer changes.

use rusqlite::params;

use crate::model::Timestamp;
use crate::ops::{self, COUNTED};
use crate::{Ctx, Durability, Store};

const NOW: Timestamp = Timestamp::from_micros(1_764_000_000_000_000);

fn ctx() -> Ctx<'static> {
    Ctx { actor: "ann", session: None, now: NOW }
}

/// A project of so many atoms: of twenty, fifteen are closed, four ready and one in progress, claimed by a conversation of somebody else.
fn project(dir: &tempfile::TempDir, atoms: i64) -> Store {
    let path = dir.path().join(format!("{atoms}.db"));
    let mut store = Store::create(&path, "el", NOW).unwrap();
    let fill = "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1 - 1)
        INSERT INTO atoms (id, short, title, status, assignee, created_by, created_at, updated_at)
        SELECT 'el-' || n, n, 'Atom ' || n, iif(n % 20 = 0, 'in_progress', iif(n % 20 < 5, 'open', 'closed')),
          iif(n % 20 = 0, 'agent-' || n, NULL), 'ann', n, n FROM n";
    let claim = "INSERT INTO events (at, actor, kind, atom_id, data)
        SELECT 1, assignee, 'claimed', id, json_object('conversation', 'c-' || seq) FROM atoms WHERE status = 'in_progress'";
    store
        .write(|tx| {
            tx.execute(fill, params![atoms]).unwrap();
            tx.execute(claim, []).unwrap();
            Ok(())
        })
        .unwrap();
    drop(store);
    Store::open(&path, Durability::Normal).unwrap()
}

#[test]
fn what_a_hook_asks_costs_the_same_in_a_project_twenty_times_as_large() {
    let dir = tempfile::tempdir().unwrap();
    let cost = |atoms: i64| {
        let mut store = project(&dir, atoms);
        let begins = store.steps(|store| {
            let primed = ops::prime(store, &ctx(), 5).unwrap();
            assert_eq!((primed.ready.len(), primed.in_progress.len(), primed.ready_total), (5, 0, COUNTED.min(atoms / 5)));
        });
        let ends = store.steps(|store| assert!(!ops::has_unfinished(store, "c-none").unwrap()));
        (begins, ends)
    };
    let (small, large) = (cost(1_000), cost(20_000));
    assert!(large.0 * 10 <= small.0 * 11 && large.1 * 10 <= small.1 * 11, "steps at the start and the end: {small:?}, {large:?}");
}

#[test]
fn what_somebody_has_in_progress_is_found_without_a_look_at_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = project(&dir, 20_000);
    let mut mine = 0;
    let ctx = Ctx { actor: "agent-4000", ..ctx() };
    let steps = store.steps(|store| mine = ops::prime(store, &ctx, 5).unwrap().in_progress_total);
    assert_eq!(mine, 1);
    let nobody = store.steps(|store| drop(ops::prime(store, &Ctx { actor: "ann", ..ctx }, 5).unwrap()));
    assert!(steps < nobody + 300, "{steps} steps with one of a thousand, {nobody} with none");
}
