//! The cost of what agents' hooks ask does not grow with the project, and that of a plan's status
//! no faster than the plan: counted in steps of SQLite's machine, which no busy computer changes.

use std::time::Duration;

use super::engine::params;
use serde_json::json;

use crate::model::{IssueType, Priority, Timestamp};
use crate::ops::{self, Begin, COUNTED, Goal, PlanSettings};
use crate::rules::orchestrate::Question;
use crate::{Ctx, Durability, Store};

mod again;
mod board;
mod ends;
mod lists;
mod pages;
mod series;

use board::show_board;

const NOW: Timestamp = Timestamp::from_micros(1_764_000_000_000_000);

fn ctx() -> Ctx<'static> {
    Ctx { actor: "ann", session: None, now: NOW }
}

/// A project of so many atoms: of twenty, fifteen are closed, four ready and one in progress,
/// claimed by a conversation of somebody else.
fn project(dir: &tempfile::TempDir, atoms: i64) -> Store {
    let path = dir.path().join(format!("{atoms}.db"));
    let mut store = Store::create(&path, "el", NOW).unwrap();
    let fill = "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1 - 1)
        INSERT INTO atoms (id, short, title, status, assignee, created_by, created_at, updated_at)
        SELECT 'el-' || n, n, 'Atom ' || n, iif(n % 20 = 0, 'in_progress', iif(n % 20 < 5, 'open',
        'closed')),
          iif(n % 20 = 0, 'agent-' || n, NULL), 'ann', n, n FROM n";
    let claim = "INSERT INTO events (at, actor, kind, atom_id, data)
        SELECT 1, assignee, 'claimed', id, json_object('conversation', 'c-' || seq) FROM atoms
        WHERE status = 'in_progress'";
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
            assert_eq!(
                (primed.ready.len(), primed.in_progress.len(), primed.ready_total),
                (5, 0, COUNTED.min(atoms / 5))
            );
        });
        let ends = store.steps(|store| assert!(!ops::has_unfinished(store, "c-none").unwrap()));
        (begins, ends)
    };
    let (small, large) = (cost(1_000), cost(20_000));
    assert!(
        large.0 * 10 <= small.0 * 11 && large.1 * 10 <= small.1 * 11,
        "steps at the start and the end: {small:?}, {large:?}"
    );
}

#[test]
fn what_is_ready_is_counted_no_further_than_a_page_needs() {
    let cost = |atoms: i64| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = project(&dir, atoms);
        let look = |store: &Store, offset| {
            let any = ops::AtomFilter::default();
            let page = ops::ready(store, &any, ops::Sort::Priority, Some(5), offset, NOW).unwrap();
            (page.items.len(), page.total, page.is_capped)
        };
        let many = atoms / 5;
        assert_eq!(look(&store, 1_500), (5, 1_505, true), "what was seen counts");
        assert_eq!(look(&store, many - 3), (3, many, false), "the last page knows all");
        assert_eq!(look(&store, many + 9), (0, many, false), "so does one behind the last");
        store.steps(|store| assert_eq!(look(store, 0), (5, ops::READY_COUNTED, true)))
    };
    let (small, large) = (cost(10_000), cost(40_000));
    assert!(large * 10 <= small * 11, "steps of a page: {small}, {large}");
}

#[test]
fn a_search_with_a_limit_ranks_the_newest_matches_and_the_titles() {
    let cost = |atoms: i64| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = project(&dir, atoms);
        let by_title = "UPDATE atoms SET title = 'A pelican', description = 'pelicans'
            WHERE seq = (SELECT min(seq) FROM atoms)";
        let by_text = "UPDATE atoms SET description = 'about a pelican' || id
            WHERE seq > (SELECT min(seq) FROM atoms)";
        store
            .write(|tx| {
                tx.execute(by_text, []).unwrap();
                tx.execute(by_title, []).unwrap();
                Ok(())
            })
            .unwrap();
        let search = |store: &Store| ops::search(store, "pelican", true, Some(3)).unwrap();
        let page = search(&store);
        assert_eq!(page.items[0].title, "A pelican", "the oldest atom, by its title");
        assert_eq!((page.items.len(), page.is_capped), (3, true));
        assert_eq!(ops::search(&store, "pelican", true, None).unwrap().total, atoms);
        store.steps(|store| drop(search(store)))
    };
    let (small, large) = (cost(5_000), cost(20_000));
    assert!(large * 10 <= small * 11, "steps of a search: {small}, {large}");
}

#[test]
fn what_somebody_has_in_progress_is_found_without_a_look_at_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = project(&dir, 20_000);
    let mut mine = 0;
    let ctx = Ctx { actor: "agent-4000", ..ctx() };
    let steps = store.steps(|store| mine = ops::prime(store, &ctx, 5).unwrap().in_progress_total);
    assert_eq!(mine, 1);
    let nobody =
        store.steps(|store| drop(ops::prime(store, &Ctx { actor: "ann", ..ctx }, 5).unwrap()));
    assert!(steps < nobody + 400, "{steps} steps with one of a thousand, {nobody} with none");
}

/// A queue of so many atoms that are ready and assigned to somebody else, and behind them ten for
/// anybody and ten for `ann`.
fn queue_of_others(dir: &tempfile::TempDir, atoms: i64) -> Store {
    let mut store = project(dir, 0);
    let fill = "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1 + 19)
        INSERT INTO atoms (id, short, title, assignee, created_by, created_at, updated_at)
        SELECT 'el-q' || n, 'q' || n, 'Atom', iif(n < ?1, 'bob', iif(n % 2 = 0, 'ann', NULL)),
        'ann', n, n FROM n";
    store.write(|tx| Ok(tx.execute(fill, params![atoms]).unwrap())).unwrap();
    store
}

#[test]
fn what_is_assigned_to_others_costs_nobody_who_looks_for_work() {
    let cost = |atoms: i64| {
        let dir = tempfile::tempdir().unwrap();
        let mut store = queue_of_others(&dir, atoms);
        let begins = store.steps(|store| {
            let primed = ops::prime(store, &ctx(), 5).unwrap();
            let found: Vec<_> =
                primed.ready.iter().map(|atom| atom.created_at.as_micros() - atoms).collect();
            assert_eq!(
                (found, primed.ready_total),
                (vec![0, 1, 2, 3, 4], 20),
                "one's own and nobody's, in one order"
            );
        });
        let mine = |whose| ops::AtomFilter { assignee: Some(whose), ..ops::AtomFilter::default() };
        let mut look = |whose: ops::AssigneeFilter, many: i64| {
            store.steps(|store| {
                let found =
                    ops::ready(store, &mine(whose), ops::Sort::Priority, Some(1), 0, NOW).unwrap();
                assert_eq!((found.items.len(), found.total), (1, many));
            })
        };
        [
            begins,
            look(ops::AssigneeFilter::Is("ann".into()), 10),
            look(ops::AssigneeFilter::Nobody, 10),
        ]
    };
    let (small, large) = (cost(100), cost(20_000));
    for (small, large) in small.into_iter().zip(large) {
        assert!(
            large * 10 <= small * 11,
            "steps: {small} with a hundred before them, {large} with twenty thousand"
        );
    }
}

#[test]
fn a_plans_status_grows_with_its_tasks_and_no_faster() {
    let cost = |tasks: usize| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("el.db");
        let mut store = Store::create(&path, "el", NOW).unwrap();
        let settings = PlanSettings { tasks_max: tasks, ..PlanSettings::default() };
        let begin =
            Begin { goal: Goal::Words("Write the manual".into()), settings, budget_usd: None };
        let epic = ops::begin_orchestration(&mut store, &ctx(), &begin).unwrap().id;
        // Layers of twenty; each task waits for two of the layer before.
        let list: Vec<_> = (0..tasks)
            .map(|n| {
                let before: Vec<String> =
                    [20, 21].iter().filter(|d| n >= **d).map(|d| format!("t{}", n - d)).collect();
                json!({
                    "id": format!("t{n}"), "title": format!("Chapter {n}"), "description": "d",
                    "dependencies": before,
                })
            })
            .collect();
        ops::supply_answer(
            &mut store,
            &ctx(),
            &epic,
            Question::TaskList,
            &json!({ "tasks": list }),
            false,
        )
        .unwrap();
        ops::advance(&mut store, &ctx(), &epic, true, Duration::ZERO).unwrap();
        let layers = tasks.div_ceil(20);
        store.steps(|store| {
            let overview = ops::plan_overview(store, &epic).unwrap();
            assert_eq!(
                (overview.tasks.len(), overview.tasks[tasks - 1].layer + 1),
                (tasks, layers)
            );
        })
    };
    let (small, large) = (cost(100), cost(1_000));
    assert!(large <= small * 11, "{small} steps for 100 tasks, {large} for 1000");
    // It was 153 for each task when this was written; one more question for each would be seen
    // here.
    assert!(large <= 1_000 * 190, "{large} steps for 1000 tasks");
}

/// How many rows a project has beside what its verbs are about: all of them closed, or of what is
/// closed.
#[derive(Clone, Copy)]
struct Size {
    atoms: i64,
    bonds: i64,
    events: i64,
    runs: i64,
}

const SMALL: Size = Size { atoms: 1_000, bonds: 1_000, events: 1_000, runs: 1_000 };

/// A project with a hundred ready atoms, a run that lives, and as much else.
fn filled(dir: &tempfile::TempDir, size: Size) -> Store {
    let mut store = project(dir, 0);
    let count = "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1 - 1)";
    let atoms = "INSERT INTO atoms
        (id, short, title, status, created_by, created_at, updated_at, closed_at)
        SELECT 'el-f' || n, 'f' || n, 'Atom ' || n, 'closed', 'ann', n, n, n FROM n";
    let bonds = "INSERT INTO bonds (target_id, source_id, kind, created_at)
        SELECT 'el-f' || (n % ?2), 'el-f' || ((n + 1 + n / ?2) % ?2), 'blocks', n FROM n";
    let events = "INSERT INTO events (at, actor, kind, atom_id)
        SELECT n, 'ann', 'updated', 'el-f' || (n % ?2) FROM n";
    let runs = "INSERT INTO runs (id, atom_id, attempt, agent, executor, token, workdir,
          started_at, heartbeat_at, lease_until, ended_at, outcome)
        SELECT 'run-f' || n, 'el-f' || (n % ?2), 1, 'bob', 'command', 'f' || n, '/', n, n, n, n,
          'closed' FROM n";
    let ready = "INSERT INTO atoms (id, short, title, created_by, created_at, updated_at)
        SELECT 'el-r' || n, 'r' || n, 'Ready', 'ann', n, n FROM n";
    store
        .write(|tx| {
            tx.execute(&format!("{count} {atoms}"), params![size.atoms]).unwrap();
            for (sql, rows) in [(bonds, size.bonds), (events, size.events), (runs, size.runs)] {
                tx.execute(&format!("{count} {sql}"), params![rows, size.atoms]).unwrap();
            }
            tx.execute(&format!("{count} {ready}"), params![100]).unwrap();
            let live = "INSERT INTO runs (id, atom_id, attempt, agent, executor, token, workdir,
                started_at, heartbeat_at, lease_until)
                VALUES ('run-live', 'el-live', 1, 'bob', 'command', 'live', '/', 0, 0, 0)";
            tx.execute(live, []).unwrap();
            let worked_on = "INSERT INTO atoms
                (id, short, title, status, created_by, created_at, updated_at)
                VALUES ('el-live', 'live', 'Live', 'in_progress', 'ann', 0, 0)";
            tx.execute(worked_on, []).unwrap();
            Ok(())
        })
        .unwrap();
    store
}

/// Returns the cost of each verb that agents and hooks call all day, in a project of that size.
fn hot_verbs(size: Size) -> Vec<(&'static str, u64)> {
    let dir = tempfile::tempdir().unwrap();
    let mut store = filled(&dir, size);
    let any = ops::AtomFilter::default();
    let new = || ops::NewAtom { title: "new".into(), ..ops::NewAtom::default() };
    let patch =
        || ops::AtomPatch { priority: Some(Priority::new(1).unwrap()), ..Default::default() };
    let guard = ops::Guard::default();
    let claim = ops::ClaimNext { claim: true, ..ops::ClaimNext::default() };
    let all = ops::RunFilter { limit: Some(5), ..ops::RunFilter::default() };
    let of_one = ops::RunFilter { atom: Some("el-r0".into()), ..ops::RunFilter::default() };
    vec![
        ("show", store.steps(|s| drop(ops::show(s, "el-r0").unwrap()))),
        ("why", store.steps(|s| drop(ops::explain(s, "el-r0", NOW).unwrap()))),
        ("ready", store.steps(|s| drop(ops::ready(s, &any, ops::Sort::Priority, Some(5), 0, NOW)))),
        ("list", store.steps(|s| drop(ops::list(s, &any, ops::Sort::Priority, Some(5), 0, NOW)))),
        ("prime", store.steps(|s| drop(ops::prime(s, &ctx(), 5).unwrap()))),
        ("queue", store.steps(|s| drop(ops::queue(s, &[], NOW, &|_| true).unwrap()))),
        ("history", store.steps(|s| drop(ops::history(s, "el-r0").unwrap()))),
        ("runs", store.steps(|s| drop(ops::runs(s, &of_one).unwrap()))),
        ("runs live", store.steps(|s| drop(ops::live_runs(s).unwrap()))),
        ("board", store.steps(|s| assert_eq!(show_board(s).ready.total, 100))),
        ("board's changes", store.steps(|s| drop(ops::board_changes(s, 0).unwrap()))),
        ("create", store.steps(|s| drop(ops::create(s, &ctx(), &new()).unwrap()))),
        ("next", store.steps(|s| drop(ops::claim_next(s, &ctx(), &Default::default()).unwrap()))),
        ("claim", store.steps(|s| assert!(ops::claim_next(s, &ctx(), &claim).unwrap().is_some()))),
        (
            "update",
            store.steps(|s| {
                drop(ops::update(s, &ctx(), &["el-r9"], &patch(), &guard).unwrap());
            }),
        ),
        (
            "close",
            store.steps(|s| {
                drop(ops::close(s, &ctx(), &["el-r8"], None, &guard).unwrap());
            }),
        ),
        ("newest runs", store.steps(|s| assert_eq!(ops::runs(s, &all).unwrap().items.len(), 5))),
    ]
}

/// Verbs that say how many runs there are count them, from an index.
const COUNTS_RUNS: &str = "newest runs";

#[test]
fn no_hot_verb_grows_with_any_table() {
    let small = hot_verbs(SMALL);
    let larger = [
        ("atoms", Size { atoms: 20_000, ..SMALL }),
        ("bonds", Size { bonds: 20_000, ..SMALL }),
        ("events", Size { events: 20_000, ..SMALL }),
        ("runs", Size { runs: 20_000, ..SMALL }),
    ];
    let mut grown = Vec::new();
    for (table, size) in larger {
        for ((verb, small), (_, large)) in small.iter().zip(hot_verbs(size)) {
            if large * 10 > small * 11 && !(*verb == COUNTS_RUNS && table == "runs") {
                grown.push(format!("{verb}: {small} steps, {large} with twenty times the {table}"));
            }
        }
    }
    assert!(grown.is_empty(), "{grown:#?}");
}

#[test]
fn to_close_the_last_task_of_an_epic_costs_the_same_however_much_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let cost = |open: i64| {
        let path = dir.path().join(format!("open-{open}.db"));
        let mut store = Store::create(&path, "el", NOW).unwrap();
        let fill = "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
            INSERT INTO atoms (id, short, title, status, issue_type, parent_id, created_by,
              created_at, updated_at)
            SELECT 'el-f' || n, 'f' || n, 'Atom', CASE n % 3 WHEN 0 THEN 'blocked' ELSE 'open' END,
              iif(n % 10 = 0, 'epic', 'task'), iif(n % 10 = 0, NULL, 'el-f' || (n - n % 10)),
              'ann', n, n FROM n";
        store.write(|tx| Ok(tx.execute(fill, params![open]).unwrap())).unwrap();
        let new = |title: &str| ops::NewAtom { title: title.into(), ..ops::NewAtom::default() };
        let epic = ops::NewAtom { issue_type: Some(IssueType::Epic), ..new("Epic") };
        let epic = ops::create(&mut store, &ctx(), &epic).unwrap().id;
        let task = ops::NewAtom { parent: Some(epic.clone()), ..new("Last") };
        let task = ops::create(&mut store, &ctx(), &task).unwrap().id;
        let waits = ops::NewAtom { blocked_by: vec![task.clone()], ..new("Waits") };
        let waits = ops::create(&mut store, &ctx(), &waits).unwrap().id;
        // The questions that the command asks before and after count, too.
        store.steps(|store| {
            assert_eq!(ops::show(store, &task).unwrap().dependencies.outgoing.len(), 1);
            ops::close(store, &ctx(), &[&task], None, &ops::Guard::default()).unwrap();
            assert!(ops::explain(store, &waits, NOW).unwrap().ready);
            let offered = ops::finished_among(store, &[epic.clone(), waits.clone()]).unwrap();
            assert_eq!(offered.iter().map(|atom| &atom.id).collect::<Vec<_>>(), [&epic]);
        })
    };
    let (small, large) = (cost(1_000), cost(20_000));
    assert!(large * 10 <= small * 11, "{small} steps, {large} with twenty times as much open");
}
