use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::TestEnv;

/// A file of `tests/data/import`.
pub(crate) fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/data/import")
        .join(name)
        .to_str()
        .unwrap()
        .to_owned()
}

fn counts(report: &Value) -> (i64, i64, i64) {
    let count = |key: &str| report[key].as_i64().unwrap();
    (count("created"), count("updated"), count("unchanged"))
}

#[test]
fn each_format_is_recognised_and_imported_once() {
    let env = TestEnv::with_tracker();
    for (file, format, atoms) in [
        ("bd.jsonl", "bd", 8),
        ("eluent.jsonl", "eluent", 4),
        ("github.json", "github", 4),
        ("plan.md", "markdown", 7),
    ] {
        let report = env.robot(&["import", &sample(file)]);
        assert_eq!(
            (report["format"].as_str().unwrap(), counts(&report)),
            (format, (atoms, 0, 0)),
            "{report:#}"
        );
        assert_eq!(counts(&env.robot(&["import", &sample(file)])), (0, 0, atoms));
    }
    assert_eq!(env.robot(&["list", "--all", "--include-discarded"])["total"], 23);
    // The graph that came in is sound, and so is the file.
    env.el(&["dep", "check"]).ok();
    let findings = env.robot(&["doctor"])["findings"].take();
    let codes: Vec<_> =
        findings.as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect();
    assert!(
        !codes
            .iter()
            .any(|code| ["integrity", "cycle", "search_index", "blocker_count"].contains(code)),
        "{codes:?}"
    );
}

#[test]
fn old_ids_work_in_every_command() {
    let env = TestEnv::with_tracker();
    env.robot(&["import", &sample("bd.jsonl")]);
    env.robot(&["import", &sample("github.json")]);
    env.el(&["comment", "add", "demo-a1b", "seen"]).ok();
    env.el(&["dep", "add", "ann/shop#14", "demo-hok"]).ok();
    env.el(&["update", "DEMO-A1B", "--priority", "low"]).ok();
    env.el(&["close", "demo-a1b", "-r", "done"]).ok();
    let shown = env.show("demo-a1b");
    assert_eq!((&shown["status"], &shown["priority"]), (&"closed".into(), &3.into()));
    assert_eq!(shown["aliases"][0]["source"], "bd");
    let human = env.el(&["show", "demo-a1b"]).ok().stdout;
    assert!(human.contains("Also called") && human.contains("demo-a1b (bd)"), "{human}");
    env.el(&["show", "demo-nothing"]).fails_with(3);
    env.el(&["show", "demo-"]).fails_with(4);
}

#[test]
fn what_does_not_fit_is_told_to_people() {
    let env = TestEnv::with_tracker();
    let told = env.el(&["import", &sample("bd.jsonl")]).ok().stdout;
    assert!(
        told.starts_with(
            "Imported 8 atoms from bd: 8 new, 0 changed, 0 unchanged · 3 bonds · 1 comment\n"
        ),
        "{told}"
    );
    for want in [
        "type 'chore' became task",
        "field 'due_at' has no place here",
        "dependency 'supersedes' became related",
        "'memory'",
    ] {
        assert!(told.contains(want), "{want} is missing in {told}");
    }
    assert!(told.contains("line 5 (demo-def)"), "{told}");
}

#[test]
fn a_rehearsal_changes_nothing() {
    let env = TestEnv::with_tracker();
    let report = env.robot(&["import", &sample("bd.jsonl"), "--dry-run"]);
    assert_eq!((counts(&report), &report["dry_run"]), ((8, 0, 0), &true.into()));
    assert_eq!(env.robot(&["list", "--all"])["total"], 0);
    assert!(
        env.el(&["import", &sample("bd.jsonl"), "--dry-run"])
            .ok()
            .stdout
            .starts_with("Would import 8 atoms")
    );
}

#[test]
fn a_bad_line_is_named_and_the_rest_goes_only_if_asked() {
    let env = TestEnv::with_tracker();
    fs::write(
        env.project("x.jsonl"),
        "{\"id\":\"x-1\",\"title\":\"One\",\"status\":\"open\"}\n{\"id\":\"x-2\"\n\
         {\"id\":\"x-3\",\"status\":\"open\"}\n",
    )
    .unwrap();
    let refused = env.el(&["import", "x.jsonl"]).fails_with(2).stderr;
    assert!(
        refused.contains("x.jsonl:2: ")
            && refused.contains("x.jsonl:3: it has no title")
            && refused.contains("--skip-bad"),
        "{refused}"
    );
    assert_eq!(env.robot(&["list"])["total"], 0);
    let report = env.robot(&["import", "x.jsonl", "--skip-bad"]);
    assert_eq!((counts(&report), report["bad"].as_array().unwrap().len()), ((1, 0, 0), 2));
    fs::write(env.project("x.md"), b"- [ ] Fine\n- [ ] caf\xe9\n  \xe9\n- [ ] Fine too\n").unwrap();
    let refused = env.el(&["import", "x.md"]).fails_with(2).stderr;
    assert!(refused.contains("2 lines of x.md") && refused.contains("x.md:3: "), "{refused}");
    let report = env.robot(&["import", "x.md", "--skip-bad"]);
    assert_eq!((counts(&report), report["bad"].as_array().unwrap().len()), ((2, 0, 0), 2));
}

#[test]
fn stdin_is_read_and_a_format_that_cannot_be_told_is_asked_for() {
    let env = TestEnv::with_tracker();
    let piped = |text: &str, more: &str| {
        env.run(
            env.command("sh").args(["-c", &format!("printf '%s' '{text}' | el import - {more}")]),
        )
    };
    piped("- [ ] One\n- [x] Two\n", "").ok();
    assert_eq!(env.robot(&["list", "--all"])["total"], 2);
    let refused = piped("nothing to see here", "").fails_with(2).stderr;
    assert!(refused.contains("--from"), "{refused}");
    piped("nothing to see here", "--from markdown").fails_with(2);
    env.el(&["import", "nowhere.jsonl"]).fails_with(3);
}

#[test]
fn two_projects_of_one_tracker_are_told_apart_by_a_name() {
    let env = TestEnv::with_tracker();
    env.robot(&["import", &sample("bd.jsonl")]);
    let other = fs::read_to_string(sample("bd.jsonl"))
        .unwrap()
        .replace("2026-08-04T05:47:40Z", "2020-01-01T00:00:00Z");
    fs::write(env.project("other.jsonl"), other).unwrap();
    let refused = env.el(&["import", "other.jsonl"]).fails_with(4).stderr;
    assert!(refused.contains("--as"), "{refused}");
    assert_eq!(counts(&env.robot(&["import", "other.jsonl", "--as", "other"])), (8, 0, 0));
}

#[test]
fn work_that_came_in_is_claimed_like_any_other() {
    let env = TestEnv::with_tracker();
    fs::write(
        env.project("x.jsonl"),
        "{\"id\":\"x-1\",\"title\":\"One\",\"status\":\"open\",\
         \"created_at\":\"2020-01-01T00:00:00Z\"}\n",
    )
    .unwrap();
    env.robot(&["import", "x.jsonl"]);
    assert_eq!(env.robot(&["next", "--claim"])["title"], "One");
    // The file still says open; the local change wins.
    env.robot(&["import", "x.jsonl"]);
    assert_eq!(env.status("x-1"), "in_progress");
}

#[test]
fn a_document_becomes_no_work_by_itself_and_what_is_left_out_is_told_by_line() {
    let env = TestEnv::with_tracker();
    fs::write(env.project("README.md"), "# el\n\n## Install\nmake\n\n## Use\nel\n").unwrap();
    let refused = env.el(&["import", "README.md"]).fails_with(2);
    assert!(refused.stderr.contains("has no task list"), "{refused:#?}");
    fs::write(env.project("TODO.md"), "# To do\n\n- sweep\n- mop\n").unwrap();
    let refused = env.el(&["import", "TODO.md"]).fails_with(2);
    assert!(refused.stderr.contains("(the first is in line 3)"), "{refused:#?}");
    for list in ["- sweep\n  * mop\n", "1. sweep\n12) mop\n"] {
        fs::write(env.project("TODO.md"), list).unwrap();
        let told = env.el(&["import", "TODO.md"]).fails_with(2).stderr;
        let (_, command) =
            told.split_once("become tasks with: ").unwrap_or_else(|| panic!("{told}"));
        env.run(env.command("sh").args(["-c", &format!("{} --dry-run", command.trim())])).ok();
    }
    assert_eq!(env.robot(&["list", "--all"])["total"], 0);
    assert_eq!(env.robot(&["import", "--from", "markdown", "README.md"])["created"], 2);
    let text = "- [ ] a\n- [~] halfway\n\n<!--\n- [ ] hidden\n-->\n- [ ]no space\n";
    fs::write(env.project("list.md"), text).unwrap();
    let report = env.robot(&["import", "list.md"]);
    assert_eq!(report["created"], 1);
    let notes = report["notes"].to_string();
    for line in ["line 2", "line 4", "line 7"] {
        assert!(notes.contains(line), "{notes}");
    }
    let created = env.el(&["create", "--file", "list.md"]).ok();
    assert!(created.stderr.contains("line 2: a box"), "{created:#?}");
}
