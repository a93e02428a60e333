//! A task of a plan that is itself planned: the outer plan goes on from the branches of the inner
//! tasks.

use super::{AGGREGATION, Task};
use crate::support::{SOON, TestEnv};

/// Writes and commits a file, after the files of its dependencies exist.
fn writer<'a>(name: &'a str, waits_for: &'a [&'a str], needs: &str) -> Task<'a> {
    let write = format!(
        "sh ls base.txt {needs} > /dev/null && echo x > {name}.txt && git add {name}.txt && git \
         commit -q -m 'write {name}'"
    );
    Task(
        name,
        waits_for,
        vec![write, format!("sh test -f {name}.txt && el close $EL_ATOM --reason 'wrote {name}'")],
    )
}

#[test]
fn what_a_plan_within_a_plan_made_is_built_on_and_landed() {
    let mut env = TestEnv::with_tracker();
    env.git(&["init", "-q"]);
    std::fs::write(env.project("base.txt"), "base\n").unwrap();
    env.git(&["add", "base.txt"]);
    env.git(&["commit", "-q", "-m", "base"]);
    env.scripts(&[writer("one", &[], ""), writer("two", &["one"], "alpha.txt beta.txt index.txt")]);
    let _ = env.start_plan(&["--plan-only"]).wait(SOON * 2).ok();
    let outer = env.epic();
    let [one, two] = ["one", "two"].map(|name| env.task_of(&outer, name));

    env.scripts(&[writer("alpha", &[], ""), writer("beta", &["alpha"], "alpha.txt")]);
    let index = "sh ls alpha.txt beta.txt > /dev/null && echo x > index.txt && git add index.txt \
        && git commit -q -m index";
    env.script_of("aggregation", &[index, AGGREGATION]);
    let _ = env.start_el(&["orchestrate", &one, "--concurrency", "2"]).wait(SOON * 3).ok();
    assert_eq!(env.status(&one), "closed");

    let all = "sh ls alpha.txt beta.txt index.txt two.txt > /dev/null && echo x > all.txt && git \
        add all.txt && git commit -q -m all";
    env.script_of("aggregation", &[all, AGGREGATION]);
    let _ =
        env.start_el(&["orchestrate", "resume", &outer, "--concurrency", "2"]).wait(SOON * 3).ok();
    assert_eq!((env.status(&two).as_str(), env.status(&outer).as_str()), ("closed", "closed"));
    assert_eq!(
        env.robot(&["diff", &two])["files"],
        serde_json::json!(["two.txt"]),
        "its own work alone"
    );

    env.robot(&["land", "--all"]);
    for file in ["alpha", "beta", "index", "two", "all"] {
        assert!(env.project(format!("{file}.txt")).is_file(), "{file} is not on main");
    }
    assert_eq!(env.robot(&["land", "--all"])["count"], 0);
    env.robot(&["worktrees", "prune"]);
    assert_eq!(env.git(&["branch", "--list", "el/*"]), "");
}
