use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::model::{Atom, IssueType, Priority, Status, Timestamp};

const NOW: Timestamp = Timestamp::from_micros(1_764_295_200_000_000);

fn atom(id: &str, status: Status) -> Atom {
    Atom {
        record_type: Atom::RECORD_TYPE,
        id: id.to_owned(),
        title: format!("Do {id}"),
        description: "Carefully".to_owned(),
        acceptance: None,
        status,
        issue_type: IssueType::Task,
        priority: Priority::DEFAULT,
        labels: Vec::new(),
        assignee: None,
        parent_id: None,
        defer_until: None,
        retry_at: None,
        close_reason: None,
        created_by: "ann".to_owned(),
        created_at: NOW,
        updated_at: NOW,
        closed_at: None,
        run_id: None,
        metadata: json!({}),
        delegation: None,
        run_options: None,
        needs: Vec::new(),
    }
}

fn task(id: &str, status: Status) -> TaskState {
    TaskState {
        task_id: id.to_owned(),
        atom: atom(id, status),
        status: status.into(),
        told: None,
        report: None,
        decided: None,
        rejection: None,
    }
}

fn document(text: &str) -> Document {
    Document::parse(text, "messages").unwrap()
}

#[test]
fn the_files_are_where_the_protocol_has_them_and_begin_as_it_shows_them() {
    for file in MailboxFile::ALL {
        assert!(
            file.relative_path().starts_with(".claude-orchestrator/")
                && !file.relative_path().contains("..")
        );
    }
    let empty = document(MailboxFile::ToDeveloper.initial_text());
    assert_eq!((empty.items.len(), empty.field("lastRead")), (0, Some(&Value::Null)));
    assert_eq!(empty.render(), MailboxFile::ToDeveloper.initial_text(), "written as it was");
    assert_eq!(document("").render(), "{\n  \"messages\": []\n}\n");
    assert_eq!(document("\u{feff} [1]").render(), "[\n  1\n]\n");
}

#[test]
fn what_is_no_document_is_told() {
    for text in ["{", "7", "{\"messages\": {}}", "{\"messages\": []} x", "<<<<<<< HEAD"] {
        assert!(Document::parse(text, "messages").is_err(), "{text}");
    }
}

#[test]
fn what_is_to_be_done_is_added_once_and_what_is_over_is_cleared() {
    let mut file = document(
        "{\"extra\": {\"a\": 1}, \"messages\": [{\"type\": \"note\", \"taskId\": \"t-3\"}], \
         \"lastRead\": null}",
    );
    let mut tasks = vec![
        task("t-1", Status::Open),
        task("t-2", Status::InProgress),
        task("t-3", Status::Closed),
    ];
    assert!(merge_assignments(&mut file, &tasks, NOW));
    assert!(!merge_assignments(&mut file, &tasks, NOW), "a second time there is nothing to do");
    assert_eq!(
        file.items.iter().map(|m| task_of(m).unwrap()).collect::<Vec<_>>(),
        ["t-3", "t-1", "t-2"]
    );
    let message = read_assignment(&file.items[1]).unwrap();
    assert_eq!((message.problems, message.instructions.as_deref()), (vec![], Some("Carefully")));
    assert_eq!(file.items[1]["timestamp"], "2025-11-28T02:00:00.000Z");

    tasks[0].status = TaskStatus::Completed;
    assert!(merge_assignments(&mut file, &tasks, NOW));
    assert_eq!(file.items.len(), 2, "the note of another program stays");
    assert_eq!(file.field("lastRead"), Some(&json!("2025-11-28T02:00:00.000Z")));
    assert_eq!(file.field("extra"), Some(&json!({"a": 1})));
    assert!(file.render().starts_with("{\n  \"extra\""), "in its order: {}", file.render());
}

#[test]
fn a_rejected_task_says_why_in_its_last_assignment() {
    let mut file = document(
        "{\"messages\": [{\"type\": \"task_assignment\", \"taskId\": \"t-1\", \"own\": 1}]}",
    );
    let mut rejected = task("t-1", Status::Open);
    rejected.rejection = Some("no tests".to_owned());
    assert!(merge_assignments(&mut file, std::slice::from_ref(&rejected), NOW));
    assert!(!merge_assignments(&mut file, std::slice::from_ref(&rejected), NOW));
    assert_eq!(
        (&file.items[0]["rejectionReason"], &file.items[0]["own"]),
        (&json!("no tests"), &json!(1))
    );
}

#[test]
fn reports_come_once_and_go_when_they_are_decided() {
    let report = json!({"type": "completion_report", "taskId": "t-1", "x": 1});
    let broken = json!({"type": "completion_report", "taskId": "t-1"});
    let mut file = document("{\"messages\": []}");
    file.items.push(broken.clone());
    let mut waiting = task("t-1", Status::Review);
    waiting.report = Some(report.clone());
    assert!(merge_reports(&mut file, std::slice::from_ref(&waiting), NOW));
    assert!(!merge_reports(&mut file, std::slice::from_ref(&waiting), NOW));
    let mut decided = task("t-1", Status::Open);
    decided.decided = Some(message_digest(&report));
    assert!(merge_reports(&mut file, std::slice::from_ref(&decided), NOW));
    assert_eq!(file.items, [broken], "what was never taken is not lost");
}

#[test]
fn the_queue_tells_and_is_told() {
    let mut file = Document::parse(
        "{\"tasks\": [{\"id\": \"t-1\", \"mine\": 1, \"rejectionReason\": \"old\"}, {\"id\": \
         \"foreign\"}]}",
        "tasks",
    )
    .unwrap();
    let mut tasks = vec![task("t-1", Status::Review), task("t-2", Status::Open)];
    assert!(merge_queue(&mut file, &tasks, NOW));
    assert!(!merge_queue(&mut file, &tasks, NOW));
    assert_eq!(file.items[0]["status"], "awaiting_review");
    assert_eq!((&file.items[0]["mine"], &file.items[1]), (&json!(1), &json!({"id": "foreign"})));
    assert!(file.items[0].get("rejectionReason").is_none());

    tasks[0].told = Some(TaskStatus::AwaitingReview);
    tasks[1].told = Some(TaskStatus::Pending);
    assert_eq!(read_decisions(&file, &tasks), (vec![], vec![]));
    file.items[0]["status"] = json!("completed");
    file.items[2]["status"] = json!("in_progress");
    let (wanted, odd) = read_decisions(&file, &tasks);
    assert_eq!(
        wanted,
        [Decision::Approve { task_id: "t-1".into() }, Decision::Begin { task_id: "t-2".into() }]
    );
    assert_eq!(odd, [""; 0]);
    file.items[0]["status"] = json!("rejected");
    file.items[0]["rejectionReason"] = json!(" no tests ");
    file.items[2]["status"] = json!("completed");
    let (wanted, odd) = read_decisions(&file, &tasks);
    assert_eq!(wanted, [Decision::Reject { task_id: "t-1".into(), reason: "no tests".into() }]);
    assert!(odd[0].contains("t-2") && odd[0].contains("no step"), "{odd:?}");
    tasks[0].status = TaskStatus::InProgress;
    assert_eq!(read_decisions(&file, &tasks).0, [], "the atom went on since");
}

#[test]
fn agents_work_and_idle_and_others_stay() {
    let mut file =
        Document::parse("{\"agents\": {\"reviewer\": {\"status\": \"away\"}}}", "").unwrap();
    let state = AgentState {
        name: "claude".into(),
        status: "working",
        current_task: Some("t-1".into()),
        run: Some("run-1".into()),
        since: None,
    };
    assert!(merge_agents(&mut file, std::slice::from_ref(&state), NOW));
    assert!(!merge_agents(&mut file, std::slice::from_ref(&state), NOW));
    assert_eq!(file.field("agents").unwrap()["claude"]["currentTask"], "t-1");
    assert!(merge_agents(&mut file, &[], NOW));
    let all = file.field("agents").unwrap();
    assert_eq!(
        (&all["claude"]["status"], &all["reviewer"]["status"]),
        (&json!("idle"), &json!("away"))
    );
    let mut foreign = Document::parse("{\"agents\": [1]}", "").unwrap();
    merge_agents(&mut foreign, std::slice::from_ref(&state), NOW);
    assert_eq!(foreign.field("agents"), Some(&json!([1])));
}

#[test]
fn an_assignment_is_read_tolerantly_and_what_is_missing_is_told() {
    let message = json!({
        "taskId": " task-1 ", "instructions": "\n Make it\nwell", "filesToCreate": ["a", 3],
        "platform": "custom", "timestamp": "2024-01-01T00:00:00.000Z",
    });
    let read = read_assignment(&message).unwrap();
    assert_eq!(
        (read.task_id.as_str(), read.title.as_str(), read.platform.as_str()),
        ("task-1", "Make it", "custom")
    );
    assert_eq!(read.files_to_create, ["a"]);
    let missing: Vec<&str> = read.problems.iter().map(|p| p.field.as_str()).collect();
    assert_eq!(missing, ["title", "architecture"]);
    assert!(read_assignment(&json!({"title": "x"})).is_err());
    for (field, value) in [
        ("platform", json!("windows")),
        ("platform", json!(7)),
        ("timestamp", json!("yesterday")),
        ("platform", json!(null)),
        ("timestamp", json!(null)),
    ] {
        let mut message = json!({
            "taskId": "t", "instructions": "x", "platform": "web",
            "timestamp": "2024-01-01T00:00:00.000Z",
        });
        message[field] = value;
        assert_eq!(read_assignment(&message).unwrap_err().field, field, "{message}");
    }
    let time = "2024-01-01T00:00:00Z";
    let silent = json!({"taskId": "t", "platform": "ios", "timestamp": time});
    assert_eq!(read_assignment(&silent).unwrap().instructions, None);
}

#[test]
fn the_order_of_keys_tells_no_messages_apart() {
    assert_eq!(
        message_digest(&json!({"a": 1, "b": [{"c": 1, "d": 2}]})),
        message_digest(&json!({"b": [{"d": 2, "c": 1}], "a": 1}))
    );
    assert_ne!(message_digest(&json!({"a": 1})), message_digest(&json!({"a": "1"})));
    let same = json!({"a": 1});
    let numbers: Vec<i64> =
        number_messages(&[same.clone(), json!(2), same]).into_iter().map(|(_, nth)| nth).collect();
    assert_eq!(numbers, [0, 0, 1]);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from)
    ];
    let key = prop_oneof![
        "[a-z]{0,3}",
        Just("type".to_owned()),
        Just("taskId".to_owned()),
        Just("status".to_owned()),
        Just("id".to_owned())
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Else its message would be another one when it is read again, and come twice. Found by fuzzing.
#[test]
fn a_number_of_many_digits_is_written_back_as_it_was_read() {
    let text = "[211515111111111110000000000000000000006307977777.0]";
    let first = Document::parse(text, "messages").unwrap();
    let again = Document::parse(&first.render(), "messages").unwrap();
    assert_eq!(message_digest(&again.items[0]), message_digest(&first.items[0]));
}

proptest! {
    /// The same for any digits.
    #[test]
    fn any_number_is_written_back_as_it_was_read(
        text in "-?[1-9][0-9]{0,50}(\\.[0-9]{1,50})?(e-?[0-9]{1,2})?",
    ) {
        let first = Document::parse(&format!("[{text}]"), "messages").unwrap();
        let again = Document::parse(&first.render(), "messages").unwrap();
        prop_assert_eq!(again, first);
    }

    #[test]
    fn no_text_makes_it_panic(text in "([{}\\[\\]\":,a-z0-9 ]|.){0,200}") {
        let _ = Document::parse(&text, "messages");
    }

    #[test]
    fn nothing_that_others_wrote_is_lost(items in prop::collection::vec(any_json(), 0..6)) {
        let whole = json!({"messages": items, "other": {"kept": [1, null]}});
        let mut file = Document::parse(&whole.to_string(), "messages").unwrap();
        let mut as_queue = file.clone();
        let tasks = [task("t-1", Status::Open)];
        merge_assignments(&mut file, &tasks, NOW);
        merge_reports(&mut file, &tasks, NOW);
        read_decisions(&as_queue, &tasks);
        merge_queue(&mut as_queue, &tasks, NOW);
        let again = Document::parse(&file.render(), "messages").unwrap();
        prop_assert_eq!(&again, &file);
        prop_assert_eq!(&file.items[..items.len()], &items[..]);
        prop_assert_eq!(file.field("other"), Some(&json!({"kept": [1, null]})));
        for item in &items {
            let _ = read_assignment(item);
            let rewritten = serde_json::from_str(&canonical_text(item)).unwrap();
            prop_assert_eq!(message_digest(item), message_digest(&rewritten));
        }
    }
}
