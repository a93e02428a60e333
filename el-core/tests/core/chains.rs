//! Graphs that wait for themselves, epics among them, and chains so long that anything worse than
//! linear time would be seen.

use std::time::Instant;

use el_core::model::{Atom, BondKind, IssueType};
use el_core::ops::{self, AtomFilter, AtomPatch, GraphIssue, Guard, NewAtom, Sort};

use crate::support::Project;

fn raw(p: &Project) -> rusqlite::Connection {
    rusqlite::Connection::open(p.dir.path().join("el.db")).unwrap()
}

fn epic(p: &mut Project, title: &str) -> String {
    let ctx = p.person();
    let new = NewAtom {
        title: title.to_owned(),
        issue_type: Some(IssueType::Epic),
        ..NewAtom::default()
    };
    ops::create(&mut p.store, &ctx, &new).unwrap().id
}

fn add(p: &mut Project, source: &str, target: &str, kind: BondKind) -> Result<(), String> {
    let ctx = p.person();
    ops::dep_add(&mut p.store, &ctx, source, target, kind).map(drop).map_err(|e| e.to_string())
}

#[test]
fn an_epic_that_blocks_what_is_in_it_is_refused() {
    let mut p = Project::new();
    let (outer, inner) = (epic(&mut p, "outer"), epic(&mut p, "inner"));
    let (child, other) = (p.create("child"), p.create("other"));
    add(&mut p, &outer, &inner, BondKind::ParentChild).unwrap();
    add(&mut p, &inner, &child, BondKind::ParentChild).unwrap();
    for kind in [BondKind::Blocks, BondKind::ConditionalBlocks, BondKind::WaitsFor] {
        for above in [&inner, &outer] {
            let refused = add(&mut p, above, &child, kind).unwrap_err();
            assert!(refused.contains("cycle"), "{refused}");
        }
    }
    // By way of another atom, and of another epic.
    add(&mut p, &outer, &other, BondKind::Blocks).unwrap();
    assert!(add(&mut p, &other, &child, BondKind::Blocks).unwrap_err().contains("cycle"));
    let second = epic(&mut p, "second");
    let member = p.create("member of the second");
    add(&mut p, &second, &member, BondKind::ParentChild).unwrap();
    add(&mut p, &outer, &member, BondKind::Blocks).unwrap();
    assert!(add(&mut p, &second, &child, BondKind::Blocks).unwrap_err().contains("cycle"));
    // By moving a parent in, and by becoming an epic.
    let free = p.create("free");
    add(&mut p, &inner, &free, BondKind::Blocks).unwrap();
    assert!(add(&mut p, &inner, &free, BondKind::ParentChild).unwrap_err().contains("cycle"));
    let (task, below) = (p.create("task"), p.create("below"));
    add(&mut p, &task, &below, BondKind::ParentChild).unwrap();
    add(&mut p, &task, &below, BondKind::Blocks).unwrap();
    let ctx = p.person();
    let patch = AtomPatch { issue_type: Some(IssueType::Epic), ..AtomPatch::default() };
    let refused = ops::update(&mut p.store, &ctx, &[&task], &patch, &Guard::default()).unwrap_err();
    assert_eq!(refused.code(), "cycle");
    assert_eq!(ops::dep_check(&p.store).unwrap(), []);
    assert!(p.ready().contains(&child));
}

#[test]
fn the_check_finds_an_epic_that_blocks_what_is_in_it() {
    let mut p = Project::in_file();
    let (outer, child) = (epic(&mut p, "outer"), p.create("child"));
    add(&mut p, &outer, &child, BondKind::ParentChild).unwrap();
    raw(&p)
        .execute(
            "INSERT INTO bonds (target_id, source_id, kind, created_at) VALUES (?1, ?2, ?3, 0)",
            [&child, &outer, "blocks"],
        )
        .unwrap();
    let found = ops::dep_check(&p.store).unwrap();
    let [GraphIssue::Cycle { path }] = &found[..] else { panic!("{found:?}") };
    assert!(path.len() == 3 && path.contains(&child) && path.contains(&outer), "{path:?}");
}

/// Atoms `c-0`, `c-1`, …, each below the one before or blocked by it.
fn chain(p: &Project, length: i64, bond: bool) {
    let conn = raw(p);
    conn.execute(
        "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1 - 1)
         INSERT INTO atoms (id, short, title, parent_id, created_by, created_at, updated_at)
         SELECT 'el-c' || n, 'c' || n, 'Atom', iif(?2 OR n = 0, NULL, 'el-c' || (n - 1)), 'ann', \
         n, n
         FROM n",
        rusqlite::params![length, bond],
    )
    .unwrap();
    if bond {
        conn.execute(
            "INSERT INTO bonds (target_id, source_id, kind, created_at)
             SELECT 'el-c' || (created_at + 1), id, 'blocks', 0 FROM atoms
             WHERE created_at < ?1 - 1 AND id LIKE 'el-c%'",
            [length],
        )
        .unwrap();
    }
}

/// How many seconds that takes: such a chain took minutes when the time grew with its square.
fn seconds(work: impl FnOnce()) -> u64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs()
}

#[test]
fn a_chain_of_five_thousand_parents_is_read_in_linear_time() {
    let p = Project::in_file();
    chain(&p, 5_000, false);
    let last = "el-c4999";
    let took = seconds(|| {
        assert_eq!(p.ready().len(), 5_000);
        raw(&p).execute("UPDATE atoms SET status = 'blocked' WHERE id = 'el-c0'", []).unwrap();
        assert_eq!(p.ready(), Vec::<String>::new());
        let why = ops::explain(&p.store, last, p.now).unwrap();
        assert_eq!(why.holds.len(), 1, "{:?}", why.holds);
        assert_eq!(ops::dep_check(&p.store).unwrap(), []);
    });
    assert!(took < 10, "{took} s");
}

#[test]
fn a_chain_of_epics_is_listed_in_linear_time() {
    let p = Project::in_file();
    chain(&p, 2_000, false);
    raw(&p).execute("UPDATE atoms SET issue_type = 'epic' WHERE id LIKE 'el-c%'", []).unwrap();
    let filter = AtomFilter::default();
    let took = seconds(|| {
        let all = ops::list(&p.store, &filter, Sort::Priority, None, 0, p.now).unwrap().items;
        let all: Vec<&Atom> = all.iter().collect();
        let waits = ops::waits(&p.store, &all, p.now, &|_| true).unwrap();
        assert!(waits.len() == 2_000 && waits.iter().all(Vec::is_empty));
        let held = ops::waiting(&p.store, &filter, Sort::Priority, None, 0, p.now, &|_| true);
        assert_eq!(held.unwrap().total, 0);
    });
    assert!(took < 10, "{took} s");
}

#[test]
fn a_chain_of_twenty_thousand_bonds_is_checked_in_linear_time() {
    let mut p = Project::in_file();
    chain(&p, 20_000, true);
    let took = seconds(|| {
        assert_eq!(ops::dep_check(&p.store).unwrap(), []);
        let refused = add(&mut p, "el-c19999", "el-c0", BondKind::Blocks).unwrap_err();
        assert!(refused.contains("el-c0 → el-c1 → ") && refused.contains("(20000 atoms)"));
        assert!(refused.len() < 300, "{refused}");
        raw(&p)
            .execute(
                "INSERT INTO bonds (target_id, source_id, kind, created_at)
                 VALUES ('el-c0', 'el-c19999', 'blocks', 0)",
                [],
            )
            .unwrap();
        let found = ops::dep_check(&p.store).unwrap();
        let [GraphIssue::Cycle { path }] = &found[..] else { panic!("{} issues", found.len()) };
        assert_eq!(path.len(), 20_001);
    });
    assert!(took < 20, "{took} s");
}
