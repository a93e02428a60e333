use std::fs;

use crate::support::TestEnv;

impl TestEnv {
    /// Exports, and commits the export.
    #[track_caller]
    fn commit_export(&self, message: &str) {
        self.el(&["export", "-o", "issues.jsonl"]).ok();
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }
}

/// A repository with an export changed in two branches: `main` changed the title, `side` the
/// priority, and added an atom.
fn two_branches(env: &TestEnv) -> String {
    env.git(&["init", "-q"]);
    let id = env.create("First", &[]);
    env.el(&["merge-driver", "--install", "issues.jsonl"]).ok();
    env.commit_export("begin");
    env.git(&["checkout", "-q", "-b", "side"]);
    env.el(&["update", &id, "--priority", "critical"]).ok();
    env.create("Second", &[]);
    env.commit_export("side");
    env.git(&["checkout", "-q", "main"]);
    id
}

#[test]
fn git_merges_what_two_people_changed_of_one_atom() {
    let env = TestEnv::with_tracker();
    let id = two_branches(&env);
    // The other clone's tracker never saw the changes on the side branch.
    let text = fs::read_to_string(env.project("issues.jsonl"))
        .unwrap()
        .replace("\"title\":\"First\"", "\"title\":\"Renamed\"");
    fs::write(env.project("issues.jsonl"), text).unwrap();
    env.git(&["commit", "-q", "-a", "-m", "main"]);
    env.git(&["merge", "-q", "side", "-m", "merge"]);
    let merged = fs::read_to_string(env.project("issues.jsonl")).unwrap();
    let line = merged.lines().find(|line| line.contains(&id)).unwrap();
    assert!(line.contains("\"title\":\"Renamed\"") && line.contains("\"priority\":0"), "{line}");
    assert!(merged.contains("Second"));
    env.el(&["import", "issues.jsonl"]).ok();
    env.el(&["show", &id]).ok();
}

#[test]
fn a_conflict_is_marked_reported_and_kept_out_of_the_tracker() {
    let env = TestEnv::with_tracker();
    let id = two_branches(&env);
    let text = fs::read_to_string(env.project("issues.jsonl"))
        .unwrap()
        .replace("\"priority\":2", "\"priority\":4");
    fs::write(env.project("issues.jsonl"), text).unwrap();
    env.git(&["commit", "-q", "-a", "-m", "main"]);
    let ran = env.run(env.command("git").args(["merge", "side"])).fails_with(1);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(
        told.contains(&format!("issues.jsonl: {id}: both changed priority: 4 here, 0 there")),
        "{told}"
    );
    let marked = fs::read_to_string(env.project("issues.jsonl")).unwrap();
    assert!(marked.contains("<<<<<<< ours\n") && marked.contains("Second"), "{marked}");
    let refused = env.el(&["import", "issues.jsonl"]).fails_with(2).stderr;
    assert!(refused.contains("a merge conflict is not settled here"), "{refused}");
    assert!(
        refused.contains("settle the merge in") && !refused.contains("--skip-bad"),
        "{refused}"
    );
    // Each side has whole lines, so taking theirs is enough.
    let settled: Vec<&str> = {
        let from = marked.find("=======\n").unwrap();
        let keep = |at: usize| at < marked.find("<<<<<<<").unwrap() || at > from;
        let mut at = 0;
        marked
            .lines()
            .filter(|line| {
                let here = at;
                at += line.len() + 1;
                keep(here) && !line.starts_with(['=', '>'])
            })
            .collect()
    };
    fs::write(env.project("issues.jsonl"), settled.join("\n") + "\n").unwrap();
    env.el(&["import", "issues.jsonl"]).ok();
}

#[test]
fn nothing_is_set_up_unless_asked() {
    let env = TestEnv::with_tracker();
    env.git(&["init", "-q"]);
    let told = env.el(&["merge-driver", "--print", "issues.jsonl"]).ok().stdout;
    assert!(told.contains("git config merge.el.driver 'el merge-driver %O %A %B %P'"), "{told}");
    assert!(!env.project(".gitattributes").exists());
    env.run(env.command("git").args(["config", "merge.el.driver"])).fails_with(1);
    for _ in 0..2 {
        env.el(&["merge-driver", "--install", "issues.jsonl"]).ok();
    }
    assert_eq!(
        fs::read_to_string(env.project(".gitattributes")).unwrap(),
        "/issues.jsonl merge=el\n"
    );
    assert_eq!(env.git(&["config", "merge.el.driver"]), "el merge-driver %O %A %B %P");
}

#[test]
fn a_robot_is_told_of_conflicts_as_data() {
    let env = TestEnv::with_tracker();
    let atom = |title: &str| {
        format!(
            "{{\"_type\":\"atom\",\"id\":\"t-aaaa\",\"title\":\"{title}\",\
             \"created_at\":\"2026-01-01T00:00:00Z\"}}\n"
        )
    };
    for (name, title) in [("base", "One"), ("ours", "Two"), ("theirs", "Three")] {
        fs::write(env.project(name), atom(title)).unwrap();
    }
    let ran = env
        .run(env.command("el").args([
            "--robot",
            "merge-driver",
            "base",
            "ours",
            "theirs",
            "issues.jsonl",
        ]))
        .fails_with(1);
    let conflict = &ran.json()["data"]["conflicts"][0];
    assert_eq!(
        (&conflict["record"], &conflict["field"], &conflict["theirs"]),
        (&"t-aaaa".into(), &"title".into(), &"Three".into())
    );
    env.el(&["merge-driver", "base", "ours"]).fails_with(2);
}

/// Another clone of the repository, with a tracker of its own.
fn other_clone(env: &TestEnv, args: &[&str]) -> std::process::Command {
    let mut command = env.command(args[0]);
    command.args(&args[1..]).current_dir(env.path("other"));
    command
}

/// A project with an atom, and a clone that changed the atom and committed its export.
fn changed_in_a_clone(env: &TestEnv, change: &[&str]) -> String {
    env.git(&["init", "-q"]);
    let id = env.create("First", &["--label", "keep"]);
    env.el(&["merge-driver", "--install", "issues.jsonl"]).ok();
    env.commit_export("begin");
    let other = env.path("other");
    env.git(&["clone", "-q", ".", other.to_str().unwrap()]);
    let run = |args: &[&str]| env.run(&mut other_clone(env, args)).ok();
    run(&["el", "init", "--name", "t"]);
    run(&["el", "import", "issues.jsonl"]);
    run(&[&["el", "update", &id], change].concat());
    run(&["el", "export", "-o", "issues.jsonl"]);
    run(&["git", "commit", "-qam", "other"]);
    id
}

fn pull_and_import(env: &TestEnv) -> String {
    env.commit_export("own");
    env.git(&["pull", "-q", "--no-rebase", "--no-edit", env.path("other").to_str().unwrap()]);
    env.el(&["import", "issues.jsonl"]).ok().stdout
}

#[test]
fn a_first_import_takes_what_another_clone_changed() {
    let env = TestEnv::with_tracker();
    let change = ["--title", "There", "--assignee", "bob", "-d", "Said there", "--label", "x"];
    let id = changed_in_a_clone(&env, &change);
    env.el(&["update", &id, "--priority", "1"]).ok();
    let told = pull_and_import(&env);
    assert!(told.contains("1 changed") && !told.contains("stands"), "{told}");
    let atom = env.robot(&["show", &id]);
    assert_eq!(
        (&atom["title"], &atom["assignee"], &atom["description"], &atom["priority"]),
        (&"There".into(), &"bob".into(), &"Said there".into(), &1.into())
    );
    assert_eq!(atom["labels"], serde_json::json!(["keep", "x"]));
}

#[test]
fn labels_that_two_clones_added_are_merged() {
    let env = TestEnv::with_tracker();
    let id = changed_in_a_clone(&env, &["--label", "x"]);
    env.el(&["import", "issues.jsonl"]).ok();
    env.el(&["update", &id, "--label", "y"]).ok();
    let told = pull_and_import(&env);
    assert!(!told.contains("stands"), "{told}");
    assert_eq!(env.robot(&["show", &id])["labels"], serde_json::json!(["keep", "x", "y"]));
}
