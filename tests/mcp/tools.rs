//! Every tool, with good and bad arguments.

use serde_json::{Value, json};

use super::Client;
use crate::support::TestEnv;

/// Returns the id at the head of a tool's text: the second word of `Created t-q5e6 P2 …`.
fn id_of(said: &str) -> String {
    said.split_whitespace().nth(1).unwrap().to_owned()
}

#[test]
fn work_is_filed_found_taken_and_closed() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    assert_eq!(client.ok("ready", json!({})), "nothing is ready; list shows what there is");
    assert_eq!(client.ok("claim", json!({})), "nothing is ready; list shows what there is");
    let one = id_of(&client.ok(
        "create",
        json!({
            "title": "Fix the parser", "description": "It drops\nthe offset.",
                "acceptance": "It comes back", "type": "bug",
            "priority": 1, "labels": ["parser", "urgent"],
        }),
    ));
    let two = id_of(&client.ok(
        "create",
        json!({"title": "Document it", "blocked_by": [one],
            "discovered_from": one, "priority": "low"}),
    ));
    let later = id_of(
        &client.ok("create", json!({"title": "Later", "defer_until": "3d", "assignee": "gendry"})),
    );
    assert_eq!(
        client.ok("ready", json!({})),
        format!("{one} P1 open bug [parser,urgent]: Fix the parser")
    );
    assert_eq!(
        client.ok("ready", json!({"type": ["feature"]})),
        "nothing is ready; list shows what there is"
    );
    assert_eq!(
        client.ok("list", json!({})),
        format!(
            "{one} P1 open bug [parser,urgent]: Fix the parser\n\
             {later} P2 deferred task @gendry: Later\n{two} P3 open task: Document it"
        )
    );
    assert_eq!(
        client.ok("list", json!({"assignee": "gendry", "status": "deferred"})),
        format!("{later} P2 deferred task @gendry: Later")
    );
    assert!(client.ok("list", json!({"limit": 1})).ends_with("\n(1 of 3; offset 1 shows more)"));
    assert!(client.ok("list", json!({"limit": 1, "offset": 2})).starts_with(&two));
    assert_eq!(client.ok("list", json!({"text": "nowhere"})), "nothing found");
    assert!(
        client
            .ok("claim", json!({}))
            .starts_with(&format!("Claimed {one} P1 in_progress bug @tester"))
    );
    let bare = one.trim_start_matches("t-").to_owned();
    assert_eq!(
        client.ok("comment", json!({"id": bare, "text": "Half way\nthere"})),
        format!("Commented on {one}")
    );
    let shown = client.ok("show", json!({"id": one}));
    for part in [
        "Fix the parser",
        "in_progress",
        "It drops\n  the offset.",
        "It comes back",
        "Half way",
        "Document it",
    ] {
        assert!(shown.contains(part), "{part:?} is not in {shown}");
    }
    client.fails("not_ready", "claim", json!({"id": two}));
    assert!(
        client
            .ok("close", json!({"ids": [one], "reason": "Offsets are kept"}))
            .starts_with(&format!("Closed {one} P1 closed"))
    );
    assert!(client.ok("claim", json!({"id": two})).starts_with(&format!("Claimed {two}")));
    let atom = env.show(&one);
    assert_eq!(
        (&atom["close_reason"], &atom["assignee"], &atom["created_by"]),
        (&json!("Offsets are kept"), &json!("tester"), &json!("tester"))
    );
}

#[test]
fn what_an_atom_needs_is_given_shown_and_emptied() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let said = client.ok("create", json!({"title": "Train it", "needs": ["macos", "gpu"]}));
    let id = id_of(&said);
    assert_eq!(said, format!("Created {id} P2 open task needs gpu,macos: Train it"));
    assert!(client.ok("show", json!({"id": id})).contains("gpu, macos"));
    client.ok("update", json!({"ids": [id], "title": "Train"}));
    assert_eq!(env.show(&id)["needs"], json!(["gpu", "macos"]));
    client.fails("invalid_value", "update", json!({"ids": [id], "needs": ["a b"]}));
    client.ok("update", json!({"ids": [id], "needs": "gpu"}));
    assert_eq!(env.show(&id)["needs"], json!(["gpu"]));
    let said = client.ok("update", json!({"ids": [id], "needs": []}));
    assert_eq!(said, format!("Updated {id} P2 open task: Train"));
}

#[test]
fn atoms_are_changed_all_or_none() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let (one, two) = (env.create("One", &["-l", "old"]), env.create("Two", &[]));
    let said = client.ok(
        "update",
        json!({"ids": [one, two], "priority": "high",
        "add_labels": ["api"], "remove_labels": "old", "assignee": "ann", "parent": ""}),
    );
    assert_eq!(
        said,
        format!(
            "Updated {one} P1 open task @ann [api]: One\nUpdated {two} P1 open task @ann [api]: Two"
        )
    );
    client.fails("not_found", "update", json!({"ids": [one, "nowhere"], "priority": 5}));
    assert_eq!(env.show(&one)["priority"], 1);
    assert!(
        client
            .ok("update", json!({"id": one, "assignee": "", "title": "Uno", "type": "feature"}))
            .ends_with("P1 open feature [api]: Uno")
    );
    client.ok(
        "update",
        json!({"ids": [two], "status": "deferred", "reason": "not now",
        "defer_until": "2099-01-01"}),
    );
    assert_eq!(
        (env.show(&two)["status"].as_str(), env.show(&two)["close_reason"].as_str()),
        (Some("deferred"), Some("not now"))
    );
    assert!(
        client.ok("update", json!({"ids": [two], "status": "deferred"})).starts_with("Unchanged")
    );
    assert!(
        client
            .fails("invalid_value", "update", json!({"ids": [one]}))
            .contains("nothing to change")
    );
    client.ok("close", json!({"id": [one]}));
    client.fails("not_found", "close", json!({"ids": [two, "nowhere"]}));
    assert_eq!(env.status(&two), "deferred");
}

#[test]
fn bonds_are_made_shown_and_taken_away() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let (one, two) = (env.create("One", &[]), env.create("Two", &[]));
    assert_eq!(client.ok("dependencies", json!({"id": one})), format!("{one} is bound to nothing"));
    assert_eq!(
        client.ok("dependencies", json!({"id": two, "source": one})),
        format!("Bound {one} —blocks→ {two}")
    );
    let listed = client.ok("dependencies", json!({"id": two}));
    assert!(
        listed.starts_with("Blocked by") && listed.contains(&one) && listed.contains("One"),
        "{listed}"
    );
    let refused = client.fails("cycle", "dependencies", json!({"id": one, "source": two}));
    assert!(refused.contains(&one) && refused.contains("exit 4"), "{refused}");
    client.ok("dependencies", json!({"id": two, "source": one, "type": "related"}));
    client.fails("usage", "dependencies", json!({"id": two, "remove": true}));
    assert_eq!(
        client
            .ok("dependencies", json!({"id": two, "source": one, "remove": true}))
            .lines()
            .count(),
        2
    );
    client.fails("not_found", "dependencies", json!({"id": two, "source": one, "remove": true}));
    assert!(env.robot(&["dep", "list", &two])["incoming"].as_array().unwrap().is_empty());
}

#[test]
fn the_inbox_is_the_callers() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    assert_eq!(client.ok("inbox", json!({})), "nothing unread for tester");
    let id = env.create("One", &[]);
    env.el(&["chat", "post", "general", "--atom", &id, "@tester first\nReady:\n@tester"]).ok();
    env.el(&["chat", "post", "general", "@tester second"]).ok();
    env.el(&["chat", "post", "general", "@gendry not for you"]).ok();
    let read = client.ok("inbox", json!({"mark_read": true}));
    assert!(read.contains(&format!("in #general about {id} (new, ")), "{read}");
    assert!(
        read.contains("\n  @tester first\n  Ready:\n")
            && read.find("first") < read.find("second")
            && !read.contains("not for you"),
        "{read}"
    );
    assert_eq!(client.ok("inbox", json!({})), "nothing unread for tester");
    let cut = client.ok("inbox", json!({"all": true, "limit": 1}));
    assert!(
        cut.starts_with("(1 older") && cut.contains("second") && !cut.contains("first"),
        "{cut}"
    );
}

#[test]
fn bad_arguments_are_told_to_the_model_which_can_mend_them() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let id = env.create("One", &[]);
    for (code, tool, arguments, part) in [
        ("usage", "create", json!({}), "the argument 'title' is missing"),
        ("usage", "create", json!({"titel": "x", "title": "y"}), "create has no argument 'titel'"),
        ("invalid_value", "create", json!({"title": " "}), "title: a title is needed"),
        (
            "invalid_value",
            "create",
            json!({"title": "x", "type": "banana"}),
            "'banana' is not one of task, bug",
        ),
        ("invalid_value", "create", json!({"title": "x", "priority": 9}), "9"),
        ("invalid_value", "create", json!({"title": ["x"]}), "title: a text is needed, not a list"),
        (
            "invalid_value",
            "create",
            json!({"title": "x", "labels": [5]}),
            "labels: a list of texts is needed",
        ),
        (
            "invalid_value",
            "create",
            json!({"title": "x", "defer_until": "soon"}),
            "'soon' is no time",
        ),
        ("invalid_value", "create", json!({"title": "x\u{0}"}), "title"),
        ("not_found", "create", json!({"title": "x", "blocked_by": ["nowhere"]}), "nowhere"),
        ("usage", "close", json!({"reason": "x"}), "the argument 'ids' is missing"),
        ("invalid_value", "close", json!({"ids": [""]}), "id"),
        ("invalid_value", "list", json!({"limit": -1}), "limit: a whole number"),
        ("invalid_value", "list", json!({"status": ["open", "banana"]}), "banana"),
        ("invalid_value", "update", json!({"ids": [id], "status": "banana"}), "banana"),
        ("invalid_value", "update", json!({"ids": [id], "reason": "x"}), "reason"),
        ("invalid_value", "comment", json!({"id": id, "text": "  "}), "blank"),
        ("usage", "claim", json!({"id": id, "force": true}), "claim has no argument 'force'"),
        ("invalid_value", "inbox", json!({"mark_read": "yes"}), "mark_read: true or false"),
        ("invalid_value", "claude_code", json!({"task": " "}), "blank"),
        ("invalid_value", "claude_code", json!({"task": "x", "workdir": "nowhere"}), "workdir"),
        ("not_found", "claude_code_result", json!({"task_id": "nowhere"}), "nowhere"),
    ] {
        let said = client.fails(code, tool, arguments.clone());
        assert!(said.contains(part), "{tool} {arguments} said {said}");
    }
    assert_eq!(env.robot(&["list", "--all"])["count"], 1);
    // An ambiguous id lists the candidates.
    let many: Vec<String> = (0..40).map(|n| env.create(&format!("Atom {n}"), &[])).collect();
    let first = many
        .iter()
        .map(|id| &id[2..3])
        .find(|c| many.iter().filter(|id| &id[2..3] == *c).count() > 1)
        .unwrap();
    let said = client.fails("ambiguous_id", "show", json!({"id": first}));
    assert!(said.lines().filter(|line| line.starts_with("  t-")).count() >= 2, "{said}");
}

#[test]
fn a_failure_has_its_details_for_programs() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let answer = client.ask("tools/call", json!({"name": "show", "arguments": {"id": "nowhere"}}));
    assert_eq!(
        answer["result"]["_meta"]["el/error"],
        json!({"code": "not_found", "exit": 3, "retryable": false, "details": {"what": "atom",
            "id": "nowhere"}})
    );
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("not_found (exit 3): no atom matches 'nowhere'\nnext: "), "{text}");
}

#[test]
fn long_texts_come_in_parts() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let text: String = (0..20_000).map(|n| format!("line {n} ü\n")).collect();
    let id = id_of(&client.ok("create", json!({"title": "Long", "description": text})));
    let first = client.ok("show", json!({"id": id}));
    // Ages in the text would shift the rest: "now" ends after five seconds.
    std::thread::sleep(std::time::Duration::from_secs(6));
    assert_eq!(client.ok("show", json!({"id": id})), first);
    let (mut seen, mut offset) = (String::new(), 0);
    loop {
        let part = client.ok("show", json!({"id": id, "offset": offset}));
        assert!(part.len() < 21_000, "{} bytes", part.len());
        let (body, foot) = part.rsplit_once('\n').unwrap();
        seen.push_str(body);
        let Some(next) = foot.split("offset ").nth(1) else { break };
        offset = next.split(' ').next().unwrap().parse::<usize>().unwrap();
    }
    // Each line is searched after the previous one: searching from the start takes a minute.
    let mut rest = seen.as_str();
    for n in 0..20_000 {
        let line = format!("line {n} ü");
        rest = rest.split_once(&line).unwrap_or_else(|| panic!("{line:?} is missing")).1;
    }
}

/// The size of the tool list for a conversation; docs/mcp.md has the figure.
#[test]
fn the_tools_are_few_and_cheap() {
    let env = TestEnv::new();
    let mut client = Client::start(&env);
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].take();
    let tools = listed.as_array().unwrap();
    assert!(tools.len() <= 14);
    assert!(listed.to_string().len() <= 5_000, "{} bytes", listed.to_string().len());
    for tool in tools {
        assert!(tool.to_string().len() <= 850, "{tool}");
        for name in tool["inputSchema"]["required"].as_array().into_iter().flatten() {
            assert!(
                tool["inputSchema"]["properties"][name.as_str().unwrap()].is_object(),
                "{tool}"
            );
        }
    }
    let read_only: Vec<&Value> = tools
        .iter()
        .filter(|tool| tool["annotations"]["readOnlyHint"] == true)
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(read_only, ["claude_code_status", "claude_code_result", "ready", "list", "show"]);
}
