//! The real client in the sandbox: it is told which setting would have let a command succeed.

use serde_json::json;

use super::{assert_run, project};

#[test]
fn the_agent_itself_is_told_what_the_sandbox_kept_it_from() {
    let steps = json!({"steps": [
        {"bash": "touch /usr/share/el-test"},
        {"bash": "ls /no/such/folder"},
        {"bash": "el close ${ID} --reason tried"},
        {"text": "Closed."},
    ]});
    let Some((mut env, api)) = project(&steps) else { return };
    env.set("EL_SANDBOX", "auto");
    if !env.el(&["doctor"]).stdout.contains("bubblewrap and") {
        eprintln!("skipped: bubblewrap does not work here");
        return;
    }
    env.configure("allowed_tools = [\"Bash\"]\n");
    let id = env.create("Write where nobody may", &[]);
    env.el(&["--robot", "work", "--once"]).ok();
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    let heard = |at: usize| api.messages()[at]["body"].to_string();
    let hint = "el config set --add sandbox_write /usr/share";
    assert!(heard(1).contains(hint), "{}", heard(1));
    assert!(heard(1).contains("Only a person can run that"));
    // Another failure has no such cause, and nothing is said of it.
    assert_eq!(heard(2).matches(hint).count(), 1);
    assert!(run["sandbox_notes"][0].as_str().unwrap().ends_with(hint), "{run:#}");
}
