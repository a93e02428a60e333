//! Delegated tasks: the queue, one task at a time, cancelling.

mod checks;

use std::time::Duration;

use el_core::model::{CancelMode, EndKind, ExitRecord, Outcome, Stamp, Takes, TaskStatus, Worker};
use el_core::ops::{self, ClaimRequest, Delegated, Ending, Guard, NewAtom, NewTask, TaskFilter};
use el_core::rules::retry::RetryPolicy;
use el_core::{Ctx, Error};

use crate::support::{Project, request, session};

fn new_task(agent: &str, prompt: &str) -> NewTask {
    NewTask { agent: agent.to_owned(), prompt: prompt.to_owned(), ..NewTask::default() }
}

fn hand_over(p: &mut Project, new: &NewTask) -> Delegated {
    p.wait(Duration::from_millis(1));
    let ctx = p.person();
    ops::delegate(&mut p.store, &ctx, new, &[], &|_| true).unwrap()
}

fn for_agent(agent: &str, limit: usize) -> ClaimRequest {
    ClaimRequest { agent: agent.to_owned(), agent_limit: Some(limit), ..request() }
}

fn worker(id: &str, agents: &[&str], takes: Takes) -> Worker {
    let now = el_core::model::Timestamp::from_micros(1);
    Worker {
        id: id.to_owned(),
        process: Stamp { pid: 1, start: 1, boot: "b".to_owned() },
        agent: agents[0].to_owned(),
        agents: agents.iter().map(|a| (*a).to_owned()).collect(),
        takes,
        concurrency: 1,
        started_at: now,
        heartbeat_at: now,
        stop_requested: false,
        name: None,
        offers: Vec::new(),
        load_milli: None,
    }
}

fn end(p: &mut Project, run: &str) -> Outcome {
    let mut exit = ExitRecord::new(run, EndKind::Exited, p.now);
    exit.exit_code = Some(0);
    let ctx = p.person();
    let policy = RetryPolicy::default();
    let ending = Ending {
        output: "last\nlines",
        error_lines: "error: none",
        ..Ending::new(&exit, &policy, 0.5)
    };
    ops::settle(&mut p.store, &ctx, &ending, |_| None).unwrap().outcome
}

#[test]
fn an_agent_does_one_thing_at_a_time_whichever_workers_ask() {
    let mut p = Project::new();
    for n in 0..3 {
        hand_over(&mut p, &new_task("gendry", &format!("Task {n}")));
    }
    let ctx = p.person();
    let first = ops::claim_run(&mut p.store, &ctx, &for_agent("gendry", 1)).unwrap().unwrap();
    let mut other = p.reopen();
    let asked = ClaimRequest { worker_id: "w2".to_owned(), ..for_agent("gendry", 1) };
    assert_eq!(ops::claim_run(&mut other, &ctx, &asked).unwrap(), None, "gendry is busy");
    assert!(
        ops::claim_run(&mut other, &ctx, &ClaimRequest { agent_limit: Some(2), ..asked })
            .unwrap()
            .is_some(),
        "its settings say two"
    );
    ops::close(&mut p.store, &ctx, &[&first.atom.id], None, &Guard::default()).unwrap();
    assert!(
        ops::claim_run(&mut p.store, &ctx, &for_agent("gendry", 1)).unwrap().is_none(),
        "until its runs have ended"
    );
    end(&mut p, &first.run.id);
    assert_eq!(
        ops::claim_run(&mut p.store, &ctx, &for_agent("gendry", 1)).unwrap(),
        None,
        "the second one still runs"
    );
    assert!(ops::claim_run(&mut p.store, &ctx, &for_agent("gendry", 2)).unwrap().is_some());
}

#[test]
fn a_worker_of_several_agents_takes_the_best_atom_of_those_that_are_free() {
    let mut p = Project::new();
    let low = hand_over(&mut p, &new_task("ada", "low")).task.id;
    let urgent =
        NewTask { priority: Some("urgent".parse().unwrap()), ..new_task("gendry", "urgent") };
    let urgent = hand_over(&mut p, &urgent).task.id;
    p.create("for anyone");
    let ctx = p.person();
    let both = || [for_agent("ada", 1), for_agent("gendry", 1)];
    let first = ops::claim_best(&mut p.store, &ctx, &both()).unwrap().unwrap();
    assert_eq!((first.atom.id, first.run.agent.as_str()), (urgent, "gendry"));
    let second = ops::claim_best(&mut p.store, &ctx, &both()).unwrap().unwrap();
    assert_eq!((second.atom.id, second.run.agent.as_str()), (low, "ada"));
    assert_eq!(ops::claim_best(&mut p.store, &ctx, &both()).unwrap(), None, "both are busy");
    let (_, events) = ops::history(&p.store, &first.run.atom_id).unwrap();
    assert_eq!(events.last().unwrap().actor, "gendry");
}

#[test]
fn a_worker_that_counted_as_gone_signs_on_again() {
    let mut p = Project::new();
    let it = worker("w1", &["gendry"], Takes::All);
    ops::worker_join(&mut p.store, &it).unwrap();
    ops::worker_leave(&mut p.store, "w1").unwrap();
    for load in [Some(500), None] {
        ops::worker_beat(&mut p.store, &it, p.now, load).unwrap();
        let all = ops::list_workers(&p.store).unwrap();
        let found: Vec<_> = all.iter().map(|w| (&*w.id, w.heartbeat_at, w.load_milli)).collect();
        assert_eq!(found, [("w1", p.now, load)]);
    }
}

#[test]
fn a_task_says_its_place_and_what_it_waits_for() {
    let mut p = Project::new();
    ops::worker_join(&mut p.store, &worker("w1", &["gendry"], Takes::All)).unwrap();
    let first = hand_over(&mut p, &new_task("gendry", "# First\nmore"));
    assert_eq!(
        (first.task.title.as_str(), first.task.status, first.queue.position),
        ("First", TaskStatus::Queued, Some(1))
    );
    assert!(first.queue.executing.is_empty() && first.queue.is_served);
    let ctx = p.person();
    let running = ops::claim_run(&mut p.store, &ctx, &for_agent("gendry", 1)).unwrap().unwrap();
    let second = hand_over(&mut p, &new_task("gendry", "second"));
    let urgent =
        NewTask { priority: Some("urgent".parse().unwrap()), ..new_task("gendry", "urgent") };
    let urgent = hand_over(&mut p, &urgent);
    assert_eq!(
        (urgent.queue.position, urgent.queue.ahead.len()),
        (Some(1), 0),
        "urgent comes first"
    );
    assert_eq!(urgent.queue.executing[0].run_id, running.run.id);
    let last = hand_over(&mut p, &new_task("gendry", "last"));
    let ahead: Vec<_> = last.queue.ahead.iter().map(|t| t.task_id.clone()).collect();
    assert_eq!(
        (last.queue.position, ahead),
        (Some(3), vec![urgent.task.id.clone(), second.task.id.clone()])
    );
    let held = NewTask { blocked_by: vec![second.task.id.clone()], ..new_task("gendry", "held") };
    let held = hand_over(&mut p, &held);
    assert_eq!((held.queue.position, held.queue.holds.len()), (None, 1));
    // Atoms of nobody, which a worker takes too, count wherever a place is told.
    let ctx = p.person();
    let now = "now".to_owned();
    let new =
        NewAtom { title: now, priority: Some("urgent".parse().unwrap()), ..NewAtom::default() };
    let of_nobody = ops::create(&mut p.store, &ctx, &new).unwrap().id;
    let place = |p: &Project, there: bool| {
        ops::task_position(&p.store, &last.task, p.now, &|_| there).unwrap()
    };
    assert_eq!((place(&p, true), place(&p, false)), (Some(4), Some(3)));
    ops::close(&mut p.store, &ctx, &[of_nobody], None, &Guard::default()).unwrap();

    let queue =
        ops::queue(&p.store, &["gendry".to_owned(), "idle".to_owned()], p.now, &|_| true).unwrap();
    let gendry = serde_json::to_value(&queue[0]).unwrap();
    assert_eq!(
        (&gendry["is_executing"], &gendry["queued_tasks"], &gendry["agent_name"]),
        (&true.into(), &3.into(), &"gendry".into())
    );
    assert_eq!(gendry["current_task_id"], running.atom.id.as_str());
    assert_eq!(queue[0].held[0].task_id, held.task.id);
    assert_eq!(
        (queue[1].is_executing, queue[1].current_task_id.as_deref(), queue[1].is_served),
        (false, None, false)
    );
}

#[test]
fn a_worker_that_leaves_and_a_task_that_comes_never_miss_each_other() {
    let mut p = Project::new();
    let agents = ["gendry".to_owned()];
    let filter = ops::AtomFilter::default();
    ops::worker_join(&mut p.store, &worker("w1", &["gendry"], Takes::Assigned)).unwrap();
    let task = hand_over(&mut p, &new_task("gendry", "just in time"));
    assert!(task.queue.is_served);
    assert!(
        !ops::worker_leave_if_idle(&mut p.store, "w1", &agents, &filter, p.now).unwrap(),
        "it stays for that"
    );
    let ctx = p.person();
    ops::cancel_task(&mut p.store, &ctx, &task.task.id, None).unwrap();
    assert!(ops::worker_leave_if_idle(&mut p.store, "w1", &agents, &filter, p.now).unwrap());
    assert!(
        !hand_over(&mut p, &new_task("gendry", "too late")).queue.is_served,
        "whoever hands over now starts a worker"
    );
}

#[test]
fn only_a_live_worker_that_takes_everything_can_be_relied_on() {
    let mut p = Project::new();
    let served = |p: &mut Project, is_there: bool| {
        let ctx = p.person();
        ops::delegate(&mut p.store, &ctx, &new_task("gendry", "x"), &[], &|_| is_there)
            .unwrap()
            .queue
            .is_served
    };
    ops::worker_join(&mut p.store, &worker("w1", &["gendry"], Takes::Some)).unwrap();
    ops::worker_join(&mut p.store, &worker("w2", &["ada"], Takes::All)).unwrap();
    assert!(!served(&mut p, true));
    ops::worker_join(&mut p.store, &worker("w3", &["ada", "gendry"], Takes::All)).unwrap();
    assert!(served(&mut p, true));
    assert!(!served(&mut p, false), "its process is gone");
    ops::worker_retires(&mut p.store, "w3").unwrap();
    assert!(!served(&mut p, true), "it is about to leave");
}

#[test]
fn only_those_on_the_list_may_hand_over() {
    let mut p = Project::new();
    let ctx = p.person();
    let allowed = ["gendry".to_owned()];
    let refused = ops::delegate(&mut p.store, &ctx, &new_task("claude", "x"), &allowed, &|_| true)
        .unwrap_err();
    assert!(
        matches!(refused, Error::Refused(_)) && refused.to_string().contains("ann"),
        "{refused}"
    );
    let gendry = Ctx { actor: "gendry", ..ctx };
    ops::delegate(&mut p.store, &gendry, &new_task("claude", "x"), &allowed, &|_| true).unwrap();
    // In a session, what counts is whose run it is, not the name that it gives itself.
    let claimed = p.claim().unwrap();
    let credentials = session(&claimed);
    let inside = Ctx { session: Some(&credentials), ..gendry };
    let refused =
        ops::delegate(&mut p.store, &inside, &new_task("claude", "x"), &allowed, &|_| true)
            .unwrap_err();
    assert!(refused.to_string().contains("claude may not"), "{refused}");
    let task =
        ops::delegate(&mut p.store, &inside, &new_task("ada", "x"), &[], &|_| true).unwrap().task;
    assert_eq!(task.delegated_by.as_deref(), Some("claude"));
}

#[test]
fn a_prompt_of_any_size_reaches_the_agent_whole() {
    let mut p = Project::new();
    let prompt = format!("Begin\n{}\nthe very end", "many words\n".repeat(300_000));
    assert!(prompt.len() > 3_000_000);
    let id = hand_over(&mut p, &new_task("claude", &prompt)).task.id;
    let claimed = p.claim().unwrap();
    assert_eq!(claimed.atom.id, id);
    let context = ops::build_context(&p.store, &claimed.run, None).unwrap().render();
    assert!(context.len() > prompt.len() && context.contains("the very end"));
    let ctx = p.person();
    let blank =
        ops::delegate(&mut p.store, &ctx, &new_task("claude", " \n"), &[], &|_| true).unwrap_err();
    assert!(matches!(blank, Error::Invalid { field: "prompt", .. }), "{blank}");
}

#[test]
fn a_task_is_called_off_whether_it_waits_or_runs() {
    let mut p = Project::new();
    let running = hand_over(&mut p, &new_task("claude", "running")).task.id;
    let waiting = hand_over(&mut p, &new_task("claude", "waiting")).task.id;
    let claimed = p.claim().unwrap();
    let ctx = p.person();
    let off = ops::cancel_task(&mut p.store, &ctx, &waiting, Some("not needed")).unwrap();
    assert_eq!((off.was, off.task.status), (TaskStatus::Queued, TaskStatus::Cancelled));
    assert_eq!(
        ops::cancel_task(&mut p.store, &ctx, &waiting, None).unwrap().task.status,
        TaskStatus::Cancelled,
        "once more is no error"
    );
    let off = ops::cancel_task(&mut p.store, &ctx, &claimed.run.id, None).unwrap();
    assert_eq!(
        (off.was, off.task.id.as_str(), off.task.status),
        (TaskStatus::Running, running.as_str(), TaskStatus::Running)
    );
    assert_eq!(
        ops::get_run(&p.store, &claimed.run.id).unwrap().cancel_requested,
        Some(CancelMode::Hold)
    );
    let exit = ExitRecord::new(&claimed.run.id, EndKind::Cancelled, p.now);
    let policy = RetryPolicy::default();
    ops::settle(&mut p.store, &ctx, &Ending::new(&exit, &policy, 0.5), |_| None).unwrap();
    assert_eq!(ops::get_task(&p.store, &running).unwrap().status, TaskStatus::Cancelled);
    assert!(p.claim().is_none(), "nothing of it is taken up again by itself");
    ops::retry(&mut p.store, &ctx, &waiting).unwrap();
    assert_eq!(p.claim().unwrap().atom.id, waiting);
    ops::close(&mut p.store, &ctx, &[&running], None, &Guard::default()).unwrap();
    assert_eq!(ops::cancel_task(&mut p.store, &ctx, &running, None).unwrap_err().code(), "over");
}

#[test]
fn what_is_recorded_of_a_task_is_in_its_row() {
    let mut p = Project::new();
    let id = hand_over(&mut p, &new_task("claude", "Do it")).task.id;
    let ended = hand_over(&mut p, &new_task("gendry", "other")).task.id;
    let claimed = p.claim().unwrap();
    ops::set_agent_pid(&mut p.store, &claimed.run.id, &claimed.run.token, 4711).unwrap();
    let ctx = p.person();
    ops::cancel_task(&mut p.store, &ctx, &ended, None).unwrap();
    let page = ops::list_tasks(&p.store, &TaskFilter::default()).unwrap();
    assert_eq!(
        page.items.iter().map(|t| t.id.as_str()).collect::<Vec<_>>(),
        [&id, &ended],
        "what runs comes first"
    );
    assert_eq!(page.items[0].pid, Some(4711));
    ops::close(&mut p.store, &ctx, &[&id], Some("All done"), &Guard::default()).unwrap();
    end(&mut p, &claimed.run.id);
    let row = serde_json::to_value(ops::get_task(&p.store, &claimed.run.id).unwrap()).unwrap();
    for (key, want) in [
        ("id", id.as_str()),
        ("agent", "claude"),
        ("task_prompt", "Do it"),
        ("workdir", "/tmp"),
        ("status", "completed"),
        ("output", "last\nlines"),
        ("error_lines", "error: none"),
        ("result_summary", "All done"),
    ] {
        assert_eq!(row[key], want, "{key}");
    }
    assert_eq!((&row["exit_code"], &row["pid"]), (&0.into(), &serde_json::Value::Null));
    assert!(row["started_at"].is_string() && row["completed_at"].is_string());
    let only = TaskFilter { statuses: vec![TaskStatus::Cancelled], ..TaskFilter::default() };
    assert_eq!(ops::list_tasks(&p.store, &only).unwrap().total, 1);
}
