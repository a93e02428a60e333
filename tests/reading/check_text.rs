//! `el check-text`: el's reading of a text, for authors of prompts.

use std::fs;

use crate::support::TestEnv;

fn check(env: &TestEnv, kind: &str, text: &str) -> serde_json::Value {
    fs::write(env.project("text"), text).unwrap();
    env.el(&["--robot", "check-text", kind, "text"]).json()
}

#[test]
fn a_summary_is_told_as_it_is_read_and_an_unclear_status_is_a_problem() {
    let env = TestEnv::new();
    let form = |status: &str| format!("## Objective\nIt\n\n## Status\n{status}\n");
    let good = check(&env, "summary", &form("✅ COMPLETED"));
    assert_eq!(good["data"]["summary"]["status"], "completed");
    assert!(good["data"]["notes"].to_string().contains("missing: Accomplishments"), "{good}");
    for status in ["Unable to complete", "Nothing was done", "3 of 5 done"] {
        let unclear = check(&env, "summary", &form(status));
        assert_eq!(unclear["status"], "error");
        assert!(unclear["error"]["details"]["problems"].to_string().contains(status), "{unclear}");
    }
    fs::write(env.project("text"), form("Unable to complete")).unwrap();
    env.el(&["check-text", "summary", "text"]).fails_with(2);
}

#[test]
fn blocks_are_told_with_their_lines_faults_repairs_and_drafts() {
    let env = TestEnv::new();
    let block = |summary: &str| {
        format!(
            "<<<ORCHESTRATOR_RESPONSE>>>\n{{\"phase\":\"analysis\",\
             \"data\":{{\"summary\":\"{summary}\",\
             \"recommended_splits\":1,}}}}\n<<<END_ORCHESTRATOR_RESPONSE>>>\n"
        )
    };
    let twice = check(&env, "response", &format!("{}{}", block("one"), block("two")));
    assert_eq!(twice["data"]["blocks"].as_array().unwrap().len(), 2, "{twice}");
    let notes = twice["data"]["notes"].to_string();
    assert!(notes.contains("2 drafts of analysis begin in lines 1, 4;"), "{notes}");
    assert!(notes.contains("trailing comma"), "{notes}");
    let cut = check(&env, "response", "<<<ORCHESTRATOR_RESPONSE>>>\n{\"phase\": \"anal");
    assert_eq!(cut["status"], "error", "{cut}");
    let none = check(&env, "response", "I am done.");
    assert!(none["error"]["details"]["problems"].to_string().contains("no block"), "{none}");
}

#[test]
fn a_report_is_told_field_by_field() {
    let env = TestEnv::new();
    let wrong = check(&env, "report", "{\"type\": \"completion_report\"}");
    assert!(wrong["error"]["details"]["problems"].to_string().contains("taskId"), "{wrong}");
}
