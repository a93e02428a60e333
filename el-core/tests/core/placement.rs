//! The needs of atoms, and the claims of workers that offer them or not.

use el_core::model::{Need, Stamp, Takes, Worker};
use el_core::ops::{self, AtomFilter, AtomPatch, ClaimRequest, Guard, NewAtom};
use el_core::rules::ready::Hold;

use crate::support::{Project, request};

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn needy(p: &mut Project, needs: &[&str]) -> String {
    let ctx = p.person();
    let new = NewAtom { title: "Needs it".into(), needs: texts(needs), ..NewAtom::default() };
    ops::create(&mut p.store, &ctx, &new).unwrap().id
}

fn claim(p: &mut Project, offers: &[&str]) -> Option<String> {
    let filter = AtomFilter { offers: Some(texts(offers)), ..AtomFilter::default() };
    let ctx = p.person();
    let request = ClaimRequest { filter, ..request() };
    ops::claim_run(&mut p.store, &ctx, &request).unwrap().map(|claimed| claimed.atom.id)
}

fn worker(id: &str, offers: &[&str]) -> Worker {
    let now = el_core::model::Timestamp::from_micros(1);
    Worker {
        id: id.to_owned(),
        name: None,
        process: Stamp { pid: 1, start: 1, boot: "b".to_owned() },
        agent: "claude".to_owned(),
        agents: texts(&["claude"]),
        takes: Takes::All,
        offers: texts(offers),
        concurrency: 1,
        started_at: now,
        heartbeat_at: now,
        load_milli: None,
        stop_requested: false,
    }
}

#[test]
fn a_claim_passes_by_what_needs_more_than_is_offered() {
    let mut p = Project::new();
    let (both, gpu) = (needy(&mut p, &["macos", "gpu", "gpu"]), needy(&mut p, &["gpu"]));
    let plain = p.create("plain");
    assert_eq!(ops::get_atom(&p.store, &both).unwrap().needs, ["gpu", "macos"]);
    assert_eq!(claim(&mut p, &["tpu"]), Some(plain));
    assert_eq!(claim(&mut p, &[]), None);
    assert_eq!(claim(&mut p, &["tpu", "gpu"]), Some(gpu));
    assert_eq!(claim(&mut p, &["gpu"]), None);
    assert_eq!(claim(&mut p, &["gpu", "macos"]), Some(both));
    // A claim that says nothing of offers is a person's.
    let last = needy(&mut p, &["gpu"]);
    assert_eq!(p.claim().unwrap().atom.id, last);
}

#[test]
fn a_worker_without_work_knows_what_lies_beyond_its_offers() {
    let mut p = Project::new();
    let (gpu, other) = (needy(&mut p, &["gpu"]), needy(&mut p, &["gpu", "tpu"]));
    let agents = [("claude".to_owned(), None)];
    let view = |p: &Project, offers: &[&str]| {
        let filter = AtomFilter { offers: Some(texts(offers)), ..AtomFilter::default() };
        ops::worker_view(&p.store, ("w1", None), &agents, &filter, p.now).unwrap()
    };
    let idle = view(&p, &[]);
    assert_eq!((idle.beyond.atoms, idle.beyond.needs), (2, texts(&["gpu", "tpu"])));
    assert!(!idle.agents[0].has_ready);
    // Not looked for while there is something to do.
    assert_eq!(view(&p, &["gpu"]).beyond.atoms, 0);
    let ctx = p.person();
    let taken = AtomPatch { assignee: Some(Some("bob".to_owned())), ..AtomPatch::default() };
    ops::update(&mut p.store, &ctx, &[&gpu], &taken, &Guard::default()).unwrap();
    let emptied = AtomPatch { needs: Some(Vec::new()), ..AtomPatch::default() };
    ops::update(&mut p.store, &ctx, &[&other], &emptied, &Guard::default()).unwrap();
    assert!(view(&p, &[]).agents[0].has_ready);
}

#[test]
fn what_no_worker_offers_waits_and_is_ready_all_the_same() {
    let mut p = Project::new();
    let atom = needy(&mut p, &["gpu", "macos"]);
    let held = |p: &Project| {
        let explained = ops::explain_placed(&p.store, &atom, p.now, &|_| true).unwrap();
        assert!(explained.ready);
        let board = ops::board(&p.store, 10, p.now, &|_| true).unwrap();
        let waits = ops::waiting(
            &p.store,
            &AtomFilter::default(),
            ops::Sort::Priority,
            None,
            0,
            p.now,
            &|_| true,
        )
        .unwrap();
        assert_eq!(waits.total, board.waiting.total);
        let is_told = |need: &Need| need.title.starts_with("No worker offers");
        assert_eq!(board.needs.items.iter().any(is_told), waits.total == 1);
        explained.holds
    };
    let needs = |words: &[&str]| vec![Hold::Needs { needs: texts(words) }];
    assert_eq!(held(&p), needs(&["gpu", "macos"]));
    assert_eq!(p.ready(), [atom.as_str()]);
    ops::worker_join(&mut p.store, &worker("w1", &["gpu"])).unwrap();
    assert_eq!(held(&p), needs(&["macos"]));
    ops::worker_join(&mut p.store, &worker("w2", &["macos"])).unwrap();
    assert_eq!(held(&p), needs(&["gpu", "macos"]), "each is offered, and not by one worker");
    ops::worker_join(&mut p.store, &worker("w3", &["gpu", "macos", "tpu"])).unwrap();
    assert_eq!(held(&p), []);
    let queue = ops::queue(&p.store, &texts(&["claude"]), p.now, &|worker| worker.id != "w3");
    let queue = queue.unwrap().remove(0);
    assert_eq!((queue.queued_tasks, queue.held[0].task_id.as_str()), (0, atom.as_str()));
}
