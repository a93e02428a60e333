//! A service that is out of order holds the claims of its account, longer each time.

use std::time::Duration;

use el_core::model::{EndKind, ExitRecord, Fault, Progress, Timestamp};
use el_core::ops::{self, ClaimRequest, Ending};
use el_core::rules::retry::RetryPolicy;
use el_core::{Ctx, Error};

use crate::support::{Project, request};

const ACCOUNT: &str = "a";

/// Claims an atom; `None`: claiming is paused.
fn claim(p: &mut Project) -> Option<String> {
    let request = ClaimRequest { account: Some(ACCOUNT.to_owned()), ..request() };
    let ctx = Ctx { actor: "claude", ..p.person() };
    match ops::claim_run(&mut p.store, &ctx, &request) {
        Err(Error::Paused { .. }) => None,
        claimed => Some(claimed.unwrap().expect("an atom is ready").run.id),
    }
}

/// The service answers a run, which then ends, by an outage or not. Returns until when it is left
/// alone.
fn end_answered(p: &mut Project, run: &str, fault: Option<Fault>) -> Option<Timestamp> {
    let mut exit = ExitRecord::new(run, EndKind::Exited, p.now);
    exit.account = Some(ACCOUNT.to_owned());
    exit.exit_code = Some(1);
    exit.fault = fault;
    let progress = Progress { turns: 3, tokens_out: 300, ..Progress::default() };
    let (ctx, policy) = (p.person(), RetryPolicy::default());
    let ending = Ending { progress: Some(&progress), ..Ending::new(&exit, &policy, 0.5) };
    ops::settle(&mut p.store, &ctx, &ending, |_| None).unwrap();
    ops::known_pause(&p.store, ACCOUNT).unwrap().and_then(|known| known.until)
}

#[test]
fn a_service_that_answers_and_fails_again_is_left_alone_for_longer_each_time() {
    let mut p = Project::new();
    for n in 0..3 {
        p.create(&format!("atom {n}"));
    }
    for seconds in [30, 60, 120] {
        let run = claim(&mut p).unwrap();
        let until = end_answered(&mut p, &run, Some(Fault::Outage)).unwrap();
        assert_eq!(until, p.now.plus(Duration::from_secs(seconds)));
        assert_eq!(claim(&mut p), None);
        p.wait(Duration::from_secs(seconds + 5));
    }
    // A run that comes to its end is proof that the service is back.
    let run = claim(&mut p).unwrap();
    assert_eq!(end_answered(&mut p, &run, None), None);
    let run = claim(&mut p).unwrap();
    let until = end_answered(&mut p, &run, Some(Fault::Outage)).unwrap();
    assert_eq!(until, p.now.plus(Duration::from_secs(30)));
}
