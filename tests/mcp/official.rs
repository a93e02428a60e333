//! The official SDKs as clients: independent proof that el speaks the protocol.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Client;
use crate::support::{SOON, TestEnv, wait_until};

/// The SDK installed by `scripts/get-mcp-sdk`.
fn sdk() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/mcp-sdk");
    let packages = folder.join("node_modules/@modelcontextprotocol");
    if ["sdk", "client"].iter().all(|name| packages.join(name).is_dir()) {
        return Some(folder.canonicalize().unwrap());
    }
    assert!(
        std::env::var_os("EL_REQUIRE_CLAUDE").is_none_or(|v| v != "1"),
        "the official MCP SDKs are missing; run scripts/get-mcp-sdk"
    );
    // Written past the capture of the test runner: a test that did not run must be seen.
    let _ = writeln!(std::io::stderr(), "SKIPPED, no official MCP SDK: run scripts/get-mcp-sdk");
    None
}

fn converse(how: &str, version: Option<&str>) {
    let Some(folder) = sdk() else { return };
    let env = TestEnv::with_tracker();
    let mut other = Client::start(&env);
    let task =
        other.ok("claude_code", json!({"task": TestEnv::script(&["wait-file go", "close"])}));
    let task = task.split_whitespace().nth(1).unwrap().to_owned();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/mcp/official.mjs");
    let words = [script.to_str().unwrap(), folder.to_str().unwrap(), how, &task];
    let seen = env.run(env.command("node").env("EL_ACTOR", "official").args(words)).ok().json();
    assert_eq!(seen["wrong"], json!([]), "{seen:#}");
    assert_eq!(seen["server"]["name"], "el");
    if let Some(version) = version {
        assert_eq!(seen["version"], version);
    }
    assert!(seen["instructions"].as_str().unwrap().contains("el tracks"), "{seen:#}");
    assert_eq!(seen["capabilities"], json!({"tools": {}}));
    assert_eq!(seen["tools"].as_array().unwrap().len(), 14);
    assert!(
        seen["created"].as_str().unwrap().ends_with("P2 open task [sdk]: By the official client"),
        "{seen:#}"
    );
    assert!(seen["shown"].as_str().unwrap().contains("by official"), "{seen:#}");
    assert_eq!(seen["unknownTool"]["code"], -32602, "{seen:#}");
    for (what, code) in [("badInput", "usage"), ("notFound", "not_found")] {
        let result = &seen[what]["result"];
        assert_eq!(
            (&result["isError"], &result["_meta"]["el/error"]["code"]),
            (&json!(true), &json!(code)),
            "{seen:#}"
        );
    }
    assert_eq!((&seen["large"], &seen["many"]), (&json!(false), &json!(100)));
    assert!(seen["meanwhile"].as_str().unwrap().starts_with(&task), "{seen:#}");
    let progress = seen["progress"].as_array().unwrap();
    assert!(
        progress.iter().all(|one| one["progress"].is_number() && one["message"].is_string()),
        "{seen:#}"
    );
    assert!(seen["calledOff"]["message"].as_str().unwrap().contains("enough"), "{seen:#}");
    assert!(seen["closed"].as_str().unwrap().starts_with("Closed t-"), "{seen:#}");
    let listed = env.robot(&["list", "--all"]);
    assert_eq!(listed["count"], 103);
    let is_own = |atom: &&Value| atom["created_by"] == "official";
    assert_eq!(listed["items"].as_array().unwrap().iter().filter(is_own).count(), 102);
    std::fs::write(env.project("go"), "").unwrap();
    wait_until("the task to end", SOON, || {
        (env.robot(&["tasks", "show", &task])["status"] == "completed").then_some(())
    });
}

#[test]
fn the_official_client_v1_is_served() {
    converse("v1", None);
}

#[test]
fn the_official_client_v2_is_served_with_a_handshake() {
    converse("v2-handshake", Some("2025-11-25"));
}

#[test]
fn the_official_client_v2_is_served_without_a_handshake() {
    converse("v2-stateless", Some("2026-07-28"));
}
