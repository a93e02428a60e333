use proptest::prelude::*;
use serde_json::json;

use super::*;

fn good() -> Value {
    json!({
        "type": "completion_report", "taskId": "task-001", "platform": "web",
        "status": "awaiting_review",
        "summary": "Made the button", "filesCreated": ["src/a.ts"],
        "filesModified": ["src/b.ts", "src/a.ts"],
        "buildResult": { "status": "success", "command": "npm run build", "errors": 0 },
        "timestamp": "2024-01-01T00:00:00.000Z", "ours": { "kept": true }
    })
}

fn problems(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut report = good();
    change(&mut report);
    CompletionReport::from_value(&report)
        .err()
        .unwrap_or_default()
        .into_iter()
        .map(|p| p.field)
        .collect()
}

#[test]
fn a_report_of_the_protocol_is_read() {
    let report = CompletionReport::from_value(&good()).unwrap();
    assert_eq!(report.files_created, ["src/a.ts"]);
    assert_eq!(report.files_modified, ["src/b.ts", "src/a.ts"]);
    assert_eq!(report.build_result.status, BuildStatus::Success);
    assert_eq!(report.timestamp.to_millis_text(), "2024-01-01T00:00:00.000Z");
}

#[test]
fn every_required_field_is_required() {
    for field in [
        "type",
        "taskId",
        "platform",
        "status",
        "summary",
        "filesCreated",
        "filesModified",
        "buildResult",
        "timestamp",
    ] {
        assert_eq!(problems(|r| drop(r.as_object_mut().unwrap().remove(field))), [field]);
        assert_eq!(problems(|r| r[field] = json!(7)), [field], "a number");
    }
}

#[test]
fn every_mistake_is_named_at_once() {
    let found = problems(|r| {
        r["platform"] = json!("desktop");
        r["summary"] = json!("  ");
        r["filesCreated"] = json!(["ok", "../up", "/etc/passwd", 3]);
        r["timestamp"] = json!("yesterday");
    });
    assert_eq!(
        found,
        [
            "platform",
            "summary",
            "filesCreated[1]",
            "filesCreated[2]",
            "filesCreated[3]",
            "timestamp"
        ]
    );
    assert_eq!(CompletionReport::parse("{").unwrap_err()[0].field, "report");
    assert_eq!(CompletionReport::parse("[]").unwrap_err()[0].field, "report");
}

#[test]
fn a_build_is_reported_honestly() {
    let build = |build: Value| problems(|r| r["buildResult"] = build);
    assert_eq!(
        build(
            json!({"status": "failed", "command": "make", "errors": 2, "output": "a.c:1: error"})
        ),
        [""; 0]
    );
    assert_eq!(
        build(json!({"status": "failed", "command": "make", "errors": 2})),
        ["buildResult.output"]
    );
    assert_eq!(
        build(json!({"status": "success", "command": "make", "errors": 2})),
        ["buildResult.errors"]
    );
    assert_eq!(build(json!({"status": "success"})), ["buildResult.command", "buildResult.errors"]);
    assert_eq!(build(json!({"status": "not_verified"})), [""; 0]);
    assert_eq!(
        build(json!({"status": "not_applicable", "command": "", "errors": 0, "output": null})),
        [""; 0]
    );
    assert_eq!(build(json!({"status": "great", "command": "make"})), ["buildResult.status"]);
    assert_eq!(
        build(json!({"status": "success", "command": "make", "errors": -1})),
        ["buildResult.errors"]
    );
}

#[test]
fn a_template_lacks_only_the_summary() {
    let template = CompletionReport::template("t-1a2b", Timestamp::from_micros(0));
    let found = CompletionReport::from_value(&json!(template)).unwrap_err();
    assert_eq!(found.into_iter().map(|p| p.field).collect::<Vec<_>>(), ["summary"]);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,300}") {
        let _ = CompletionReport::parse(&text);
    }

    #[test]
    fn no_path_that_it_takes_leaves_the_project(path in "[a-z./\\\\~:]{0,12}") {
        let mut report = good();
        report["filesCreated"] = json!([path]);
        if CompletionReport::from_value(&report).is_ok() {
            let inside = std::path::Path::new("/w").join(&path);
            prop_assert!(inside.starts_with("/w"));
            prop_assert!(!inside.components().any(|c| c == std::path::Component::ParentDir));
        }
    }
}
