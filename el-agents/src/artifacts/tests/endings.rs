//! Summaries made by el, and the documents of a run's end.

use super::*;

#[test]
fn without_a_summary_one_is_made_of_what_is_known() {
    let mut world = World::new("");
    world.write("new.md", "x");
    world.write(".env", "SECRET=1");
    world.job.folder.create().unwrap();
    fs::write(world.job.folder.pane_path(), "working\n\x1b[31mlast words\x1b[0m\n").unwrap();
    let found = world.collect();
    assert_eq!(
        (found.summary.status, found.summary.is_fallback),
        (Some(SummaryStatus::Partial), true)
    );
    assert_eq!(found.summary.deliverables.len(), 1, "{:?}", found.summary);
    assert_eq!(sent(&found)[1].0, "new.md");
    let text = world.kept(&found.artifacts[0]);
    assert!(
        text.contains("PARTIAL - Summary not created by the agent")
            && text.contains("working\nlast words\n"),
        "{text}"
    );
    assert!(refused(&found).is_empty(), "what nobody named is not reported");
    world.job.never_ran = true;
    assert!(world.collect().summary.deliverables.is_empty());
}

#[test]
fn an_earlier_attempts_summary_is_not_this_runs() {
    let mut world = World::new("");
    world.summary(&[]);
    world.job.summary_before =
        FileStamp::of_file(&summary_file::summary_file(&world.job.places, &world.job.run.atom_id));
    let found = world.collect();
    assert!(
        found.summary.is_fallback
            && found.summary.warnings.iter().any(|w| w.contains("earlier attempt")),
        "{:?}",
        found.summary.warnings
    );
}

#[test]
fn a_working_folder_that_is_gone_keeps_nothing_from_being_told() {
    let mut world = World::new("");
    world.summary(&["a.md"]);
    world.job.run.workdir = world.dir.path().join("gone").display().to_string();
    let found = world.collect();
    assert_eq!((sent(&found).len(), refused(&found)), (1, vec![("a.md", NotSent::Missing)]));
}

/// Settles the run with what was collected; an agent that exited with this code.
fn settle(world: &mut World, exit_code: i32, collected: &mut Collected) -> ops::Settled {
    world.job.folder.create().unwrap();
    let exit = ExitRecord {
        exit_code: Some(exit_code),
        ..ExitRecord::new(&world.job.run.id, EndKind::Exited, crate::clock::now())
    };
    let policy = el_core::rules::retry::RetryPolicy::default();
    let ctx = Ctx { now: crate::clock::now(), actor: "claude", session: None };
    let folder = world.job.folder.clone();
    let ending = ops::Ending::new(&exit, &policy, 0.0);
    ops::settle(&mut world.store, &ctx, &ending, |decided| {
        crate::handover::write_documents(decided, &exit, &folder, Some(collected))
    })
    .unwrap()
}

#[test]
fn a_collection_may_begin_anew_and_is_recorded_once() {
    let mut world = World::new("");
    world.write("a.md", "x");
    world.summary(&["a.md", "b.md"]);
    drop(world.collect());
    let mut found = world.collect();
    settle(&mut world, 0, &mut found);
    let back = ops::artifacts(&world.store, &world.job.run.id).unwrap();
    assert_eq!((back.artifacts.len(), back.not_sent.len(), back.run.artifacts), (2, 1, 2));
    assert_eq!(back.run.summary.unwrap().status, Some(SummaryStatus::Completed));
    assert_eq!(fs::read_dir(world.job.folder.artifacts_path()).unwrap().count(), 2);
}

#[test]
fn results_and_errors_tell_what_the_store_is_told() {
    let mut world = World::new("");
    world.write("a.md", "x");
    world.summary(&["a.md", "/etc/passwd"]);
    let mut found = world.collect();
    let settled = settle(&mut world, 3, &mut found);
    let text = fs::read_to_string(world.job.folder.results_path()).unwrap();
    let results: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&results["schema"], &results["version"]), (&"el.results".into(), &1.into()));
    assert_eq!(
        (&results["run"]["outcome"], &results["run"]["succeeded"], &results["atom"]["status"]),
        (&"failed".into(), &false.into(), &"open".into())
    );
    let retry_at = settled.retry_at().unwrap().to_string();
    assert_eq!(results["atom"]["retry_at"], retry_at);
    assert_eq!(
        (results["artifacts"].as_array().unwrap().len(), &results["not_sent"][0]["reason"]),
        (2, &"absolute".into())
    );
    let errors = fs::read_to_string(world.job.folder.errors_path()).unwrap();
    assert!(errors.contains("exited with code 3"), "{errors}");
}

#[test]
fn a_summary_that_is_made_here_tells_how_the_run_ended() {
    let mut world = World::new("");
    let mut found = world.collect();
    let settled = settle(&mut world, 3, &mut found);
    let back = ops::artifacts(&world.store, &settled.run.id).unwrap();
    let text = world.kept(&back.artifacts[0]);
    assert!(text.contains("It ended as failed: the agent exited with code 3"), "{text}");
    assert_eq!(back.artifacts[0].sha256, Some(sha256_hex(text.as_bytes())));
    let summary = back.run.summary.unwrap();
    assert!(summary.is_fallback && summary.notes.iter().any(|note| note.contains("It ended")));
}
