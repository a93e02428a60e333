//! A server tells waiting workers of some changes, and is silent about the others.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use el_core::Listening;
use el_core::model::BondKind;
use el_core::ops::{self, Guard, NewAtom};

use crate::support::{Project, session};

const SOON: Duration = Duration::from_secs(90);

/// A project whose server tells, and what it told; `None`: a file tells nothing.
fn told() -> Option<(Project, Listening, Receiver<()>)> {
    let p = Project::new();
    let (tell, told) = channel();
    let listening = p.store.listen_for_work(move || {
        let _ = tell.send(());
    });
    assert_eq!(listening.is_some(), p.store.is_on_server());
    let listening = listening?;
    told.recv_timeout(SOON).unwrap();
    assert!(listening.is_connected());
    Some((p, listening, told))
}

/// An atom that is blocked by these, or blocks these, from its beginning.
fn bound(p: &mut Project, blocked_by: &[&str], blocks: &[&str]) -> String {
    let all = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    let new = NewAtom {
        title: "Bound".to_owned(),
        blocked_by: all(blocked_by),
        blocks: all(blocks),
        ..NewAtom::default()
    };
    let ctx = p.person();
    ops::create(&mut p.store, &ctx, &new).unwrap().id
}

/// Calls that make nothing ready are followed by one that does: just one message comes.
#[test]
fn a_server_tells_of_what_becomes_ready_and_of_nothing_else() {
    let Some((mut p, _listening, told)) = told() else { return };
    let ctx = p.person();
    let heard = |what: &str| {
        told.recv_timeout(SOON).unwrap_or_else(|_| panic!("{what} is not told"));
        assert!(told.try_recv().is_err(), "{what}: something else was told before");
    };
    let first = p.create("First");
    heard("an atom");
    let second = bound(&mut p, &[&first], &[]);
    ops::add_comment(&mut p.store, &ctx, &first, "A remark").unwrap();
    let claimed = p.claim().unwrap();
    assert_eq!(claimed.atom.id, first);
    let session = session(&claimed);
    let agent = el_core::Ctx { session: Some(&session), ..ctx };
    ops::close(&mut p.store, &agent, &[&first], None, &Guard::default()).unwrap();
    p.settle(&claimed.run.id, 0);
    heard("the end of a run before its dependant");
    let third = bound(&mut p, &[&second], &[]);
    ops::dep_add(&mut p.store, &ctx, &first, &third, BondKind::Related).unwrap();
    ops::close(&mut p.store, &ctx, &[&second], None, &Guard::default()).unwrap();
    heard("a close before a dependant");
    ops::close(&mut p.store, &ctx, &[&third], None, &Guard::default()).unwrap();
    ops::reopen(&mut p.store, &ctx, &[&third]).unwrap();
    heard("a reopened atom");
    let before = bound(&mut p, &[], &[&third]);
    heard("a blocker, which is ready itself");
    ops::dep_remove(&mut p.store, &ctx, &before, &third, None).unwrap();
    heard("a removed bond");
}

#[test]
fn the_end_of_a_pause_is_told() {
    let Some((mut p, _listening, told)) = told() else { return };
    for run in ["run-1", "run-1", "run-2", "run-2", "run-3"] {
        // Two workers may see the end of one run, which counts once.
        assert!(ops::current_pause(&p.store, p.now).unwrap().is_none());
        ops::count_empty_run(&mut p.store, p.now, run, true).unwrap();
    }
    assert!(ops::current_pause(&p.store, p.now).unwrap().is_some());
    assert!(told.try_recv().is_err(), "a pause is no reason to look");
    ops::resume(&mut p.store, p.now, false).unwrap();
    told.recv_timeout(SOON).unwrap();
}
