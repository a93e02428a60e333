//! The scripted API answers as `fakes/fake_api/scenario.rs` says; asked here with plain HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::{SOON, TestEnv, wait_until};

struct Api {
    server: Child,
    port: u16,
}

impl Drop for Api {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn api(env: &TestEnv, scenario: &Value) -> Api {
    std::fs::write(env.path("scenario.json"), scenario.to_string()).unwrap();
    let mut command = env.command(env!("CARGO_BIN_EXE_fake-api"));
    for (option, file) in [("--scenario", "scenario.json"), ("--log", "log"), ("--ready", "ready")]
    {
        command.arg(option).arg(env.path(file));
    }
    let server = command.arg("--until-eof").stdin(Stdio::piped()).spawn().unwrap();
    let port = wait_until("the API", SOON, || std::fs::read_to_string(env.path("ready")).ok());
    Api { server, port: port.trim().parse().unwrap() }
}

fn body(texts: &[&str]) -> String {
    let messages: Vec<Value> =
        texts.iter().map(|text| json!({"role": "user", "content": text})).collect();
    json!({"model": "m", "tools": [{"name": "Bash"}], "messages": messages}).to_string()
}

/// The status and body of the answer to a conversation's next request; status 0 if the connection
/// was closed instead.
fn ask(api: &Api, session: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", api.port)).unwrap();
    let head = format!(
        "POST /v1/messages?beta=true HTTP/1.1\r\nhost: x\r\nx-claude-code-session-id: {session}\r\n"
    );
    // In two chunks, as the client may send them.
    let (a, b) = body.split_at(body.len() / 2);
    write!(
        stream,
        "{head}x-api-key: secret\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{a}\r\n",
        a.len()
    )
    .unwrap();
    write!(stream, "{:x}\r\n{b}\r\n0\r\n\r\n", b.len()).unwrap();
    answer(stream)
}

fn answer(stream: TcpStream) -> (u16, String) {
    let mut reader = BufReader::new(stream);
    let (mut status, mut length) = (0, 0);
    for line in reader.by_ref().lines().map_while(Result::ok) {
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest[..3].parse().unwrap();
        }
        if let Some(rest) = line.strip_prefix("content-length: ") {
            length = rest.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (status, String::from_utf8(body).unwrap())
}

fn content(api: &Api, session: &str, texts: &[&str]) -> Value {
    let (status, answer) = ask(api, session, &body(texts));
    assert_eq!(status, 200, "{answer}");
    serde_json::from_str::<Value>(&answer).unwrap()["content"].take()
}

#[test]
fn each_session_has_its_place_in_the_steps() {
    let env = TestEnv::new();
    let api = api(
        &env,
        &json!({
            "steps": [{"text": "one", "repeat": 2}, {"bash": "el close ${ID} --reason done",
                "text": "two"}],
            "after": {"text": "after"},
        }),
    );
    let prompt =
        ["<system-reminder>atom: other-1</system-reminder>\nrun `el close t-1a2b.`, then stop"];
    for expected in ["one", "one", "two", "after", "after"] {
        assert_eq!(content(&api, "a", &prompt)[0]["text"], expected);
    }
    assert_eq!(content(&api, "b", &prompt)[0]["text"], "one");
    assert_eq!(content(&api, "b", &prompt)[0]["text"], "one");
    assert_eq!(content(&api, "b", &prompt)[1]["input"]["command"], "el close t-1a2b --reason done");
}

#[test]
fn the_prompt_chooses_the_route_and_a_counter_may_follow_the_atom() {
    let env = TestEnv::new();
    let api = api(
        &env,
        &json!({
            "routes": [
                {"match": "scenario:twice", "counter": "atom", "steps": [{"text": "first"},
                    {"text": "second"}]},
                {"match": "scenario:hook", "steps": [{"text": "hooked", "when": "feedback"},
                    {"text": "plain"}]},
            ],
            "steps": [{"text": "top"}],
        }),
    );
    assert_eq!(content(&api, "a", &["atom: t-1 scenario:twice"])[0]["text"], "first");
    assert_eq!(content(&api, "b", &["atom: t-1 scenario:twice"])[0]["text"], "second");
    assert_eq!(content(&api, "c", &["atom: t-2 scenario:twice"])[0]["text"], "first");
    assert_eq!(content(&api, "d", &["scenario:hook"])[0]["text"], "plain");
    let feedback = "<system-reminder>Stop hook feedback: x</system-reminder>";
    assert_eq!(content(&api, "e", &["scenario:hook", feedback])[0]["text"], "hooked");
    assert_eq!(content(&api, "f", &["nothing"])[0]["text"], "top");
}

#[test]
fn errors_carry_their_headers_and_drops_close_the_connection() {
    let env = TestEnv::new();
    let api = api(
        &env,
        &json!({"steps": [
            {"status": 429, "type": "rate_limit_error", "message": "slow down",
                "headers": {"retry-after": "1"}},
            {"drop": "before"},
            {"wait_file": env.path("go"), "touch": env.path("asked"), "text": "went"},
        ]}),
    );
    let (status, error) = ask(&api, "a", &body(&["x"]));
    assert_eq!(status, 429);
    assert!(error.contains("slow down"), "{error}");
    assert_eq!(ask(&api, "a", &body(&["x"])).0, 0);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| content(&api, "a", &["x"]));
        wait_until("the step is taken", SOON, || env.path("asked").exists().then_some(()));
        assert!(!asking.is_finished());
        std::fs::write(env.path("go"), "").unwrap();
        assert_eq!(asking.join().unwrap()[0]["text"], "went");
    });
}

#[test]
fn the_log_names_the_step_and_hides_the_key() {
    let env = TestEnv::new();
    let api = api(&env, &json!({"steps": [{"text": "one"}]}));
    content(&api, "a", &["hello"]);
    let log = std::fs::read_to_string(env.path("log")).unwrap();
    let line: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(line["step"], "0.0");
    assert_eq!(line["session"], "a");
    assert_eq!(line["body"]["messages"][0]["content"], "hello");
    assert_eq!(line["headers"]["x-api-key"], "[redacted]");
    assert!(!log.contains("secret"));
}

#[test]
fn a_connection_serves_many_requests_and_head_has_no_body() {
    let env = TestEnv::new();
    let api = api(&env, &json!({}));
    let mut stream = TcpStream::connect(("127.0.0.1", api.port)).unwrap();
    write!(
        stream,
        "HEAD / HTTP/1.1\r\n\r\nGET /v1/models HTTP/1.1\r\n\r\nGET /nope HTTP/1.1\r\n\r\n"
    )
    .unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    let statuses: Vec<&str> =
        all.lines().filter_map(|l| l.split_once("HTTP/1.1 ")?.1.get(..3)).collect();
    assert_eq!(statuses, ["200", "200", "404"], "{all}");
    assert!(!all.contains("scripted\":true"), "{all}");
}

#[test]
fn a_scenario_with_an_unknown_key_is_refused() {
    let env = TestEnv::new();
    std::fs::write(env.path("s.json"), r#"{"steps": [{"txet": "a typing error"}]}"#).unwrap();
    let ran = env
        .run(env.command(env!("CARGO_BIN_EXE_fake-api")).arg("--scenario").arg(env.path("s.json")));
    assert!(ran.fails_with(2).stderr.contains("txet"));
}

#[test]
fn exec_runs_a_command_that_knows_the_address_and_ends_with_its_status() {
    let env = TestEnv::new();
    std::fs::write(env.path("s.json"), "{}").unwrap();
    let mut command = env.command(env!("CARGO_BIN_EXE_fake-api"));
    command.arg("--scenario").arg(env.path("s.json")).args([
        "--exec",
        "sh",
        "-c",
        "echo $ANTHROPIC_BASE_URL; exit 7",
    ]);
    let ran = env.run(&mut command).fails_with(7);
    assert!(ran.stdout.starts_with("http://127.0.0.1:"), "{ran:#?}");
}
