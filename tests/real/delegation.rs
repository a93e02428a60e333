//! A task handed over to the real client, with a required check.

use serde_json::json;

use super::{assert_run, project};

#[test]
fn a_task_with_a_required_check_is_closed_once_it_passes() {
    let steps = json!({"steps": [
        {"bash": "el close ${ID} --reason 'too early'"},
        {"bash": "touch mended", "when": "it is broken"},
        {"bash": "el close ${ID} --reason 'mended'"},
        {"text": "Closed."},
    ]});
    let Some((env, _api)) = project(&steps) else { return };
    env.configure("allowed_tools = [\"Bash(touch *)\"]\n");
    let check = "sh -c 'sleep 1; test -e mended || { echo it is broken; exit 1; }'";
    let ran = env
        .run(env.command("el").args([
            "--robot",
            "run",
            "Mend it",
            "--verify",
            check,
            "--require-verify",
            "--wait",
        ]))
        .ok();
    let task = ran.json()["data"].take();
    let run = env.last_run(task["id"].as_str().unwrap());
    assert_run(&env, &run, "closed");
    assert_eq!(
        (&task["status"], &task["verify"]["status"]),
        (&json!("completed"), &json!("passed"))
    );
    assert_eq!(env.show(task["id"].as_str().unwrap())["close_reason"], "mended");
    assert!(task["output"].as_str().unwrap().contains("Closed"), "{task:#}");
    assert!(
        task["error_lines"].as_str().unwrap().contains("it is broken hint: put right"),
        "the end of a long error is kept: {task:#}"
    );
}
