//! The protocol: versions, requests, notifications, batches, ends.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::Client;
use crate::support::{Process, TestEnv};

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const STATELESS: &str = "2026-07-28";

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "stateless", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[track_caller]
fn error_code(answer: &Value) -> i64 {
    assert!(answer.get("result").is_none() && answer["error"]["message"].is_string(), "{answer}");
    answer["error"]["code"].as_i64().unwrap()
}

#[test]
fn each_version_is_agreed_on_and_works() {
    let env = TestEnv::with_tracker();
    for version in VERSIONS {
        let mut client = Client::silent(&env);
        let agreed = client.initialize(version);
        assert_eq!(agreed["protocolVersion"], version);
        assert_eq!(
            (&agreed["capabilities"], &agreed["serverInfo"]["name"]),
            (&json!({"tools": {}}), &json!("el"))
        );
        assert!(agreed["instructions"].as_str().unwrap().len() < 700);
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
        let listed = client.ask("tools/list", json!({}))["result"].take();
        assert_eq!(listed["tools"].as_array().unwrap().len(), 14);
        assert_eq!(listed.as_object().unwrap().len(), 1, "{listed}");
        client.ok("create", json!({"title": version}));
        assert_eq!(client.end(), Vec::<Value>::new());
    }
    assert_eq!(env.robot(&["list"])["count"], 4);
}

#[test]
fn a_version_that_we_do_not_know_is_answered_with_our_newest() {
    let env = TestEnv::new();
    for version in ["1.0", "2099-01-01", STATELESS, ""] {
        let mut client = Client::silent(&env);
        assert_eq!(client.initialize(version)["protocolVersion"], "2025-11-25");
    }
    let mut client = Client::silent(&env);
    assert_eq!(error_code(&client.ask("initialize", json!({"capabilities": {}}))), -32602);
    assert_eq!(
        client.initialize("2024-11-05")["protocolVersion"],
        "2024-11-05",
        "it can try again"
    );
}

#[test]
fn without_a_handshake_each_request_says_what_it_speaks() {
    let env = TestEnv::with_tracker();
    let mut client = Client::silent(&env);
    let found = client.ask("server/discover", json!({"_meta": meta(STATELESS)}))["result"].take();
    assert_eq!(found["supportedVersions"][0], STATELESS);
    assert_eq!(found["supportedVersions"].as_array().unwrap().len(), 5);
    assert_eq!(
        (&found["resultType"], &found["capabilities"]),
        (&json!("complete"), &json!({"tools": {}}))
    );
    assert!(
        found["ttlMs"].is_u64()
            && found["cacheScope"] == "public"
            && found["instructions"].is_string(),
        "{found}"
    );
    let listed = client.ask("tools/list", json!({"_meta": meta(STATELESS)}))["result"].take();
    assert!(
        listed["ttlMs"].is_u64()
            && listed["cacheScope"] == "public"
            && listed["resultType"] == "complete"
    );
    assert_eq!(listed["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "el");
    let call = |name: &str, arguments: Value| {
        json!({"name": name, "arguments": arguments,
        "_meta": meta(STATELESS)})
    };
    let made =
        client.ask("tools/call", call("create", json!({"title": "Stateless"})))["result"].take();
    assert_eq!(made["resultType"], "complete", "{made}");
    let failed = client.ask("tools/call", call("show", json!({"id": "nowhere"})))["result"].take();
    assert_eq!((&failed["isError"], &failed["resultType"]), (&json!(true), &json!("complete")));
    assert_eq!(env.robot(&["list"])["items"][0]["created_by"], "Test");
    // The handshake's answer was part of it.
    assert_eq!(error_code(&client.ask("ping", json!({"_meta": meta(STATELESS)}))), -32601);
    assert_eq!(
        error_code(&client.ask("subscriptions/listen", json!({"_meta": meta(STATELESS)}))),
        -32601
    );
}

#[test]
fn a_request_in_a_version_that_nobody_speaks_is_refused_with_those_that_we_do() {
    let env = TestEnv::new();
    let mut client = Client::silent(&env);
    for method in ["server/discover", "tools/list", "tools/call"] {
        let answer = client.ask(method, json!({"_meta": meta("2099-01-01")}));
        assert_eq!(error_code(&answer), -32022);
        assert_eq!(answer["error"]["data"]["requested"], "2099-01-01");
        assert_eq!(answer["error"]["data"]["supported"][0], STATELESS);
    }
    let mut poor = meta(STATELESS);
    poor.as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    assert_eq!(error_code(&client.ask("tools/list", json!({"_meta": poor}))), -32602);
    assert_eq!(error_code(&client.ask("server/discover", json!({}))), -32602);
    assert_eq!(
        error_code(
            &client.ask(
                "tools/list",
                json!({"_meta": {"io.modelcontextprotocol/protocolVersion": 5}})
            )
        ),
        -32602
    );
}

#[test]
fn what_is_wrong_gets_the_code_that_says_so() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    for (method, params, code) in [
        ("tools/nope", json!({}), -32601),
        ("resources/list", json!({}), -32601),
        ("prompts/list", json!({}), -32601),
        ("logging/setLevel", json!({"level": "debug"}), -32601),
        ("tools/list", json!({"cursor": "x"}), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({"name": 5}), -32602),
        ("tools/call", json!({"name": "nope"}), -32602),
        ("tools/call", json!({"name": "list", "arguments": []}), -32602),
        ("tools/call", json!({"name": "list", "arguments": "x"}), -32602),
    ] {
        assert_eq!(error_code(&client.ask(method, params.clone())), code, "{method} {params}");
    }
    for (line, id, code) in [
        ("rubbish", Value::Null, -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"", Value::Null, -32700),
        ("\"text\"", Value::Null, -32600),
        ("{\"id\":7,\"method\":\"ping\"}", json!(7), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":[]}", json!("x"), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", Value::Null, -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}]", Value::Null, -32600),
    ] {
        client.raw(format!("{line}\n").as_bytes());
        let answer = client.next();
        assert_eq!((error_code(&answer), &answer["id"]), (code, &id), "{line}");
        assert!(answer.as_object().unwrap().contains_key("id"), "{answer}");
    }
    // A message that is no request has no answer.
    client.raw(
        b"\n  \r\n{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n\
            {\"jsonrpc\":\"2.0\",\"method\":\"notifications/nope\"}\n",
    );
    client.raw(
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\
        \"params\":{\"requestId\":999}}\n",
    );
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn newer_versions_leave_out_an_id_that_nobody_knows() {
    let env = TestEnv::new();
    let mut client = Client::silent(&env);
    client.initialize("2025-11-25");
    client.raw(b"rubbish\n");
    let answer = client.next();
    assert_eq!(error_code(&answer), -32700);
    assert!(!answer.as_object().unwrap().contains_key("id"), "{answer}");
}

#[test]
fn ids_of_any_kind_come_back_as_they_were() {
    let env = TestEnv::new();
    let mut client = Client::start(&env);
    let long = "x".repeat(100_000);
    for id in [
        json!(0),
        json!(-5),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(""),
        json!("ü\n\u{202e}"),
        json!(long),
    ] {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
        assert_eq!(client.next(), json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
    client
        .raw(b"{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"ping\"}\n");
    assert_eq!(error_code(&client.next()), -32600, "it could not be given back as it came");
}

#[test]
fn a_batch_is_answered_as_one_where_the_version_has_them() {
    let env = TestEnv::with_tracker();
    let mut client = Client::silent(&env);
    client.initialize("2025-03-26");
    let call = |id: i64, title: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "create", "arguments": {"title": title}}})
    };
    client.send(&json!([
        call(101, "One"),
        {"jsonrpc": "2.0", "method": "notifications/nope"},
        {"jsonrpc": "2.0", "id": 102, "method": "ping"},
        5,
        {"jsonrpc": "2.0", "id": 103, "method": "nope"},
        call(104, "Two"),
        {"jsonrpc": "2.0", "id": 105, "method": "initialize",
            "params": {"protocolVersion": "2025-03-26"}},
    ]));
    let answers = client.next();
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 6, "{answers:#?}");
    let of = |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert!(
        of(json!(101))["result"]["content"].is_array()
            && of(json!(104))["result"]["content"].is_array()
    );
    assert_eq!(of(json!(102))["result"], json!({}));
    assert_eq!(
        [Value::Null, json!(103), json!(105)].map(|id| error_code(of(id))),
        [-32600, -32601, -32600]
    );
    assert_eq!(env.robot(&["list"])["count"], 2);
    // The batch has no request.
    client.send(&json!([{"jsonrpc": "2.0", "method": "notifications/nope"}]));
    client.send(&json!([]));
    assert_eq!(error_code(&client.next()), -32600);
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn calls_are_done_in_the_order_in_which_they_came() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let ids: Vec<i64> = (0..100)
        .map(|n| client.begin_call("create", json!({"title": format!("Atom {n}")})))
        .collect();
    let last = client.begin_call("list", json!({"limit": 0}));
    for id in ids {
        assert!(client.called(id).text.starts_with("Created t-"));
    }
    let listed = client.called(last).text;
    assert_eq!(listed.lines().count(), 100);
    let numbers: Vec<&str> = listed.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(numbers, (0..100).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn what_was_asked_for_before_the_end_of_stdin_is_still_answered() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let ids: Vec<i64> = (0..20)
        .map(|n| client.begin_call("create", json!({"title": format!("Atom {n}")})))
        .collect();
    let rest = client.end();
    assert_eq!(rest.iter().filter_map(|answer| answer["id"].as_i64()).collect::<Vec<_>>(), ids);
    assert_eq!(env.robot(&["list"])["count"], 20);
}

#[test]
fn a_signal_ends_it_well() {
    let env = TestEnv::with_tracker();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut client = Client::start(&env);
        client.ok("ready", json!({}));
        Process { pid: client.pid(), words: Vec::new() }.signal(signal);
        assert_eq!(client.ended(), (Some(0), Vec::new()), "{signal:?}");
    }
}

#[test]
fn nothing_is_said_that_nobody_asked_for() {
    let env = TestEnv::with_tracker();
    env.configure("banana = 1\nagent = 5\n");
    let mut command = env.command("el");
    let mut client = Client::of(command.args(["--robot", "-v", "mcp"]));
    client.initialize("2025-06-18");
    client.ok("create", json!({"title": "With a bad configuration"}));
    client.fails("config", "claude_code", json!({"task": "x"}));
    assert_eq!(client.rest(Duration::from_millis(300)), Vec::<Value>::new());
    client.end();
}

#[test]
fn a_person_who_starts_it_is_told_what_it_is() {
    let env = TestEnv::new();
    let screen = env.screen(100, 20, "el mcp");
    screen.wait_for("Model Context Protocol");
    screen.press("C-d");
    screen.wait_for("[exit 0]");
}
