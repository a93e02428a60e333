//! A machine that the server no longer answers: its agent is ended before anybody else may have the
//! atom.

use serde_json::Value;

use super::way::Way;
use super::with_tracker;
use crate::support::{Process, SOON, wait_until};

#[test]
fn an_agent_is_ended_before_the_lease_is_over_and_the_work_is_taken_up_once() {
    let Some((mut env, url)) = with_tracker() else { return };
    let way = Way::to(&url, env.path("way"));
    env.configure("lease = \"30s\"\n");
    let atom = env.script_atom(&["touch began", "hang", "on-attempt 2", "close done"]);
    env.set("EL_DATABASE_URL", way.url());
    let worker = env.start_work(&[]);
    env.wait_for_file("began");
    let agent = || {
        let all = env.processes();
        all.into_iter().find(|p| p.words.first().is_some_and(|name| name.ends_with("claude")))
    };
    let agent: Process = wait_until("the agent", SOON, agent);
    way.cut(true);
    wait_until("the end of the agent", SOON, || (!Process::runs(agent.pid)).then_some(()));
    // Asked by another way: the lease still holds everybody else off.
    env.set("EL_DATABASE_URL", &url);
    let now = env.robot(&["create", "Later", "--defer-until", "9d"])["created_at"].take();
    let run = env.last_run(&atom);
    assert_eq!((&run["attempt"], &run["outcome"]), (&1.into(), &Value::Null));
    let until = run["lease_until"].as_str().unwrap();
    assert!(now.as_str().unwrap() < until, "the agent ended before {now}, the lease at {until}");
    way.cut(false);
    let again = env.wait_for_end(&atom, 2);
    assert_eq!((&again["outcome"], env.status(&atom)), (&"closed".into(), "closed".to_owned()));
    env.el(&["work", "--stop"]).ok();
    worker.wait(SOON).ok();
}
