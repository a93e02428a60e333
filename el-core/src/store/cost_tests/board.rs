use super::NOW;
use crate::store::engine::params;
use crate::{Store, ops};

pub(super) fn show_board(store: &Store) -> ops::Board {
    ops::board(store, 50, NOW, &|_| true).unwrap()
}

/// A project with as many atoms in each part of the board, and fifty runs.
fn crowded(dir: &tempfile::TempDir, atoms: i64) -> Store {
    let path = dir.path().join(format!("crowd-{atoms}.db"));
    let mut store = Store::create(&path, "el", NOW).unwrap();
    let fill = "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1 - 1)
        INSERT INTO atoms (id, short, title, status, status_by_run, issue_type, parent_id,
          created_by, created_at, updated_at, closed_at)
        SELECT 'el-f' || n, 'f' || n, 'Atom ' || n,
          CASE n % 8 WHEN 0 THEN 'review' WHEN 1 THEN 'blocked' WHEN 2 THEN 'deferred'
            WHEN 3 THEN 'closed' WHEN 4 THEN 'deferred' ELSE 'open' END,
          iif(n % 8 = 2, 'run-x', NULL), iif(n % 800 = 4, 'epic', 'task'),
          iif(n % 8 = 5, 'el-f4', NULL), 'ann', n, n, iif(n % 8 = 3, n, NULL) FROM n";
    let bonds = "INSERT INTO bonds (target_id, source_id, kind, created_at)
        SELECT 'el-f' || (seq - 1), 'el-f' || (seq - 7), 'blocks', 0 FROM atoms
        WHERE seq % 8 = 7";
    let runs = "INSERT INTO runs (id, atom_id, attempt, agent, executor, token, workdir,
          started_at, heartbeat_at, lease_until)
        SELECT 'run-' || seq, id, 1, 'bob', 'command', 't' || seq, '/', 0, 0, 0 FROM atoms
        WHERE seq % 8 = 0 LIMIT 50";
    let failed = "INSERT INTO events (at, actor, kind, atom_id, data)
        SELECT seq, 'ann', 'land_failed', id, json_object('onto', 'main', 'fate', 'conflict')
        FROM atoms WHERE status = 'closed'";
    store
        .write(|tx| {
            tx.execute(fill, params![atoms]).unwrap();
            for sql in [bonds, runs, failed] {
                tx.execute(sql, []).unwrap();
            }
            Ok(())
        })
        .unwrap();
    store
}

#[test]
fn the_board_costs_the_same_however_much_waits() {
    let dir = tempfile::tempdir().unwrap();
    let cost = |atoms: i64| {
        let mut store = crowded(&dir, atoms);
        store.steps(|store| {
            let board = show_board(store);
            assert_eq!((board.needs.items.len(), board.running.total), (50, 50));
            assert!(board.ready.capped && board.waiting.capped && board.needs.capped);
        })
    };
    let (small, large) = (cost(16_000), cost(100_000));
    assert!(large * 10 <= small * 11, "{small} steps, {large} with more than six times as much");
    // Fifty million steps are a second.
    assert!(large <= 1_000_000, "{large} steps");
}
