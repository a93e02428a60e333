//! The real client hands its work over for review.

use serde_json::json;

use super::{assert_run, project};

#[test]
fn it_submits_a_report_is_sent_back_and_sees_why() {
    let report = "{\"type\":\"completion_report\",\"taskId\":\"${ID}\",\"platform\":\"custom\",\
        \"status\":\"awaiting_review\",\"summary\":\"Greets\",\"filesCreated\":[],\
        \"filesModified\":[],\"buildResult\":{\"status\":\"not_applicable\"},\
        \"timestamp\":\"2026-11-28T09:00:00.000Z\"}";
    let scenario = json!({
        "vars": {"ID": {"after": "el submit "}},
        "steps": [
            {"bash": "el close ${ID} --reason 'I would rather close it'"},
            {"bash": "el submit ${ID} --template"},
            {"tool": "Write", "input": {"file_path": "report.json", "content": report}},
            {"bash": "el submit ${ID} --report report.json"},
            {"text": "Submitted."},
        ],
    });
    let Some((env, api)) = project(&scenario) else { return };
    env.configure("review = true");
    let id = env.create("Say hello", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "review");
    assert_eq!(env.status(&id), "review");
    let transcript = env.read_run_file(&run, "transcript.jsonl");
    assert!(
        transcript.contains("is to be reviewed before it is closed")
            && transcript.contains("buildResult"),
        "{transcript}"
    );
    let waiting = env.robot(&["review"])["items"][0].take();
    assert_eq!(
        (&waiting["review"]["report"]["summary"], &waiting["run"]["id"]),
        (&json!("Greets"), &run["id"])
    );

    env.el(&["reject", &id, "--reason", "It has to be louder"]).ok();
    let asked = api.messages().len();
    env.work(&["--once"]);
    assert_eq!(env.outcomes(&id), ["review", "review"]);
    let told = api.messages()[asked]["body"]["messages"].to_string();
    assert!(told.contains("## Rejected") && told.contains("It has to be louder"), "{told}");
    env.el(&["approve", &id]).ok();
    assert_eq!(env.show(&id)["close_reason"], "Approved: Greets");
}
