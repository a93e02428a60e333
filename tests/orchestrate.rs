//! `el orchestrate` from the goal to the result: the real binary, tmux and git, with agents that
//! answer from scripts.

mod answers;
mod bounds;
mod breaks;
mod commands;
mod layers;
mod progress;
mod status;
mod supplied;
mod within;

use serde_json::{Value, json};

use crate::support::{Running, SOON, TestEnv, wait_until};

/// A task of a plan: its name, its dependencies, and its agent's steps.
pub(crate) struct Task<'a>(pub(crate) &'a str, pub(crate) &'a [&'a str], pub(crate) Vec<String>);

/// A task whose agent just closes.
pub(crate) fn plain<'a>(name: &'a str, waits_for: &'a [&'a str]) -> Task<'a> {
    Task(name, waits_for, vec!["close done".to_owned()])
}

const ANALYSIS: &str = r#"answer analysis {"summary": "Seen it", "recommended_splits": 2}"#;
const AGGREGATION: &str =
    r#"answer aggregation {"status": "success", "summary": "All of it is one whole"}"#;

impl TestEnv {
    /// A tracker whose agents answer a plan's questions with these tasks, all valid.
    pub(crate) fn with_plan(tasks: &[Task<'_>]) -> TestEnv {
        let mut env = TestEnv::with_tracker();
        env.scripts(tasks);
        env
    }

    /// Writes the scripts of all questions.
    pub(crate) fn scripts(&mut self, tasks: &[Task<'_>]) {
        let folder = self.path("tmp/answers");
        std::fs::create_dir_all(&folder).unwrap();
        self.set("FAKE_AGENT_ANSWERS", folder.to_str().unwrap());
        std::fs::write(folder.join("tasks.json"), list(tasks).to_string()).unwrap();
        self.script_of("analysis", &[ANALYSIS]);
        self.script_of(
            "task_list",
            &[&format!("answer-file task_list {}", folder.join("tasks.json").display())],
        );
        self.script_of("aggregation", &[AGGREGATION]);
    }

    /// Sets the script of the agent for this question.
    fn script_of(&self, question: &str, steps: &[&str]) {
        std::fs::write(self.path("tmp/answers").join(question), steps.join("\n") + "\n").unwrap();
    }

    /// Begins a plan and interrupts it, to be resumed.
    fn start_plan(&self, more: &[&str]) -> Running {
        self.start_el(&[&["orchestrate", "Write the manual"], more].concat())
    }

    /// Waits for the plan's epic. Returns its id.
    #[track_caller]
    pub(crate) fn epic(&self) -> String {
        let look = || {
            self.robot(&["orchestrate", "status"])["items"][0]["epic_id"]
                .as_str()
                .map(str::to_owned)
        };
        wait_until("the plan's epic", SOON, look)
    }

    #[track_caller]
    fn plan_of(&self, epic: &str) -> Value {
        self.robot(&["orchestrate", "status", epic])
    }

    /// Returns the atom of a task by the model's name for the task.
    #[track_caller]
    fn task_of(&self, epic: &str, name: &str) -> String {
        let plan = self.plan_of(epic);
        let found = plan["tasks"].as_array().unwrap().iter().find(|task| task["task_id"] == name);
        found.unwrap_or_else(|| panic!("no task {name}: {plan:#}"))["atom_id"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Returns the same, or `None` before the atom is filed.
    fn task_of_if(&self, epic: &str, name: &str) -> Option<String> {
        let plan = self.plan_of(epic);
        let found =
            plan["tasks"].as_array().unwrap().iter().find(|task| task["task_id"] == name)?;
        found["atom_id"].as_str().map(str::to_owned)
    }

    /// The atom that asks a question.
    #[track_caller]
    fn question(&self, epic: &str, name: &str) -> String {
        let plan = self.plan_of(epic);
        let found = plan["phases"].as_array().unwrap().iter().find(|phase| phase["name"] == name);
        found
            .and_then(|phase| phase["atom_id"].as_str())
            .unwrap_or_else(|| panic!("no question {name}: {plan:#}"))
            .to_owned()
    }

    /// Returns every atom below the epic: title and status, sorted by title.
    fn atoms_of(&self, epic: &str) -> Vec<(String, String)> {
        let rows = self.robot(&["list", "--all", "--parent", epic])["items"].take();
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        let mut atoms: Vec<_> = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (text(row, "title"), text(row, "status")))
            .collect();
        atoms.sort();
        atoms
    }

    /// Asserts from the events that no run began before all of its atom's dependencies were over.
    #[track_caller]
    fn assert_order(&self, epic: &str) {
        let violations = order_violations(&self.database(), epic);
        assert!(violations.is_empty(), "{violations:#?}");
    }
}

/// Returns the runs below `epic` that began before a blocker of their atom was over, from the
/// events alone.
fn order_violations(database: &rusqlite::Connection, epic: &str) -> Vec<String> {
    let sql = "SELECT began.atom_id, began.seq, b.source_id FROM events began
               JOIN atoms a ON a.id = began.atom_id AND a.parent_id = ?1
               JOIN bonds b ON b.target_id = a.id AND b.kind = 'blocks'
               WHERE began.kind = 'run_started' AND COALESCE((
                 SELECT json_extract(s.data, '$.to') FROM events s
                 WHERE s.atom_id = b.source_id AND s.kind = 'status' AND s.seq < began.seq ORDER \
                 BY s.seq DESC LIMIT 1
               ), 'open') NOT IN ('closed', 'wont_do', 'discard')";
    let mut statement = database.prepare(sql).unwrap();
    let rows = statement.query_map([epic], |row| {
        let (atom, seq, source): (String, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("{atom} began (event {seq}) before {source} was over"))
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

/// The data of a list of tasks.
fn list(tasks: &[Task<'_>]) -> Value {
    let task = |Task(name, waits_for, steps): &Task<'_>| {
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        json!({
            "id": name, "title": format!("Chapter {name}"), "description": TestEnv::script(&steps),
                "dependencies": waits_for,
        })
    };
    json!({ "tasks": tasks.iter().map(task).collect::<Vec<_>>() })
}
