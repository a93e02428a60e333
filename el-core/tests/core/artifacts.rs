//! What a run hands back, as the store keeps it.

use std::time::Duration;

use el_core::model::{
    Artifact, ArtifactKind, ArtifactState, Deliverable, NotSent, Summary, SummaryStatus,
};
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

fn handed_over(p: &mut Project) -> (String, String) {
    let atom = p.create("one");
    let claimed = p.claim().unwrap();
    let files = [
        artifact("t/summary.md", ArtifactState::Copied),
        artifact("src/a.md", ArtifactState::Copied),
        artifact("doc/a.md", ArtifactState::Reference),
        artifact("../x.md", ArtifactState::Refused),
    ];
    ops::hand_over(&mut p.store, &claimed.run.id, &claimed.run.token, &summary(), &files).unwrap();
    (atom, claimed.run.id)
}

#[test]
fn what_was_handed_back_is_kept_with_its_run_and_told_at_its_end() {
    let mut p = Project::new();
    let (atom, run) = handed_over(&mut p);
    p.settle(&run, 0);
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
    let (atom, _) = handed_over(&mut p);
    let back = ops::artifacts(&p.store, &atom).unwrap();
    for (wanted, path) in [
        ("1", "t/summary.md"),
        ("summary", "t/summary.md"),
        ("summary.md", "t/summary.md"),
        ("2", "src/a.md"),
        ("doc/a.md", "doc/a.md"),
    ] {
        assert_eq!(back.find(wanted).unwrap().path, path, "{wanted}");
    }
    assert!(
        matches!(back.find("a.md").unwrap_err(), Error::Ambiguous { candidates, .. } if candidates.len() == 2)
    );
    assert_eq!(back.find("../x.md").unwrap_err().code(), "not_sent");
    for wanted in ["4", "9", "a", "", "md"] {
        assert_eq!(back.find(wanted).unwrap_err().code(), "not_found", "{wanted:?}");
    }
}

#[test]
fn a_run_that_is_over_or_another_session_hands_nothing_over() {
    let mut p = Project::new();
    let (_, run) = handed_over(&mut p);
    let refused =
        ops::hand_over(&mut p.store, &run, "another token", &Summary::default(), &[]).unwrap_err();
    assert!(matches!(refused, Error::StaleRun { .. }), "{refused}");
    p.settle(&run, 0);
    let token = ops::run(&p.store, &run).unwrap().token;
    let late = ops::hand_over(&mut p.store, &run, &token, &Summary::default(), &[]).unwrap_err();
    assert!(matches!(late, Error::StaleRun { .. }), "{late}");
    assert_eq!(ops::artifacts(&p.store, &run).unwrap().run.summary, Some(summary()));
}

#[test]
fn an_atom_shows_its_last_run_that_handed_anything_back() {
    let mut p = Project::new();
    let (atom, first) = handed_over(&mut p);
    p.settle(&first, 1);
    p.wait(Duration::from_secs(3600));
    let second = p.claim().unwrap();
    assert_eq!(ops::artifacts(&p.store, &atom).unwrap().run.id, first, "the second is only on");
    assert!(ops::artifacts(&p.store, &second.run.id).unwrap().artifacts.is_empty());
    ops::hand_over(
        &mut p.store,
        &second.run.id,
        &second.run.token,
        &Summary::default(),
        &[artifact("summary.md", ArtifactState::Copied)],
    )
    .unwrap();
    assert_eq!(ops::artifacts(&p.store, &atom).unwrap().run.id, second.run.id);
}

#[test]
fn how_a_run_will_be_settled_is_foreseen_without_a_write() {
    use el_core::model::{EndKind, ExitRecord, Outcome};
    let mut p = Project::new();
    p.create("one");
    let run = p.claim().unwrap().run.id;
    let mut exit = ExitRecord::new(&run, EndKind::Exited, p.now);
    exit.exit_code = Some(7);
    let version = p.reopen().data_version().unwrap();
    let (outcome, detail) = ops::foresee(&p.store, p.now, &exit, &Default::default()).unwrap();
    assert_eq!((outcome, detail.contains("code 7")), (Outcome::Failed, true));
    assert_eq!(p.reopen().data_version().unwrap(), version);
    let settled = p.settle(&run, 7);
    assert_eq!((settled.outcome, settled.run.detail), (outcome, Some(detail)));
}
