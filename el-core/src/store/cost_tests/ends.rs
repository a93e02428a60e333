//! The end of a run.

use super::*;
use crate::model::{EndKind, ExitRecord};
use crate::ops::{ClaimRequest, Ending, NewAtom};
use crate::rules::retry::RetryPolicy;
use crate::store::run;

#[test]
fn the_end_of_a_run_reads_its_row_twice() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(&dir.path().join("el.db"), "el", NOW).unwrap();
    let new = NewAtom { title: "One".to_owned(), ..NewAtom::default() };
    ops::create(&mut store, &ctx(), &new).unwrap();
    let lease = Duration::from_secs(60);
    let request = ClaimRequest::new("w1", "claude", "/tmp".to_owned(), lease);
    let claimed = ops::claim_best(&mut store, &ctx(), &[request]).unwrap().unwrap();
    let before = run::times_read(&mut store);
    let exit = ExitRecord::new(&claimed.run.id, EndKind::Exited, NOW);
    let policy = RetryPolicy::default();
    let settled = ops::settle(&mut store, &ctx(), &Ending::new(&exit, &policy, 0.5), |_| None);
    assert!(settled.unwrap().run.outcome.is_some());
    assert_eq!(run::times_read(&mut store) - before, 2);
}
