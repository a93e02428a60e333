//! The board: what needs a person, in which order, and what the rest is about.

use std::time::Duration;

use el_core::Ctx;
use el_core::model::{
    BondKind, Cost, EndKind, ExitRecord, Need, NeedKind, Priority, Progress, Status, Timestamp,
    Worker,
};
use el_core::ops::{self, AtomPatch, Beat, Board, ClaimedRun, Guard, LandingRecord};
use el_core::rules::retry::RetryPolicy;

use crate::support::{LEASE, Project, session};

mod held;

fn board(p: &Project) -> Board {
    ops::board(&p.store, 50, p.now, &|_: &Worker| true).unwrap()
}

fn kinds(board: &Board) -> Vec<(NeedKind, Option<&str>)> {
    board.needs.items.iter().map(|need| (need.kind, need.atom_id.as_deref())).collect()
}

fn set_status(p: &mut Project, id: &str, status: Status) {
    let patch = AtomPatch { status: Some(status), ..AtomPatch::default() };
    let ctx = p.person();
    ops::update(&mut p.store, &ctx, &[id], &patch, &Guard::default()).unwrap();
}

/// The agent of the atom comments on it and sets its status, then ends.
fn agent_leaves(p: &mut Project, status: Status, says: &str) -> String {
    let claimed = p.claim().unwrap();
    let credentials = session(&claimed);
    let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    ops::add_comment(&mut p.store, &ctx, &claimed.atom.id, says).unwrap();
    let patch = AtomPatch { status: Some(status), ..AtomPatch::default() };
    let id = claimed.atom.id.clone();
    ops::update(&mut p.store, &ctx, &[&id], &patch, &Guard::default()).unwrap();
    p.settle(&claimed.run.id, 0);
    id
}

#[test]
fn each_part_that_waits_is_one_entry_with_its_cause_and_the_way_out() {
    let mut p = Project::new();
    p.create("Which port?");
    let asked = agent_leaves(&mut p, Status::Deferred, "8080 or 9090?");
    p.create("Retry the upload");
    let handed = agent_leaves(&mut p, Status::Review, "tests pass");
    p.create("No access");
    let obstacle = agent_leaves(&mut p, Status::Blocked, "the key is missing");
    let quiet = p.create("Put off by a person");
    set_status(&mut p, &quiet, Status::Deferred);

    let found = board(&p);
    assert_eq!(
        kinds(&found),
        [
            (NeedKind::Question, Some(asked.as_str())),
            (NeedKind::Review, Some(handed.as_str())),
            (NeedKind::Blocked, Some(obstacle.as_str())),
        ]
    );
    let why: Vec<&str> = found.needs.items.iter().map(|need| need.why.as_str()).collect();
    assert_eq!(why[0], "claude: 8080 or 9090?");
    assert!(why[1].starts_with("handed over by claude, attempt 1"), "{}", why[1]);
    assert_eq!(why[2], "claude: the key is missing");
    for need in &found.needs.items {
        let id = need.atom_id.as_ref().unwrap();
        assert!(!need.ways.is_empty());
        assert!(need.ways.iter().all(|way| way.command.contains(id)), "{:?}", need.ways);
    }
    assert_eq!(found.needs.items[1].ways[0].command, format!("el approve {handed}"));

    let ctx = p.person();
    ops::approve(&mut p.store, &ctx, &[&handed], None).unwrap();
    ops::reopen(&mut p.store, &ctx, &[&asked]).unwrap();
    ops::retry(&mut p.store, &ctx, &obstacle).unwrap();
    let left: Vec<NeedKind> = board(&p).needs.items.iter().map(|need| need.kind).collect();
    assert_eq!(left, [NeedKind::NoWorker], "what was settled is no entry any more");
}

#[test]
fn used_up_attempts_and_denied_permissions_tell_their_causes() {
    let mut p = Project::new();
    let id = p.create("Install it");
    for attempt in 0..5 {
        let Some(claimed) = p.claim() else { break };
        assert!(attempt < 4);
        let mut exit = ExitRecord::new(&claimed.run.id, EndKind::Exited, p.now);
        exit.exit_code = Some(0);
        exit.denied_tools = vec!["Bash(npm install)".into()];
        let (ctx, policy) = (p.person(), RetryPolicy::default());
        ops::settle(&mut p.store, &ctx, &ops::Ending::new(&exit, &policy, 0.5), |_| None).unwrap();
        p.wait(Duration::from_secs(3600));
    }
    assert_eq!(ops::get_atom(&p.store, &id).unwrap().status, Status::Blocked);
    let found = board(&p);
    let need = &found.needs.items[0];
    assert_eq!((need.kind, need.attempts), (NeedKind::Denied, 2));
    assert!(need.why.contains("Bash(npm install)"), "{}", need.why);
    assert!(need.ways[0].command.contains(".allowed_tools 'Bash(npm install)'"));

    let other = p.create("Build it");
    let note = "the sandbox keeps /opt/x/y read-only; this opens its place: \
                el config set --add sandbox_write /opt/x";
    while let Some(claimed) = p.claim() {
        let mut exit = ExitRecord::new(&claimed.run.id, EndKind::Exited, p.now);
        exit.exit_code = Some(1);
        exit.sandbox_notes = vec!["it ran without a sandbox: none".into(), note.into()];
        let (ctx, policy) = (p.person(), RetryPolicy::default());
        ops::settle(&mut p.store, &ctx, &ops::Ending::new(&exit, &policy, 0.5), |_| None).unwrap();
        p.wait(Duration::from_secs(3600));
    }
    let found = board(&p);
    let need = found.needs.items.iter().find(|n| n.atom_id.as_deref() == Some(&other)).unwrap();
    assert_eq!((need.kind, need.why.as_str()), (NeedKind::Denied, note));
    assert_eq!(need.ways[0].command, "el config set --add sandbox_write /opt/x");

    let other = p.create("Crash");
    while let Some(claimed) = p.claim() {
        p.settle(&claimed.run.id, 7);
        p.wait(Duration::from_secs(3600));
    }
    let found = board(&p);
    let need = found.needs.items.iter().find(|n| n.atom_id.as_deref() == Some(&other)).unwrap();
    assert_eq!(need.kind, NeedKind::GaveUp);
    assert_eq!(need.why, "3 attempts; the last: the agent exited with code 7");
}

#[test]
fn within_a_class_the_decision_that_frees_more_comes_first() {
    let mut p = Project::new();
    let (small, large) = (p.create("frees one"), p.create("frees three"));
    for id in [&small, &large] {
        set_status(&mut p, id, Status::Review);
    }
    let ctx = p.person();
    let mut after = large.clone();
    for name in ["a", "b", "c"] {
        let next = p.create(name);
        ops::dep_add(&mut p.store, &ctx, &after, &next, BondKind::Blocks).unwrap();
        after = next;
    }
    let one = p.create("d");
    ops::dep_add(&mut p.store, &ctx, &small, &one, BondKind::Blocks).unwrap();
    let found = board(&p);
    let told: Vec<_> = found.needs.items.iter().map(|n| (n.title.as_str(), n.frees)).collect();
    assert_eq!(told, [("frees three", 3), ("frees one", 1)]);

    let patch = AtomPatch { priority: Some(Priority::new(0).unwrap()), ..AtomPatch::default() };
    ops::update(&mut p.store, &ctx, &[&one], &patch, &Guard::default()).unwrap();
    assert_eq!(board(&p).needs.items[0].title, "frees one", "an urgent atom weighs more");
}

#[test]
fn a_landing_that_failed_waits_until_one_succeeds() {
    let mut p = Project::new();
    let id = p.create("one");
    set_status(&mut p, &id, Status::Closed);
    let ctx = p.person();
    let mut record = LandingRecord {
        onto: "main",
        tip: "abc",
        outcome: "conflict",
        has_landed: false,
        detail: Some("src/net.rs"),
        conflict_atom: None,
    };
    ops::record_landing(&mut p.store, &ctx, &id, &record).unwrap();
    let found = board(&p);
    assert_eq!(kinds(&found), [(NeedKind::Conflict, Some(id.as_str()))]);
    assert_eq!(found.needs.items[0].why, "it is in conflict with main: src/net.rs");

    let mut with_branches = found.clone();
    let at = Timestamp::from_micros(0);
    let branch = |id: &str, obstacle| ops::BranchToLand {
        atom_id: id.to_owned(),
        title: format!("of {id}"),
        closed_at: at,
        obstacle,
    };
    let dirty = branch("el-3", Some("its worktree is not on its branch"));
    let branches = [branch(&id, None), branch("el-2", None), dirty];
    ops::add_branches(&mut with_branches, &branches);
    let told = |title: &str| {
        let need = with_branches.needs.items.iter().find(|need| need.title == title);
        need.map(|need| need.why.as_str())
    };
    assert_eq!(told("of el-2"), Some("its branch can be landed"));
    let why = "its branch cannot be landed yet: its worktree is not on its branch";
    assert_eq!((told("of el-3"), with_branches.needs.items.len()), (Some(why), 3));

    // An atom that resolves it is what to look at, for as long as it is not over.
    let resolving = p.create("Resolve it");
    let filed = LandingRecord { conflict_atom: Some(&resolving), ..record };
    ops::record_landing(&mut p.store, &ctx, &id, &filed).unwrap();
    let ways = |p: &Project| board(p).needs.items[0].ways[0].command.clone();
    assert_eq!(ways(&p), format!("el show {resolving}"));
    set_status(&mut p, &resolving, Status::Closed);
    assert_eq!(ways(&p), format!("el land {id}"));

    record = LandingRecord { outcome: "landed", has_landed: true, detail: None, ..record };
    ops::record_landing(&mut p.store, &ctx, &id, &record).unwrap();
    assert!(board(&p).needs.items.is_empty());
}

#[test]
fn what_runs_waits_and_is_done_is_told_with_its_reasons() {
    let mut p = Project::new();
    let (first, second) = (p.create("first"), p.create("second"));
    let ctx = p.person();
    ops::dep_add(&mut p.store, &ctx, &first, &second, BondKind::Blocks).unwrap();
    let claimed = p.claim().unwrap();
    let free = p.create("free");
    let progress = Progress { turns: 3, cost: Cost::reported(250_000), ..Progress::default() };
    let beat = Beat {
        run_id: &claimed.run.id,
        token: &claimed.run.token,
        now: p.now,
        lease: LEASE,
        active_at: Some(p.now),
        progress: &progress,
    };
    ops::extend_lease(&mut p.store, &beat).unwrap();
    let found = board(&p);
    let run = &found.running.items[0];
    assert_eq!((run.title.as_str(), run.turns, run.cost.cost_micros), ("first", 3, 250_000));
    assert_eq!(found.ready.items[0].id, free);
    assert_eq!((found.waiting.items[0].atom.id.as_str(), found.waiting.total), (&*second, 1));
    assert_eq!(found.waiting.items[0].holds.len(), 1);
    assert_eq!(found.spent_today_micros, 250_000);

    p.wait(Duration::from_secs(11 * 60));
    let found = board(&p);
    let silent = found.needs.items.iter().find(|need| need.kind == NeedKind::Silent).unwrap();
    assert_eq!(silent.run_id.as_deref(), Some(claimed.run.id.as_str()));

    set_status(&mut p, &free, Status::Closed);
    let found = board(&p);
    assert_eq!((found.done.items[0].atom.id.as_str(), found.done.total), (&*free, 1));
}

#[test]
fn a_cursor_tells_what_changed_and_nothing_twice() {
    let mut p = Project::new();
    let id = p.create("one");
    let seq = board(&p).seq;
    let none = ops::board_changes(&p.store, seq).unwrap();
    assert!(none.events.is_empty() && none.atoms.is_empty() && !none.reset);
    set_status(&mut p, &id, Status::Closed);
    let two = p.create("two");
    let changed = ops::board_changes(&p.store, seq).unwrap();
    let ids: Vec<&str> = changed.atoms.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, [&id, &two]);
    assert_eq!(changed.atoms[0].status, Status::Closed);
    assert!(ops::board_changes(&p.store, changed.seq).unwrap().events.is_empty());
    assert!(ops::board_changes(&p.store, changed.seq + 1).unwrap().reset, "of another tracker");
}

#[test]
fn an_answer_that_is_taken_back_leaves_the_question() {
    let mut p = Project::new();
    for (status, kind) in
        [(Status::Deferred, NeedKind::Question), (Status::Blocked, NeedKind::Blocked)]
    {
        p.create("Asks");
        let asked = agent_leaves(&mut p, status, "8080 or 9090?");
        let before = board(&p).needs;
        assert!(before.items.iter().any(|need| need.kind == kind));
        p.wait(Duration::from_secs(1));
        set_status(&mut p, &asked, Status::Open);
        p.wait(Duration::from_secs(1));
        let ctx = p.person();
        ops::undo(&mut p.store, &ctx, None, false).unwrap();
        let kinds = |needs: &[Need]| needs.iter().map(|need| need.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&board(&p).needs.items), kinds(&before.items), "{status}");
    }
}

/// The next atom is claimed, and its agent has cost so much so far.
fn begin(p: &mut Project, micros: i64) -> ClaimedRun {
    let claimed = p.claim().unwrap();
    let progress = Progress { cost: Cost::reported(micros), ..Progress::default() };
    let beat = Beat {
        run_id: &claimed.run.id,
        token: &claimed.run.token,
        now: p.now,
        lease: LEASE,
        active_at: Some(p.now),
        progress: &progress,
    };
    ops::extend_lease(&mut p.store, &beat).unwrap();
    claimed
}

/// An agent works on an atom for ten minutes, and closes it.
fn finish_one(p: &mut Project, micros: i64) {
    p.create("done before");
    let claimed = begin(p, micros);
    p.wait(Duration::from_secs(600));
    let credentials = session(&claimed);
    let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    ops::close(&mut p.store, &ctx, &[&claimed.atom.id], None, &Guard::default()).unwrap();
    p.settle(&claimed.run.id, 0);
}

#[test]
fn a_run_that_costs_far_more_than_others_needs_a_look() {
    let mut p = Project::new();
    (0..3).for_each(|_| finish_one(&mut p, 100_000));
    let (usual, dear) = (p.create("usual"), p.create("dear"));
    begin(&mut p, 300_000);
    begin(&mut p, 310_000);
    let found = board(&p);
    assert_eq!(kinds(&found), [(NeedKind::Costly, Some(dear.as_str()))], "not {usual}");
    assert_eq!(found.needs.items[0].why, "claude has cost $0.31 so far; such runs cost $0.10");
}

#[test]
fn a_person_may_go_until_a_run_usually_ends() {
    let mut p = Project::new();
    assert!(!board(&p).forecast.is_needed);
    (0..3).for_each(|_| finish_one(&mut p, 0));
    p.create("at work");
    begin(&mut p, 0);
    let forecast = board(&p).forecast;
    let minutes = |at: Timestamp| at.since(p.now).as_secs() / 60;
    // Nobody was asked for anything before: until all is done.
    assert_eq!(forecast.needed_at.map(minutes), Some(10));
    assert_eq!(forecast.runs_out.map(|out| minutes(out.at)), Some(10));
    let asked = p.create("asks");
    set_status(&mut p, &asked, Status::Review);
    let forecast = board(&p).forecast;
    assert_eq!((forecast.is_needed, forecast.needed_at), (true, None));
}

#[test]
fn two_runs_that_change_the_same_files_are_one_entry() {
    let mut p = Project::new();
    let (one, other) = (p.create("one"), p.create("other"));
    begin(&mut p, 0);
    begin(&mut p, 0);
    let mut found = board(&p);
    let files: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).into();
    let pair = (one.clone(), other.clone(), files);
    let gone = (one.clone(), "el-gone".to_owned(), vec!["a".to_owned()]);
    ops::add_overlaps(&mut found, &[pair, gone]);
    assert_eq!(kinds(&found), [(NeedKind::SameFiles, Some(one.as_str()))]);
    let want = format!("{other} changes the same files: a, b, c and 1 more");
    assert_eq!(found.needs.items[0].why, want);
    assert!(found.forecast.is_needed);
}

#[test]
fn what_others_changed_since_a_person_looked_is_new() {
    let mut p = Project::new();
    let (mine, theirs) = (p.create("mine"), p.create("theirs"));
    let looked = board(&p).seq;
    let ctx = p.person();
    ops::add_comment(&mut p.store, &ctx, &mine, "by me").unwrap();
    let other = Ctx { actor: "bob", ..p.person() };
    ops::add_comment(&mut p.store, &other, &theirs, "by bob").unwrap();
    let fresh = |p: &Project, looked| {
        let mut found = board(p);
        ops::mark_fresh(&p.store, &mut found, looked, ctx.actor).unwrap();
        found.fresh
    };
    assert_eq!(fresh(&p, Some(looked)), [theirs.as_str()]);
    assert!(fresh(&p, None).is_empty(), "who never looked is not told that all is new");
    assert!(fresh(&p, Some(99_999)).is_empty(), "nor is who looked at another tracker");
    let now = board(&p).seq;
    assert!(fresh(&p, Some(now)).is_empty());
    // A change by an agent in the person's name is news too.
    let claimed = p.claim().unwrap();
    let credentials = session(&claimed);
    let agent = Ctx { session: Some(&credentials), ..p.person() };
    ops::add_comment(&mut p.store, &agent, &claimed.atom.id, "by the agent").unwrap();
    assert_eq!(fresh(&p, Some(now)), [claimed.atom.id.as_str()]);
}
