use super::*;

fn options() -> ClaudeOptions {
    ClaudeOptions {
        path: "/opt/claude".into(),
        session_uuid: "11111111-2222-4333-8444-555555555555".to_owned(),
        ..ClaudeOptions::default()
    }
}

fn words(options: &ClaudeOptions) -> Vec<String> {
    argv(options).unwrap().into_iter().map(|word| word.into_string().unwrap()).collect()
}

#[test]
fn the_smallest_call() {
    let uuid = "11111111-2222-4333-8444-555555555555";
    let expected = [
        "/opt/claude",
        "-p",
        "--allowedTools",
        "Bash(el *)",
        "--disallowedTools",
        "AskUserQuestion",
        "ScheduleWakeup",
        "CronCreate",
        "--session-id",
        uuid,
        "--output-format",
        "stream-json",
        "--verbose",
    ];
    assert_eq!(words(&options()), expected);
    let resumed = words(&ClaudeOptions { resume: true, ..options() });
    assert_eq!(resumed[8..10], ["--resume", uuid]);
    assert!(!resumed.contains(&"--session-id".to_owned()));
}

#[test]
fn a_call_with_everything() {
    let all = ClaudeOptions {
        permission_mode: Some("acceptEdits".to_owned()),
        allowed_tools: ["Edit", "Bash(cargo *)", "Bash(el *)", "Edit"].map(String::from).to_vec(),
        disallowed_tools: vec!["WebFetch".to_owned()],
        model: Some("opus".to_owned()),
        max_turns: Some(40),
        budget_per_run: Some(2.5),
        settings_file: Some("/run/settings.json".into()),
        extra_args: vec!["--fallback-model".to_owned(), "sonnet".to_owned()],
        ..options()
    };
    let words = words(&all).join(" ");
    assert_eq!(
        words,
        "/opt/claude -p --allowedTools Bash(el *) Edit Bash(cargo *) \
         --disallowedTools AskUserQuestion ScheduleWakeup CronCreate WebFetch \
         --session-id 11111111-2222-4333-8444-555555555555 --output-format stream-json \
         --verbose --permission-mode acceptEdits --model opus --max-turns 40 \
         --max-budget-usd 2.5 --settings /run/settings.json \
         --fallback-model sonnet"
    );
}

#[test]
fn in_its_own_worktree_it_may_commit_whatever_else_is_allowed() {
    let options = ClaudeOptions {
        own_branch: Some("bots/a-1".to_owned()),
        allowed_tools: vec!["Bash(make *)".to_owned()],
        ..options()
    };
    let words = words(&options).join(" ");
    for rule in COMMIT_RULES.into_iter().chain(["Bash(git switch bots/a-1)"]) {
        assert!(words.contains(rule), "{words}");
    }
    assert!(words.contains("Bash(make *)") && !words.contains("push"), "{words}");
}

#[test]
fn what_governs_the_runs_is_not_edited() {
    let words = words(&ClaudeOptions { database: Some("/p/.eluent/el.db".into()), ..options() });
    let from = words.iter().position(|word| word == "--disallowedTools").unwrap();
    assert_eq!(
        words[from + 4..from + 7],
        ["Edit(//p/.eluent/config.toml)", "Edit(//p/.eluent/runs/**)", "Edit(//p/.eluent/el.db*)"]
    );
}

#[test]
fn lists_of_rules_are_always_followed_by_an_option() {
    let words = words(&options());
    for list in ["--allowedTools", "--disallowedTools"] {
        let from = words.iter().position(|word| word == list).unwrap();
        assert!(
            words[from + 1..].iter().any(|word| word.starts_with("--")),
            "{list} would eat what follows"
        );
    }
}

#[test]
fn values_that_would_be_misread_name_their_field() {
    let field = |options: ClaudeOptions| argv(&options).unwrap_err().field;
    assert_eq!(field(ClaudeOptions { session_uuid: String::new(), ..options() }), "session_uuid");
    assert_eq!(field(ClaudeOptions { model: Some("--bare".to_owned()), ..options() }), "model");
    assert_eq!(
        field(ClaudeOptions { permission_mode: Some(" ".to_owned()), ..options() }),
        "permission_mode"
    );
    assert_eq!(
        field(ClaudeOptions { allowed_tools: vec!["-x".to_owned()], ..options() }),
        "allowed_tools"
    );
    assert_eq!(
        field(ClaudeOptions { disallowed_tools: vec![String::new()], ..options() }),
        "disallowed_tools"
    );
    assert_eq!(field(ClaudeOptions { budget_per_run: Some(0.0), ..options() }), "budget_per_run");
    assert_eq!(
        field(ClaudeOptions { budget_per_run: Some(f64::NAN), ..options() }),
        "budget_per_run"
    );
    for word in ["--bare", "--output-format=text", "--resume", "-p", "a\0b"] {
        assert_eq!(
            field(ClaudeOptions { extra_args: vec![word.to_owned()], ..options() }),
            "extra_args",
            "{word:?}"
        );
    }
}
