//! One set of rules ends an atom, whichever verb does.

use el_core::model::{EventKind, Status};
use el_core::ops::{self, AtomPatch, Guard};
use el_core::{Ctx, Error, Result};

use crate::support::Project;

#[derive(Debug, Clone, Copy)]
enum Verb {
    Own,
    Update,
}

/// Ends an atom by the verb of its own, or by `el update --status`.
fn end_by(
    p: &mut Project,
    ctx: &Ctx<'_>,
    verb: Verb,
    (id, status, reason): (&str, Status, Option<&str>),
    force: bool,
) -> Result<()> {
    let guard = Guard { force, ..Guard::default() };
    match (verb, status) {
        (Verb::Own, Status::Closed) => {
            ops::close(&mut p.store, ctx, &[id], reason, &guard).map(drop)
        }
        (Verb::Own, _) => ops::discard(&mut p.store, ctx, &[id], reason, force).map(drop),
        (Verb::Update, status) => {
            let reason = reason.map(str::to_owned);
            let patch = AtomPatch { status: Some(status), reason, ..AtomPatch::default() };
            ops::update(&mut p.store, ctx, &[id], &patch, &guard).map(drop)
        }
    }
}

const ROADS: [(Verb, Status); 5] = [
    (Verb::Own, Status::Closed),
    (Verb::Update, Status::Closed),
    (Verb::Own, Status::Discard),
    (Verb::Update, Status::Discard),
    (Verb::Update, Status::WontDo),
];

#[test]
fn the_first_reason_stands_and_another_becomes_a_comment() {
    for (verb, status) in ROADS {
        let mut p = Project::new();
        let ctx = p.person();
        let id = p.create("one");
        for reason in [Some("first"), Some("second"), Some("first"), None] {
            // Without a reason, an update that sets what is there changes nothing.
            end_by(&mut p, &ctx, verb, (&id, status, reason), false).unwrap();
        }
        let atom = ops::get_atom(&p.store, &id).unwrap();
        let (_, comments) = ops::list_comments(&p.store, &id).unwrap();
        assert_eq!(atom.close_reason.as_deref(), Some("first"), "{verb:?} {status}");
        let comments: Vec<_> = comments.iter().map(|c| c.content.as_str()).collect();
        assert_eq!(comments, ["second"], "{verb:?} {status}");
    }
}

#[test]
fn a_claim_is_taken_with_force_alone_and_its_loss_is_an_event() {
    for (verb, status) in ROADS {
        let mut p = Project::new();
        let ctx = p.person();
        let id = p.create("one");
        let other = Ctx { actor: "bob", ..p.person() };
        ops::claim(&mut p.store, &other, &id, false, None).unwrap();
        let refused = end_by(&mut p, &ctx, verb, (&id, status, None), false).unwrap_err();
        assert_eq!(refused.code(), "claimed", "{verb:?} {status}");
        end_by(&mut p, &ctx, verb, (&id, status, None), true).unwrap();
        let (_, events) = ops::history(&p.store, &id).unwrap();
        let released = events.iter().filter(|event| event.kind == EventKind::Released).count();
        assert_eq!(released, 1, "{verb:?} {status}: {events:?}");
        // The claimant's own end needs no force.
        let own = p.create("two");
        ops::claim(&mut p.store, &ctx, &own, false, None).unwrap();
        end_by(&mut p, &ctx, verb, (&own, status, None), false).unwrap();
    }
}

#[test]
fn an_atom_that_ended_otherwise_is_reopened_first_but_can_be_discarded() {
    for (verb, status) in ROADS {
        for ended in [Status::Closed, Status::WontDo, Status::Discard] {
            if ended == status {
                continue;
            }
            let mut p = Project::new();
            let ctx = p.person();
            let id = p.create("one");
            end_by(&mut p, &ctx, Verb::Update, (&id, ended, Some("first")), false).unwrap();
            let done = end_by(&mut p, &ctx, verb, (&id, status, None), false);
            match done {
                Ok(()) => assert_eq!(status, Status::Discard, "{ended}"),
                Err(error @ Error::Conflict { .. }) => {
                    assert_eq!((error.code(), status == Status::Discard), ("over", false));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}
