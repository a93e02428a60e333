//! The store keeps the summary and the artifacts that a run hands back.

use std::time::Duration;

use el_core::model::{
    Artifact, ArtifactKind, ArtifactState, Cost, Deliverable, EndKind, ExitRecord, NotSent,
    Outcome, Progress, Summary, SummaryStatus,
};
use el_core::ops::{Ending, HandedOver};
use el_core::rules::retry::RetryPolicy;
use el_core::{Error, ops};

use crate::support::Project;

fn artifact(path: &str, state: ArtifactState) -> Artifact {
    Artifact {
        record_type: Artifact::RECORD_TYPE,
        run_id: String::new(),
        n: 0,
        kind: if path.ends_with("summary.md") {
            ArtifactKind::Summary
        } else {
            ArtifactKind::Deliverable
        },
        name: path.rsplit('/').next().unwrap().to_owned(),
        path: path.to_owned(),
        description: Some(format!("about {path}")),
        state,
        size: Some(3),
        sha256: None,
        file: (state == ArtifactState::Copied)
            .then(|| format!("artifacts/{}", path.replace('/', "-"))),
        reason: (state == ArtifactState::Refused).then_some(NotSent::Outside),
        note: None,
    }
}

fn summary() -> Summary {
    Summary {
        status: Some(SummaryStatus::Completed),
        deliverables: vec![Deliverable { path: "a.md".into(), description: None }],
        ..Summary::default()
    }
}

/// A hand-over with a summary and artifacts in several states.
fn handed() -> HandedOver {
    let artifacts = vec![
        artifact("t/summary.md", ArtifactState::Copied),
        artifact("src/a.md", ArtifactState::Copied),
        artifact("doc/a.md", ArtifactState::Reference),
        artifact("../x.md", ArtifactState::Refused),
    ];
    HandedOver { summary: summary(), artifacts }
}

/// An atom, and its run that ended with this code.
fn handed_over(p: &mut Project, code: i32) -> (String, String) {
    let atom = p.create("one");
    let run = p.claim().unwrap().run.id;
    p.settle_with(&run, code, Some(handed()));
    (atom, run)
}

#[test]
fn what_was_handed_back_is_kept_with_its_run_and_told_at_its_end() {
    let mut p = Project::new();
    let (atom, run) = handed_over(&mut p, 0);
    let back = ops::artifacts(&p.store, &atom).unwrap();
    assert_eq!(back.run.id, run);
    assert_eq!(back.run.summary, Some(summary()));
    assert_eq!((back.run.artifacts, back.artifacts.len(), back.not_sent.len()), (3, 3, 1));
    assert_eq!(back.artifacts.iter().map(|a| a.n).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((back.not_sent[0].n, back.not_sent[0].reason), (4, Some(NotSent::Outside)));
    let told = ops::history(&p.store, &atom)
        .unwrap()
        .1
        .into_iter()
        .find(|event| event.data.get("outcome").is_some())
        .unwrap();
    assert_eq!((&told.data["summary"], &told.data["artifacts"]), (&"completed".into(), &3.into()));
}

#[test]
fn one_file_is_found_by_number_path_name_or_word_and_never_by_a_guess() {
    let mut p = Project::new();
    let (atom, _) = handed_over(&mut p, 0);
    let back = ops::artifacts(&p.store, &atom).unwrap();
    for (wanted, path) in [
        ("1", "t/summary.md"),
        ("summary", "t/summary.md"),
        ("summary.md", "t/summary.md"),
        ("2", "src/a.md"),
        ("doc/a.md", "doc/a.md"),
    ] {
        assert_eq!(back.find_artifact(wanted).unwrap().path, path, "{wanted}");
    }
    assert!(matches!(
        back.find_artifact("a.md").unwrap_err(),
        Error::Ambiguous { candidates, .. } if candidates.len() == 2
    ));
    assert_eq!(back.find_artifact("../x.md").unwrap_err().code(), "not_sent");
    for wanted in ["4", "9", "a", "", "md"] {
        assert_eq!(back.find_artifact(wanted).unwrap_err().code(), "not_found", "{wanted:?}");
    }
}

#[test]
fn a_run_that_is_over_hands_nothing_over() {
    let mut p = Project::new();
    let (_, run) = handed_over(&mut p, 0);
    let late = HandedOver { summary: Summary::default(), artifacts: Vec::new() };
    assert!(p.settle_with(&run, 0, Some(late)).was_settled);
    assert_eq!(ops::artifacts(&p.store, &run).unwrap().run.summary, Some(summary()));
}

#[test]
fn an_atom_shows_its_last_run_that_handed_anything_back() {
    let mut p = Project::new();
    let (atom, first) = handed_over(&mut p, 1);
    p.wait(Duration::from_secs(3600));
    let second = p.claim().unwrap().run.id;
    assert_eq!(ops::artifacts(&p.store, &atom).unwrap().run.id, first, "the second is only on");
    assert!(ops::artifacts(&p.store, &second).unwrap().artifacts.is_empty());
    let artifacts = vec![artifact("summary.md", ArtifactState::Copied)];
    let handed = HandedOver { summary: Summary::default(), artifacts };
    p.settle_with(&second, 1, Some(handed));
    assert_eq!(ops::artifacts(&p.store, &atom).unwrap().run.id, second);
}

#[test]
fn what_was_decided_is_told_before_it_is_written_and_only_then() {
    let mut p = Project::new();
    p.create("one");
    let run = p.claim().unwrap().run.id;
    let mut exit = ExitRecord::new(&run, EndKind::Exited, p.now);
    exit.exit_code = Some(7);
    let progress = Progress { turns: 3, cost: Cost::reported(5), ..Progress::default() };
    let policy = RetryPolicy::default();
    let ending = Ending { progress: Some(&progress), ..Ending::new(&exit, &policy, 0.0) };
    let ctx = p.person();
    let mut told = None;
    let settled = ops::settle(&mut p.store, &ctx, &ending, |decided| {
        assert_eq!((decided.run.outcome, &decided.run.progress), (None, &progress));
        let atom = decided.atom.unwrap();
        told = Some((decided.outcome, decided.detail.to_owned(), atom.status, atom.retry_at));
        None
    });
    let settled = settled.unwrap();
    let atom = settled.atom.unwrap();
    let written = (settled.outcome, settled.run.detail.unwrap(), atom.status, atom.retry_at);
    assert_eq!((told, written.0), (Some(written.clone()), Outcome::Failed));
    assert_eq!(settled.run.progress.cost.cost_micros, 5);
    let again = ops::settle(&mut p.store, &ctx, &ending, |_| panic!("nothing is decided again"));
    assert!(again.unwrap().was_settled);
}
