use std::fs;
use std::io::Write as _;

use el_core::model::{Status, Timestamp};
use el_core::ops::{AtomPatch, Guard, NewAtom, Sort};
use serde_json::json;

use super::*;

mod odd_files;

struct World {
    dir: tempfile::TempDir,
    store: Store,
    mailbox: Mailbox,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let store =
            Store::create(&dir.path().join("el.db"), "t", Timestamp::from_micros(0)).unwrap();
        let mailbox = Mailbox::new(dir.path()).with_approvals(true);
        World { dir, store, mailbox }
    }

    fn sync(&mut self) -> Synced {
        self.mailbox.sync(&mut self.store, "ann", &AtomFilter::default()).unwrap()
    }

    fn path(&self, file: MailboxFile) -> PathBuf {
        self.dir.path().join(file.relative_path())
    }

    fn read(&self, file: MailboxFile) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path(file)).unwrap()).unwrap()
    }

    fn write(&self, file: MailboxFile, content: &Value) {
        fs::create_dir_all(self.path(file).parent().unwrap()).unwrap();
        fs::write(self.path(file), content.to_string()).unwrap();
    }

    /// As a program does that knows nothing of locks.
    fn add(&self, file: MailboxFile, message: Value) {
        let mut whole =
            if self.path(file).exists() { self.read(file) } else { json!({"messages": []}) };
        whole["messages"].as_array_mut().unwrap().push(message);
        self.write(file, &whole);
    }

    fn ctx(&self) -> Ctx<'static> {
        Ctx { now: clock::now(), actor: "ann", session: None }
    }

    fn atoms(&self) -> Vec<el_core::model::Atom> {
        let all = AtomFilter { include_over: true, ..AtomFilter::default() };
        ops::list(&self.store, &all, Sort::Oldest, None, 0, clock::now()).unwrap().items
    }

    fn create(&mut self, title: &str) -> String {
        let ctx = self.ctx();
        ops::create(&mut self.store, &ctx, &NewAtom { title: title.into(), ..NewAtom::default() })
            .unwrap()
            .id
    }
}

fn assignment(task: &str) -> Value {
    json!({
        "type": "task_assignment", "taskId": task, "platform": "web",
        "title": format!("Do {task}"), "instructions": "Carefully", "filesToCreate": ["a.ts"],
        "architecture": "layers", "apiEndpoints": ["GET /a"],
        "timestamp": "2024-01-01T00:00:00.000Z"
    })
}

fn report(task: &str, summary: &str) -> Value {
    json!({
        "type": "completion_report", "taskId": task, "platform": "web",
        "status": "awaiting_review", "summary": summary, "filesCreated": ["a.ts"],
        "filesModified": [], "buildResult": {"status": "not_verified"},
        "timestamp": "2024-01-01T00:00:00.000Z"
    })
}

#[test]
fn missing_files_are_made_as_the_protocol_shows_them() {
    let mut w = World::new();
    let synced = w.sync();
    assert_eq!(
        (synced.written.len(), synced.errors.as_slice(), synced.problems.as_slice()),
        (4, &[][..], &[][..])
    );
    assert_eq!(w.read(MailboxFile::ToDeveloper), json!({"messages": [], "lastRead": null}));
    assert_eq!(w.read(MailboxFile::ToTeamLead), json!({"messages": [], "lastRead": null}));
    assert_eq!(w.read(MailboxFile::Queue)["tasks"], json!([]));
    assert!(fs::read_to_string(w.path(MailboxFile::Log)).unwrap().starts_with("# Development log"));
    let before = w.mailbox.fingerprint();
    assert!(w.sync().is_empty());
    assert_eq!(w.mailbox.fingerprint(), before, "what is as it should be is not written");
}

#[test]
fn an_assignment_becomes_an_atom_once_and_an_atom_an_assignment() {
    let mut w = World::new();
    let own = w.create("Our own");
    w.add(MailboxFile::ToDeveloper, assignment("task-001"));
    assert_eq!(w.sync().arrived, 1);
    assert_eq!(w.sync().arrived, 0);
    let atoms = w.atoms();
    assert_eq!(atoms.len(), 2);
    let made = &atoms[1];
    assert_eq!(
        (made.title.as_str(), made.created_by.as_str(), made.asks_for_review()),
        ("Do task-001", "team-lead", true)
    );
    assert_eq!(
        made.description,
        "Carefully\n\nFiles to create:\n- a.ts\n\nArchitecture: layers\n\nAPI endpoints:\n- GET /a"
    );
    let file = w.read(MailboxFile::ToDeveloper);
    let tasks: Vec<&str> = file["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["taskId"].as_str().unwrap())
        .collect();
    assert_eq!(tasks, ["task-001", own.as_str()]);
    assert!(file["lastRead"].is_string(), "it was read");
    let queue = w.read(MailboxFile::Queue);
    let states: Vec<&Value> =
        queue["tasks"].as_array().unwrap().iter().map(|t| &t["status"]).collect();
    assert_eq!(states, ["pending", "pending"]);
    assert!(
        fs::read_to_string(w.path(MailboxFile::Log))
            .unwrap()
            .contains("task-001 was assigned and is t-")
    );
}

#[test]
fn a_report_becomes_a_review_and_its_approval_clears_the_messages() {
    let mut w = World::new();
    w.add(MailboxFile::ToDeveloper, assignment("task-001"));
    w.sync();
    w.add(MailboxFile::ToTeamLead, report("task-001", "Made it"));
    assert_eq!(w.sync().arrived, 1);
    let atom = w.atoms().remove(0);
    assert_eq!(atom.status, Status::Review);
    assert_eq!(w.read(MailboxFile::Queue)["tasks"][0]["status"], "awaiting_review");
    assert_eq!(w.read(MailboxFile::ToTeamLead)["messages"].as_array().unwrap().len(), 1);
    let ctx = w.ctx();
    ops::approve(&mut w.store, &ctx, &[&atom.id], None).unwrap();
    w.sync();
    for file in [MailboxFile::ToDeveloper, MailboxFile::ToTeamLead] {
        let file = w.read(file);
        assert!(
            file["messages"].as_array().unwrap().is_empty() && file["lastRead"].is_string(),
            "{file}"
        );
    }
    assert_eq!(w.read(MailboxFile::Queue)["tasks"][0]["status"], "completed");
    w.add(MailboxFile::ToDeveloper, assignment("task-001"));
    w.sync();
    assert_eq!(w.atoms().len(), 1, "an old message that comes back is no new one");
    assert!(w.read(MailboxFile::ToDeveloper)["messages"].as_array().unwrap().is_empty());
    let mut again = assignment("task-001");
    again["timestamp"] = json!("2024-02-01T00:00:00.000Z");
    w.add(MailboxFile::ToDeveloper, again);
    w.sync();
    assert_eq!(w.atoms()[0].status, Status::Open, "assigned anew");
}

#[test]
fn a_hand_over_through_el_reaches_the_team_lead_and_a_decision_in_the_queue_comes_back() {
    let mut w = World::new();
    let id = w.create("Our own");
    w.sync();
    let submit = |w: &mut World, summary: &str| {
        let ctx = w.ctx();
        ops::submit(&mut w.store, &ctx, &id, &report(&id, summary).to_string()).unwrap();
        w.sync();
        assert_eq!(w.read(MailboxFile::ToTeamLead)["messages"][0]["summary"], summary);
    };
    let decide = |w: &mut World, status: &str, reason: Option<&str>| {
        let mut queue = w.read(MailboxFile::Queue);
        queue["tasks"][0]["status"] = json!(status);
        if let Some(reason) = reason {
            queue["tasks"][0]["rejectionReason"] = json!(reason);
        }
        w.write(MailboxFile::Queue, &queue);
        w.sync()
    };
    submit(&mut w, "First");
    decide(&mut w, "rejected", Some("no tests"));
    assert_eq!(w.atoms()[0].status, Status::Open);
    let queue = w.read(MailboxFile::Queue);
    assert_eq!(
        (&queue["tasks"][0]["status"], &queue["tasks"][0]["rejectionReason"]),
        (&json!("pending"), &json!("no tests"))
    );
    assert_eq!(w.read(MailboxFile::ToDeveloper)["messages"][0]["rejectionReason"], "no tests");
    assert!(w.read(MailboxFile::ToTeamLead)["messages"].as_array().unwrap().is_empty());
    assert_eq!(ops::list_comments(&w.store, &id).unwrap().1[0].content, "Rejected: no tests");
    assert!(decide(&mut w, "completed", None).problems[0].contains("no step of the protocol"));
    assert_eq!(w.read(MailboxFile::Queue)["tasks"][0]["status"], "pending");
    decide(&mut w, "in_progress", None);
    assert_eq!(
        (w.atoms()[0].status, w.atoms()[0].assignee.as_deref()),
        (Status::InProgress, Some("developer"))
    );
    submit(&mut w, "Second");
    decide(&mut w, "completed", None);
    assert_eq!(w.atoms()[0].close_reason.as_deref(), Some("Approved: Second"));
}

#[test]
fn the_error_rules_of_the_protocol_hold() {
    let mut w = World::new();
    let mut empty = assignment("task-001");
    empty["instructions"] = json!(" ");
    empty["filesToCreate"] = json!([]);
    empty["architecture"] = json!("");
    empty["apiEndpoints"] = json!([]);
    w.add(MailboxFile::ToDeveloper, empty);
    w.add(MailboxFile::ToDeveloper, assignment("task-002"));
    let synced = w.sync();
    assert!(
        synced.problems.iter().any(|p| p.contains("task-001") && p.contains("instructions")),
        "{synced:?}"
    );
    let message = w.read(MailboxFile::ToTeamLead)["messages"][0].clone();
    assert_eq!(
        (&message["taskId"], &message["buildResult"]["status"]),
        (&json!("task-001"), &json!("not_verified"))
    );
    assert!(message["summary"].as_str().unwrap().contains("No instructions were found"));

    let mut failed = report("task-002", "It does not build yet");
    failed["buildResult"] = json!({
        "status": "failed", "command": "npm run build", "errors": 2, "output": "a.ts(1): error"
    });
    let mut hidden = failed.clone();
    hidden["buildResult"]["output"] = json!("");
    w.add(MailboxFile::ToTeamLead, hidden);
    let synced = w.sync();
    assert!(synced.problems[0].contains("buildResult.output"), "{synced:?}");
    let second = w.atoms().into_iter().find(|a| a.title == "Do task-002").unwrap();
    assert_eq!(second.status, Status::Open);
    assert!(
        ops::list_comments(&w.store, &second.id).unwrap().1[0]
            .content
            .contains("buildResult.output")
    );
    w.add(MailboxFile::ToTeamLead, failed.clone());
    w.sync();
    let waiting = ops::reviews(&w.store, &AtomFilter::default(), clock::now()).unwrap();
    let honest = waiting.iter().find(|one| one.atom.id == second.id).unwrap();
    assert_eq!(honest.review.as_ref().unwrap().report, failed);

    w.add(MailboxFile::ToTeamLead, report("task-999", "Nobody asked"));
    assert!(w.sync().problems[0].contains("never assigned"));
    assert!(
        w.atoms()
            .iter()
            .any(|a| a.title == "Report without an assignment: task-999"
                && a.status == Status::Review)
    );
}

#[test]
fn what_others_keep_in_the_files_stays() {
    let mut w = World::new();
    w.write(
        MailboxFile::ToDeveloper,
        &json!({
            "schema": 3, "messages": [{"type": "note", "text": "hello"}, 7, null], "lastRead": "x"
        }),
    );
    w.write(
        MailboxFile::Queue,
        &json!({"tasks": [{"id": "theirs", "status": "weird", "x": [1]}], "owner": "lead"}),
    );
    w.write(MailboxFile::Status, &json!({"agents": {"reviewer": {"mood": "good"}}, "version": 2}));
    let id = w.create("Ours");
    w.sync();
    let file = w.read(MailboxFile::ToDeveloper);
    assert_eq!(
        (&file["schema"], &file["messages"][0]["text"], &file["messages"][1]),
        (&json!(3), &json!("hello"), &json!(7))
    );
    assert_eq!(file["messages"][3]["taskId"], id.as_str());
    let queue = w.read(MailboxFile::Queue);
    assert_eq!(
        (&queue["owner"], &queue["tasks"][0]),
        (&json!("lead"), &json!({"id": "theirs", "status": "weird", "x": [1]}))
    );
    assert_eq!(w.read(MailboxFile::Status)["agents"]["reviewer"], json!({"mood": "good"}));
    assert_eq!(w.atoms().len(), 1);
}

#[test]
fn what_a_person_does_to_an_atom_shows_in_the_files() {
    let mut w = World::new();
    let id = w.create("One");
    w.sync();
    let ctx = w.ctx();
    let patch = AtomPatch {
        status: Some(Status::WontDo),
        reason: Some("no need".into()),
        ..AtomPatch::default()
    };
    ops::update(&mut w.store, &ctx, &[&id], &patch, &Guard::default()).unwrap();
    w.sync();
    let queue = w.read(MailboxFile::Queue);
    assert_eq!(
        (&queue["tasks"][0]["status"], &queue["tasks"][0]["rejectionReason"]),
        (&json!("rejected"), &json!("no need"))
    );
    assert!(w.read(MailboxFile::ToDeveloper)["messages"].as_array().unwrap().is_empty());
    assert!(fs::read_to_string(w.path(MailboxFile::Log)).unwrap().contains("pending → rejected"));
}
