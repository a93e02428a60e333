use super::{NOW, SMALL, Size, filled, project};
use crate::model::SeriesName;
use crate::store::engine::params;
use crate::{Store, ops};

fn cost_of_all(store: &mut Store) -> u64 {
    store.steps(|store| {
        for name in SeriesName::ALL {
            ops::series(store, *name, 30, 0, NOW).unwrap();
        }
    })
}

#[test]
fn what_is_older_than_a_series_costs_it_nothing() {
    let cost = |size| {
        let dir = tempfile::tempdir().unwrap();
        cost_of_all(&mut filled(&dir, size))
    };
    let small = cost(SMALL);
    for size in [
        Size { atoms: 20_000, ..SMALL },
        Size { runs: 20_000, ..SMALL },
        Size { events: 20_000, ..SMALL },
        Size { bonds: 20_000, ..SMALL },
    ] {
        let large = cost(size);
        assert!(large * 10 <= small * 11, "{small} steps, {large} with twenty times as much");
    }
}

#[test]
fn what_lies_within_the_time_of_a_series_is_bounded_too() {
    let cost = |rows: i64| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = project(&dir, 0);
        let count =
            "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1 - 1)";
        let atoms = "INSERT INTO atoms
            (id, short, title, status, created_by, created_at, updated_at, closed_at)
            SELECT 'el-f' || n, 'f' || n, 'Atom', 'closed', 'ann', ?2 - 9, ?2, ?2 FROM n";
        let runs = "INSERT INTO runs (id, atom_id, attempt, agent, executor, token, workdir,
              started_at, heartbeat_at, lease_until, ended_at, outcome, cost_micros)
            SELECT 'run-f' || n, 'el-f' || n, 1, 'bob', 'command', 'f' || n, '/', ?2, ?2, ?2, ?2,
              'closed', 5 FROM n";
        store
            .write(|tx| {
                for sql in [atoms, runs] {
                    let values = params![rows, NOW.as_micros()];
                    tx.execute(&format!("{count} {sql}"), values).unwrap();
                }
                Ok(())
            })
            .unwrap();
        let last = |name| {
            let found = ops::series(&store, name, 2, 0, NOW).unwrap();
            (found.truncated, found.items[1].values.clone())
        };
        let bound = Some(20_000);
        let (is_cut, done) = last(SeriesName::Done);
        assert_eq!((is_cut, done["closed"]), (true, bound));
        let (is_cut, firsts) = last(SeriesName::FirstAttempts);
        assert_eq!((is_cut, firsts["share"]), (true, Some(100)));
        cost_of_all(&mut store)
    };
    let (small, large) = (cost(20_000), cost(60_000));
    assert!(large * 10 <= small * 11, "{small} steps, {large} with three times as much");
    // Fifty million steps are a second, and these are ten series.
    assert!(large <= 20_000_000, "{large} steps");
}
