//! The shapes that programs read. A changed snapshot is a changed interface: a decision, and a line
//! in the changelog.
//!
//! `INSTA_UPDATE=always cargo test -p el-cli --all-features --test e2e shapes` updates the
//! snapshots.

use serde_json::{Map, Value, json};

use crate::support::TestEnv;

/// Removes values that differ between runs; ids are numbered in order of appearance.
#[derive(Default)]
struct Redactor {
    ids: Vec<String>,
    folder: String,
}

impl Redactor {
    fn new(env: &TestEnv) -> Self {
        Self {
            ids: Vec::new(),
            folder: env.path("").display().to_string().trim_end_matches('/').to_owned(),
        }
    }

    fn shape(&mut self, value: &Value) -> String {
        serde_json::to_string_pretty(&self.value("", value)).unwrap()
    }

    fn value(&mut self, key: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(key, text)),
            Value::Number(_)
                if ["pid", "agent_pid", "start", "seconds", "duration_ms"].contains(&key) =>
            {
                json!("[number]")
            }
            // Only a long enough run has a heartbeat.
            _ if key == "active_at" => json!("[time or null]"),
            Value::Array(items) => items.iter().map(|item| self.value(key, item)).collect(),
            Value::Object(map) => Value::Object(
                map.iter()
                    .map(|(key, value)| (key.clone(), self.value(key, value)))
                    .collect::<Map<_, _>>(),
            ),
            other => other.clone(),
        }
    }

    fn text(&mut self, key: &str, text: &str) -> String {
        let is_time = text.len() > 20
            && text.ends_with('Z')
            && text.as_bytes()[10] == b'T'
            && text.starts_with("20");
        let is_uuid = text.split('-').map(str::len).collect::<Vec<_>>() == [8, 4, 4, 4, 12];
        match key {
            _ if is_time => return "[time]".to_owned(),
            _ if is_uuid => return "[uuid]".to_owned(),
            "boot" => return "[boot]".to_owned(),
            "session" => return "[session]".to_owned(),
            "socket" => return "[socket]".to_owned(),
            _ => {}
        }
        let mut out = String::new();
        let text = text.replace(&self.folder, "[folder]");
        let mut rest = text.as_str();
        while let Some(at) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
            out.push_str(&rest[..at]);
            let word = &rest[at..];
            let end =
                word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(word.len());
            let (word, behind) = word.split_at(end);
            out.push_str(&self.word(word));
            rest = behind;
        }
        out + rest
    }

    fn word(&mut self, word: &str) -> String {
        let sizes = [("t-", 4), ("run-", 8), ("worker-", 8)];
        let Some((prefix, size)) = sizes.iter().find(|(prefix, size)| {
            word.strip_prefix(prefix).is_some_and(|rest| rest.len() == *size)
        }) else {
            return word.to_owned();
        };
        if !self.ids.iter().any(|id| id == word) {
            self.ids.push(word.to_owned());
        }
        let same: Vec<&String> = self.ids.iter().filter(|id| id.starts_with(prefix)).collect();
        let number = same.iter().position(|id| *id == word).unwrap() + 1;
        // Same length as before, so that columns stay aligned.
        format!("{prefix}{number:0size$}")
    }
}

macro_rules! shape {
    ($redactor:expr, $name:literal, $value:expr) => {
        insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!($name, $redactor.shape(&$value));
        })
    };
}

#[test]
fn the_tracker() {
    let env = TestEnv::with_tracker();
    let mut redactor = Redactor::new(&env);
    let made = env.robot(&[
        "create",
        "Fix the parser",
        "--type",
        "bug",
        "-p",
        "high",
        "-l",
        "parser",
        "-d",
        "Offsets.",
        "--acceptance",
        "Tests pass",
        "--metadata",
        "{\"key\":[1]}",
    ]);
    let a = made["id"].as_str().unwrap().to_owned();
    shape!(redactor, "create", made);
    let b = env.create("Write docs", &["--blocked-by", &a, "--defer-until", "2099-01-02"]);
    shape!(redactor, "list", env.robot(&["list"]));
    shape!(redactor, "ready", env.robot(&["ready"]));
    shape!(redactor, "dep_list", env.robot(&["dep", "list", &b]));
    shape!(redactor, "dep_tree", env.robot(&["dep", "tree", &a]));
    shape!(redactor, "why", env.robot(&["why", &b]));
    shape!(
        redactor,
        "update",
        env.robot(&["update", &a, "--title", "Fix the parser of dates", "--status", "review"])
    );
    shape!(redactor, "comment_add", env.robot(&["comment", "add", &a, "a remark"]));
    shape!(redactor, "show", env.robot(&["show", &a]));
    shape!(redactor, "status", env.robot(&["status"]));
    shape!(redactor, "close", env.robot(&["close", &a, "-r", "done"]));
    shape!(redactor, "history", env.robot(&["history", &a]));
    shape!(redactor, "stats", env.robot(&["stats"]));
}

#[test]
fn the_runs() {
    let env = TestEnv::with_tracker();
    let mut redactor = Redactor::new(&env);
    let id = env.script_atom(&["exit 7", "on-attempt 2", "close done"]);
    env.work(&["--drain"]);
    shape!(redactor, "runs", env.robot(&["runs"]));
    shape!(redactor, "runs_show", env.robot(&["runs", "show", &id]));
    shape!(redactor, "show_with_runs", env.robot(&["show", &id]));
}

#[test]
fn the_worker() {
    let env = TestEnv::with_tracker();
    let mut redactor = Redactor::new(&env);
    env.script_atom(&["exit 7", "on-attempt 2", "close done"]);
    let told = env.work(&["--drain"]);
    let told: Vec<Value> = told
        .into_iter()
        .map(|mut event| {
            event
                .as_object_mut()
                .unwrap()
                .entry("tmux_socket")
                .and_modify(|socket| *socket = json!("[socket]"));
            event
        })
        .collect();
    shape!(redactor, "work", Value::Array(told));
}

#[test]
fn the_configuration() {
    let mut env = TestEnv::with_tracker();
    env.unset("EL_SANDBOX_WRITE").unset("EL_SANDBOX");
    shape!(Redactor::new(&env), "config_show", env.robot(&["config", "show"]));
}

#[test]
fn the_errors() {
    let env = TestEnv::with_tracker();
    let (a, b) = (env.create("A", &[]), env.create("B", &[]));
    env.el(&["dep", "add", &a, &b]).ok();
    let commands: [&[&str]; 7] = [
        &["show", "zzzz"],
        &["show", ""],
        &["banana"],
        &["update", &a, "--status", "banana"],
        &["dep", "add", &b, &a],
        &["close", &a, "--if-status", "blocked"],
        &["list", "--db", "nowhere.db"],
    ];
    let errors: Vec<Value> = commands
        .iter()
        .map(|words| {
            let ran = env.run(env.command("el").arg("--robot").args(*words));
            json!({"exit": ran.status, "answer": ran.json()})
        })
        .collect();
    shape!(Redactor::new(&env), "errors", Value::Array(errors));
}

#[test]
fn what_a_person_sees_of_a_list() {
    let env = TestEnv::with_tracker();
    let a = env.create("Fix the parser", &["--type", "bug", "-p", "high"]);
    env.create("Write docs", &["--blocked-by", &a, "-a", "ada"]);
    let mut redactor = Redactor::new(&env);
    let list = env.el(&["list"]).ok().stdout;
    let lines: Vec<String> = list.lines().map(|line| redactor.text("", line)).collect();
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("human_list", lines.join("\n"));
    });
}
