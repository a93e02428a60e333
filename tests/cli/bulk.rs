//! Many atoms at once: all or none, and the line at fault is named.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{SOON, TestEnv, wait_until};

fn titles(made: &Value) -> Vec<&str> {
    made["items"].as_array().unwrap().iter().map(|atom| atom["title"].as_str().unwrap()).collect()
}

/// Runs `el --robot create …` with the given standard input.
#[track_caller]
fn piped(env: &TestEnv, words: &[&str], text: &str) -> Value {
    let mut command = env.command("el");
    let out = env.path("piped.out");
    let mut child = command
        .arg("--robot")
        .args(words)
        .stdin(Stdio::piped())
        .stdout(std::fs::File::create(&out).unwrap())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    wait_until("its end", SOON, || child.try_wait().unwrap());
    serde_json::from_str(&std::fs::read_to_string(out).unwrap()).unwrap()
}

#[test]
fn json_lines_may_refer_to_each_other() {
    let env = TestEnv::with_tracker();
    let text = "{\"key\":\"ui\",\"title\":\"Page\",\"blocked_by\":[\"db\"],\
        \"labels\":[\"web\"]}\n\n\
                {\"key\":\"db\",\"title\":\"Schema\",\"priority\":\"high\",\"type\":\"feature\",\
                \"acceptance\":\"it holds\"}\n\
                {\"title\":\"All of it\",\"type\":\"epic\",\"key\":\"epic\"}\n\
                {\"title\":\"Docs\",\"parent\":\"epic\",\"metadata\":{\"a\":[1]}}\n";
    std::fs::write(env.project("plan.jsonl"), text).unwrap();
    let made = env.robot(&["create", "--file", "plan.jsonl", "--label", "plan"]);
    assert_eq!(titles(&made), ["Page", "Schema", "All of it", "Docs"]);
    let items = &made["items"];
    assert_eq!(items[0]["labels"], json!(["plan", "web"]));
    assert_eq!(
        (&items[1]["priority"], &items[1]["issue_type"], &items[1]["acceptance"]),
        (&json!(1), &json!("feature"), &json!("it holds"))
    );
    assert_eq!(
        (&items[3]["parent_id"], &items[3]["metadata"]),
        (&items[2]["id"], &json!({"a": [1]}))
    );
    let bond = env.robot(&["dep", "list", items[0]["id"].as_str().unwrap()])["incoming"][0].take();
    assert_eq!((&bond["source_id"], &bond["dependency_type"]), (&items[1]["id"], &json!("blocks")));
    assert_eq!(titles(&env.robot(&["ready"])), ["Schema", "Docs"]);
}

#[test]
fn one_bad_line_creates_nothing_and_is_named() {
    let env = TestEnv::with_tracker();
    let bad = [
        ("{\"titel\":\"b\"}", "plan.jsonl:2"),
        ("{\"title\":\"b\",\"priority\":9}", "plan.jsonl:2"),
        ("{\"title\":\"b\",\"type\":\"banana\"}", "plan.jsonl:2"),
        ("not json", "plan.jsonl:2"),
        ("{\"title\":\"  \"}", "2 of 3"),
        ("{\"title\":\"b\",\"labels\":[\"two words\"]}", "2 of 3"),
        ("{\"title\":\"b\",\"metadata\":7}", "2 of 3"),
        ("{\"title\":\"b\",\"title\":\"c\"}", "plan.jsonl:2"),
        ("{\"title\":\"b\",\"metadata\":{\"x\":1,\"x\":2}}", "plan.jsonl:2"),
        ("{\"title\":\"b\",\"key\":\"k\"}\n{\"title\":\"d\",\"key\":\"k\"}", "3 of 4"),
    ];
    for (line, place) in bad {
        std::fs::write(
            env.project("plan.jsonl"),
            format!("{{\"title\":\"a\"}}\n{line}\n{{\"title\":\"c\"}}\n"),
        )
        .unwrap();
        let ran = env
            .run(env.command("el").args(["--robot", "create", "--file", "plan.jsonl"]))
            .fails_with(2);
        let error = ran.json()["error"].take();
        assert!(error["message"].as_str().unwrap().contains(place), "{line}: {error}");
        assert_eq!(env.robot(&["list", "--all"])["count"], 0, "{line}");
        assert_eq!(env.robot(&["history"])["count"], 0);
    }
}

#[test]
fn a_line_that_refers_to_what_is_not_there_creates_nothing_and_is_named() {
    let env = TestEnv::with_tracker();
    for (line, exit) in [
        ("{\"title\":\"b\",\"blocked_by\":[\"nope\"]}", 2),
        ("{\"title\":\"b\",\"parent\":\"nope\"}", 2),
        ("{\"title\":\"b\",\"key\":\"x\",\"blocked_by\":[\"x\"]}", 4),
    ] {
        std::fs::write(
            env.project("plan.jsonl"),
            format!("{{\"title\":\"a\"}}\n{line}\n{{\"title\":\"c\"}}\n"),
        )
        .unwrap();
        let ran = env
            .run(env.command("el").args(["--robot", "create", "--file", "plan.jsonl"]))
            .fails_with(exit);
        let error = ran.json()["error"].take();
        assert!(error.to_string().contains("2 of 3"), "{line}: {error}");
        assert_eq!(env.robot(&["list", "--all"])["count"], 0, "{line}");
    }
}

#[test]
fn a_markdown_list_becomes_epics_and_their_children() {
    let env = TestEnv::with_tracker();
    let text = "# Plan\n\n- [ ] Storage\n  - [ ] Schema\n    STRICT tables.\n    And indexes.\n  - \
        [x] Done already\n  - [ ] Queries\n* [ ] Alone\n\nEnd.\n";
    std::fs::write(env.project("plan.md"), text).unwrap();
    let made = env.robot(&["create", "--file", "plan.md", "-p", "low"]);
    assert_eq!(titles(&made), ["Storage", "Schema", "Queries", "Alone"]);
    let items = &made["items"];
    assert_eq!(
        (&items[0]["issue_type"], &items[3]["issue_type"]),
        (&json!("epic"), &json!("task"))
    );
    assert_eq!(
        (&items[1]["parent_id"], &items[2]["parent_id"]),
        (&items[0]["id"], &items[0]["id"])
    );
    assert_eq!(items[1]["description"], "STRICT tables.\nAnd indexes.");
    assert!(items.as_array().unwrap().iter().all(|atom| atom["priority"] == 3));
    let human = env.el(&["create", "--file", "plan.md", "-q"]).ok();
    assert_eq!(human.stdout.lines().count(), 4);
    let told = env.el(&["create", "--file", "plan.md"]).ok();
    assert!(told.stderr.contains("line 7: a ticked item is left out"), "{told:#?}");
    assert!(told.stderr.contains("line 1: a heading and its text make no atom"), "{told:#?}");
    std::fs::write(env.project("TODO.md"), "# Later\n\n- one\n- two\n").unwrap();
    let ran = env.el(&["create", "--file", "TODO.md"]).fails_with(2);
    assert!(ran.stderr.contains("(the first is in line 3) become tasks with: sed"), "{ran:#?}");
    std::fs::write(env.project("done.md"), "- [x] a\n- [x] b\n").unwrap();
    let ran = env.el(&["create", "--file", "done.md"]).fails_with(2);
    assert!(ran.stderr.contains("no open items in it, and 2 ticked"), "{ran:#?}");
}

#[test]
fn stdin_is_read_where_a_dash_stands() {
    let env = TestEnv::with_tracker();
    let many = piped(&env, &["create", "--file", "-"], "{\"title\":\"a\"}\n{\"title\":\"b\"}\n");
    assert_eq!(titles(&many["data"]), ["a", "b"]);
    let list = piped(&env, &["create", "--file", "-"], "- [ ] from a list\n");
    assert_eq!(titles(&list["data"]), ["from a list"]);
    let one = piped(&env, &["create", "Title", "-d", "-"], "many\nlines\n\n");
    assert_eq!(one["data"]["description"], "many\nlines");
    let id = one["data"]["id"].as_str().unwrap();
    let closed = piped(&env, &["close", id, "--reason", "-"], "it is\ndone\n");
    assert_eq!(closed["data"]["close_reason"], "it is\ndone");
    let bad = piped(&env, &["create", "--file", "-"], "{\"title\":\"a\"}\n{\"x\":1}\n");
    assert!(bad["error"]["message"].as_str().unwrap().starts_with("stdin:2"), "{bad}");
}

#[test]
fn an_empty_file_is_an_error_and_one_with_a_byte_order_mark_is_none() {
    let env = TestEnv::with_tracker();
    std::fs::write(env.project("empty.jsonl"), "\n").unwrap();
    env.run(env.command("el").args(["create", "--file", "empty.jsonl"])).fails_with(2);
    std::fs::write(env.project("bom.jsonl"), "\u{feff}{\"title\":\"a\"}\r\n").unwrap();
    assert_eq!(titles(&env.robot(&["create", "--file", "bom.jsonl"])), ["a"]);
    std::fs::write(env.project("bad.jsonl"), b"{\"title\":\"\xff\"}\n").unwrap();
    let ran = env.run(env.command("el").args(["create", "--file", "bad.jsonl"])).fails_with(2);
    assert!(ran.stderr.contains("UTF-8"), "{ran:#?}");
}

#[test]
fn two_thousand_at_once_take_one_moment_and_keep_their_order() {
    let env = TestEnv::with_tracker();
    let text: String = (0..2000).map(|n| format!("{{\"title\":\"Atom {n}\"}}\n")).collect();
    std::fs::write(env.project("many.jsonl"), text).unwrap();
    let made = env.robot(&["create", "--file", "many.jsonl"]);
    assert_eq!((&made["count"], &made["truncated"]), (&json!(2000), &json!(false)));
    let listed = env.robot(&["list"]);
    assert_eq!(
        (&listed["count"], &listed["total"], &listed["truncated"]),
        (&json!(2000), &json!(2000), &json!(false))
    );
    assert_eq!(titles(&listed), titles(&made), "a robot's list has no small default limit");
    assert_eq!(env.robot(&["doctor"])["serious"], 0);
}

#[test]
fn a_text_comes_from_a_file_of_bounded_size_and_from_no_folder() {
    let env = TestEnv::with_tracker();
    for arguments in [&["create", "x", "--description-file"][..], &["run", "--file"]] {
        for (path, why) in [("/", "is a folder"), ("/dev/zero", "MiB")] {
            let told = env.el(&[arguments, &[path]].concat()).fails_with(2).stderr;
            assert!(told.contains(why), "{arguments:?} {path}: {told}");
        }
        env.el(&[arguments, &["no/such/file"]].concat()).fails_with(3);
    }
    assert_eq!(env.robot(&["list", "--all"])["count"], 0);
}

#[test]
fn what_would_wait_for_its_own_epic_comes_in_by_no_file() {
    let env = TestEnv::with_tracker();
    let lines = "{\"key\":\"epic\",\"title\":\"All of it\",\"type\":\"epic\"}\n\
                 {\"title\":\"A part\",\"parent\":\"epic\",\"blocked_by\":[\"epic\"]}\n";
    std::fs::write(env.project("plan.jsonl"), lines).unwrap();
    let refused = env.el(&["--robot", "create", "--file", "plan.jsonl"]).fails_with(4).json();
    assert_eq!(refused["error"]["code"], "cycle", "{refused:#}");
    assert_eq!(env.robot(&["list", "--all"])["count"], 0);

    let issues = "{\"id\":\"x-1\",\"title\":\"All of it\",\"status\":\"open\",\
                  \"issue_type\":\"epic\"}\n\
                  {\"id\":\"x-2\",\"title\":\"A part\",\"status\":\"open\",\"dependencies\":[\
                  {\"depends_on_id\":\"x-1\",\"type\":\"parent-child\"},\
                  {\"depends_on_id\":\"x-1\",\"type\":\"blocks\"}]}\n";
    std::fs::write(env.project("issues.jsonl"), issues).unwrap();
    let told = env.robot(&["import", "issues.jsonl"]);
    assert_eq!((&told["created"], &told["bonds_added"]), (&json!(2), &json!(0)));
    assert!(told["notes"].to_string().contains("would make an atom wait for itself"), "{told}");
    env.el(&["dep", "check"]).ok();
    assert_eq!(titles(&env.robot(&["ready"])), ["A part"]);
}
