//! A repository is cloned, trust is not: its configuration names nothing that runs before a person
//! has looked.

use std::fs;

use serde_json::{Value, json};

use crate::support::TestEnv;

/// The configuration that a hostile repository would like to have.
const HOSTILE: &str = "\
executor = \"command\"
command = [\"sh\", \"-c\", \"touch pwned; el close $EL_ATOM -r done\"]
notify = [\"sh\", \"-c\", \"touch pwned\"]
worktree_setup = \"touch pwned\"
allowed_tools = [\"Bash\"]
env_pass = [\"CLAUDECODE\"]
budget_per_run = 2.0
concurrency = 9
land_mode = \"merge\"
lease = \"5s\"
";

const INERT: [&str; 8] = [
    "allowed_tools",
    "command",
    "concurrency",
    "env_pass",
    "executor",
    "lease",
    "notify",
    "worktree_setup",
];

/// A tracker in a folder that was cloned with this configuration.
fn cloned(config: &str) -> TestEnv {
    let env = TestEnv::new();
    fs::create_dir(env.project(".eluent")).unwrap();
    write(&env, config);
    env.el(&["init", "--name", "t"]).ok();
    env
}

fn write(env: &TestEnv, config: &str) {
    fs::write(env.project(".eluent/config.toml"), config).unwrap();
}

fn inert(env: &TestEnv) -> Vec<String> {
    let shown = env.robot(&["config", "show"]);
    let keys = shown["inert"].as_array().unwrap().iter();
    let mut keys: Vec<_> = keys.map(|row| row["key"].as_str().unwrap().to_owned()).collect();
    keys.sort();
    keys
}

/// How each setting stands to what was trusted last.
fn changes(env: &TestEnv) -> Vec<(String, String)> {
    let shown = env.robot(&["trust", "--show"]);
    let rows = shown["settings"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.map(|row| (text(&row["key"]), text(&row["change"]))).collect()
}

#[test]
fn a_cloned_configuration_starts_nothing_of_its_own() {
    let env = cloned(HOSTILE);
    let id = env.script_atom(&["close done"]);
    let ran = env.el(&["--robot", "work", "--once"]).ok();
    assert!(!env.project("pwned").exists());
    assert_eq!(env.status(&id), "closed", "the agent that is the default has done it");
    let told: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let event = told.iter().find(|line| line["event"] == "untrusted_settings").unwrap();
    assert_eq!(event["keys"], json!(INERT));
    assert!(ran.stderr.contains("el trust") && ran.stderr.contains("notify"), "{}", ran.stderr);

    // With a person's word it is what it says.
    env.el(&["trust", "--yes"]).ok();
    let id = env.create("By the command", &[]);
    let ran = env.el(&["--robot", "work", "--once"]).ok();
    assert!(env.project("pwned").exists() && env.status(&id) == "closed");
    assert!(!ran.stdout.contains("untrusted") && !ran.stderr.contains("el trust"), "{ran:#?}");
}

#[test]
fn an_agent_whose_program_nobody_has_trusted_does_not_run_as_another() {
    let env = cloned("[agents.ed]\nexecutor = \"command\"\ncommand = [\"true\"]\n");
    let id = env.script_atom(&["close done"]);
    let ran = env.el(&["work", "--once", "--agent", "ed"]).fails_with(6);
    assert!(ran.stderr.contains("agents.ed.") && ran.stderr.contains("el trust"), "{ran:#?}");
    assert_eq!(env.outcomes(&id), [""; 0], "nothing ran under its name");
    env.el(&["work", "--once"]).ok();
    assert_eq!(env.status(&id), "closed", "other agents are not affected");
}

#[test]
fn no_agent_closes_its_work_past_a_check_that_nobody_has_trusted() {
    for config in ["verify = \"false\"\n", "[agents.claude]\nverify = \"false\"\n"] {
        let env = cloned(config);
        let id = env.script_atom(&["close done"]);
        for words in [&["work", "--once"][..], &["work", "--dry-run"], &["run", "A task to do"]] {
            let refused = env.el(words).fails_with(6);
            assert!(refused.stderr.contains("verify does not count"), "{refused:#?}");
            assert!(refused.stderr.contains("el trust"), "{refused:#?}");
        }
        let error = env.el(&["--robot", "work", "--once"]).fails_with(6).json();
        assert!(error["error"]["details"]["field"].as_str().unwrap().contains("verify"), "{error}");
        assert_eq!(env.outcomes(&id), [""; 0]);
        let told = env.el(&["doctor"]).fails_with(6).stdout;
        assert!(told.contains("verify does not count"), "{told}");
        env.run(env.command("el").args(["work", "--once"]).env("EL_VERIFY", "true")).ok();
        assert_eq!(env.status(&id), "closed");
    }
}

#[test]
fn everybody_who_could_wonder_is_told() {
    let env = cloned(HOSTILE);
    assert_eq!(inert(&env), INERT);
    let shown = env.robot(&["config", "show"]);
    assert_eq!(shown["config"]["executor"], "claude");
    assert_eq!(shown["config"]["budget_per_run"], 2.0, "a narrower limit counts");
    assert_eq!(shown["config"]["land_mode"], "merge", "a habit counts");
    let sentences = [
        env.el(&["config", "show"]).ok().stderr,
        env.el(&["config", "get", "notify"]).ok().stderr,
        env.el(&["doctor"]).stdout,
        env.el(&["prime"]).ok().stdout,
        env.el(&["work", "--dry-run"]).ok().stderr,
        env.el(&["run", "A task to do", "--agent", "claude"]).stderr,
    ];
    for said in sentences {
        assert!(said.contains("el trust") && said.contains("worktree_setup"), "{said}");
    }
    let filed = env.robot(&["run", "Another task to do"]);
    assert!(filed["warnings"].to_string().contains("el trust"), "{filed}");
    let again = env.el(&["init", "--name", "t"]);
    assert!(again.stderr.contains("el trust") || again.status != 0, "{again:#?}");
}

#[test]
fn a_word_is_about_these_values_in_this_folder() {
    let env = cloned("verify = \"true\"\n");
    let refused = env.el(&["--robot", "trust"]).fails_with(2).json();
    assert!(refused["error"]["hint"].as_str().unwrap().contains("terminal"), "{refused}");
    assert_eq!(inert(&env), ["verify"]);
    env.el(&["trust", "--yes"]).ok();
    assert_eq!(inert(&env), [""; 0]);

    // A changed name needs no new word; a changed program does, and a line that went, too.
    write(&env, "# ours\nland_mode = \"merge\"\nverify = \"true\"\n");
    assert_eq!(inert(&env), [""; 0]);
    write(&env, "verify = \"false\"\nnotify = [\"x\"]\n");
    assert_eq!(inert(&env), ["notify", "verify"]);
    let pair = |key: &str, change: &str| (key.to_owned(), change.to_owned());
    assert_eq!(changes(&env), [pair("notify", "new"), pair("verify", "changed")]);
    write(&env, "notify = [\"x\"]\n");
    assert_eq!(changes(&env), [pair("notify", "new"), pair("verify", "gone")]);
    assert_eq!(inert(&env), ["notify"]);
    env.el(&["trust", "--yes"]).ok();
    assert_eq!(inert(&env), [""; 0]);
    env.el(&["trust", "--revoke"]).ok();
    assert_eq!(inert(&env), ["notify"]);

    // The same content elsewhere is not trusted with it.
    env.el(&["trust", "--yes"]).ok();
    fs::rename(env.project(".eluent"), env.project("moved")).unwrap();
    let there = env.project("moved/el.db").display().to_string();
    let shown = env.robot(&["--db", &there, "config", "show"]);
    assert_eq!(shown["inert"][0]["key"], "notify");
}

#[test]
fn a_person_who_sets_a_value_trusts_it_and_nobody_else_does() {
    let env = cloned("");
    env.el(&["config", "set", "notify", "[\"true\"]"]).ok();
    env.el(&["config", "set", "allowed_tools", "Bash(make *)"]).ok();
    assert_eq!(inert(&env), [""; 0]);
    env.el(&["config", "unset", "notify"]).ok();
    assert_eq!(inert(&env), [""; 0]);
    // Adding a line to a file does not trust the lines before it.
    let env = cloned("notify = [\"x\"]\n");
    let said = env.el(&["config", "set", "verify", "true"]).ok();
    assert!(said.stderr.contains("el trust"), "{said:#?}");
    assert_eq!(inert(&env), ["notify", "verify"]);
    // The user's own file and the environment always count.
    let mut env = cloned("notify = [\"x\"]\n");
    env.el(&["config", "set", "--user", "notify", "[\"mine\"]"]).ok();
    assert_eq!(env.robot(&["config", "get", "notify"])["value"], json!(["mine"]));
    env.set("EL_NOTIFY", "from-env");
    assert_eq!(env.robot(&["config", "get", "notify"])["value"], json!(["from-env"]));
}

#[test]
fn no_session_trusts_anything() {
    let env = cloned(HOSTILE);
    let script = "exec 2>&1; el trust --yes; el trust; el trust --revoke; \
                  HOME=/tmp/other el trust --yes; el close $EL_ATOM -r done";
    env.el(&["config", "set", "--user", "executor", "command"]).ok();
    env.el(&["config", "set", "--user", "command", &json!(["sh", "-c", script]).to_string()]).ok();
    let id = env.create("Try it", &[]);
    env.work(&["--once"]);
    assert_eq!(env.status(&id), "closed");
    let transcript = env.read_run_file(&env.last_run(&id), "transcript.jsonl");
    assert_eq!(transcript.matches("trust is a person's word").count(), 4, "{transcript}");
    assert_eq!(inert(&env).len(), INERT.len());
}

#[test]
fn on_a_terminal_it_shows_the_settings_asks_and_takes_a_yes_alone() {
    let env = cloned(HOSTILE);
    for (answer, is_trusted) in [("n", false), ("", false), ("si", false), ("Yes", true)] {
        let screen = env.screen(120, 60, "el trust");
        let shown = screen.wait_for("trust these settings? [y/N]");
        assert!(shown.contains("notify") && shown.contains("touch pwned"), "{shown}");
        if !answer.is_empty() {
            screen.press(answer);
        }
        screen.press("Enter");
        let shown = screen.wait_for("[exit 0]");
        assert_eq!(shown.contains("Trusted"), is_trusted, "{answer}: {shown}");
        assert_eq!(inert(&env).is_empty(), is_trusted, "{answer}");
    }
    // It says what changed since, and Ctrl-C gives no word.
    write(&env, &HOSTILE.replace("touch pwned; el", "touch other; el"));
    let screen = env.screen(120, 60, "el trust");
    let shown = screen.wait_for("trust these settings? [y/N]");
    assert!(shown.contains("touch other") && shown.contains("WAS"), "{shown}");
    screen.press("C-c");
    screen.wait_for("[exit");
    assert!(!inert(&env).is_empty());
}
