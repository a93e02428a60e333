//! Lists of all, and of an agent's queue.

use super::*;

#[test]
fn a_whole_list_costs_the_same_for_each_atom() {
    let cost = |atoms: i64| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = project(&dir, atoms);
        let all = ops::AtomFilter { include_over: true, ..ops::AtomFilter::default() };
        let mut count = 0;
        let steps = store.steps(|store| {
            let read = ops::list_lines(store, &all, ops::Sort::Priority, NOW, |next| {
                count += i64::from(matches!(next, ops::Streamed::Item(_)));
                Ok(())
            });
            read.unwrap();
        });
        assert_eq!(count, atoms);
        steps / u64::try_from(atoms).unwrap()
    };
    let (small, large) = (cost(1_000), cost(20_000));
    assert!(large * 10 <= small * 11 && large < 110, "{small} and {large} steps for an atom");
}

#[test]
fn a_queue_costs_nothing_for_the_tasks_of_others_that_wait_too() {
    let cost = |others: i64| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = queue_of_others(&dir, others);
        store.steps(|store| {
            let queues = ops::queue(store, &["ann".to_owned()], NOW, &|_| true).unwrap();
            assert_eq!((queues.len(), queues[0].waiting.len(), queues[0].held.len()), (1, 10, 0));
        })
    };
    let (small, large) = (cost(100), cost(20_000));
    assert!(large * 10 <= small * 11, "{small} steps, {large} with twenty thousand of others");
}

#[test]
fn a_ready_atom_costs_the_same_however_many_blockers_it_had() {
    let cost = |blockers: i64| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = filled(&dir, SMALL);
        let bonds = "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
            INSERT INTO bonds (target_id, source_id, kind, created_at)
            SELECT a.id, 'el-f' || n, 'blocks', 0 FROM n, atoms a WHERE a.status = 'open'";
        // While there is such a bond, it is asked for.
        let waits = "INSERT INTO bonds (target_id, source_id, kind, created_at)
            VALUES ('el-f1', 'el-f2', 'waits_for', 0)";
        store
            .write(|tx| {
                tx.execute(bonds, params![blockers]).unwrap();
                tx.execute(waits, []).unwrap();
                Ok(())
            })
            .unwrap();
        let any = ops::AtomFilter::default();
        store.steps(|store| {
            let page = ops::ready(store, &any, ops::Sort::Priority, None, 0, NOW).unwrap();
            assert_eq!(page.items.len(), 100);
        })
    };
    let (few, many) = (cost(1), cost(40));
    assert_eq!(few, many, "steps with two and with forty-one blockers that are over");
}
