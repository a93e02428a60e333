//! Broken or hostile clients, and faults of the machine.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::Client;
use crate::support::{Process, SOON, TestEnv, wait_until};

#[test]
fn rubbish_is_answered_and_survived() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"a\":{}{}}}}}\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let deep_arguments = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"create\",\
         \"arguments\":{{\"title\":{}1{}}}}}}}\n",
        "{\"a\":".repeat(10_000),
        "}".repeat(10_000)
    );
    let lines: [&[u8]; 9] = [
        b"\xff\xfe\x00\x01\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xc3\x28\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}\n",
        b"Content-Length: 5\r\n",
        b"GET / HTTP/1.1\r\n",
        b"\0\0\0\0\n",
        deep.as_bytes(),
        deep_arguments.as_bytes(),
    ];
    for line in lines {
        client.raw(line);
        let answer = client.next();
        assert_eq!(
            answer["error"]["code"],
            -32700,
            "{}",
            String::from_utf8_lossy(&line[..line.len().min(60)])
        );
    }
    assert_eq!(client.ok("list", json!({})), "nothing found");
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn large_arguments_are_taken_or_refused_whole() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let text = "x".repeat(1 << 20);
    let said = client.ok("create", json!({"title": "Large", "description": text}));
    let id = said.split_whitespace().nth(1).unwrap();
    assert_eq!(env.show(id)["description"], text);
    client.fails(
        "invalid_value",
        "create",
        json!({"title": "Too large", "description": "x".repeat((1 << 20) + 1)}),
    );
    client.fails("invalid_value", "create", json!({"title": "x".repeat(1 << 20)}));
    client.fails("not_found", "show", json!({"id": "y".repeat(1 << 20)}));
    let refused = client.fails("usage", "create", json!({"title": "x", "y".repeat(1 << 20): 1}));
    assert!(refused.len() < 2_000, "{} bytes", refused.len());
    client.fails("usage", "list", json!({"z": vec![Value::Null; 100_000]}));
    // A message without an end is read, thrown away and told.
    let mut message = vec![b'x'; 65 << 20];
    message.push(b'\n');
    client.raw(&message);
    let answer = client.next();
    assert_eq!(answer["error"]["code"], -32700);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(env.robot(&["list"])["count"], 1);
}

#[test]
fn what_it_answers_is_harmless_on_a_terminal() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let nasty = "a\u{1b}[31m\u{9b}b\u{202e}c\r\u{7}";
    let said = client.ok("create", json!({"title": nasty.replace('\r', ""), "description": nasty}));
    let id = said.split_whitespace().nth(1).unwrap().to_owned();
    for text in [said, client.ok("show", json!({"id": id})), client.ok("list", json!({}))] {
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    }
}

#[test]
fn a_hundred_clients_and_calls_at_once_lose_nothing() {
    let env = TestEnv::with_tracker();
    let mut clients: Vec<Client> = (0..8).map(|_| Client::start(&env)).collect();
    let begun: Vec<Vec<i64>> = clients
        .iter_mut()
        .enumerate()
        .map(|(who, client)| {
            (0..25)
                .map(|n| client.begin_call("create", json!({"title": format!("{who}-{n}")})))
                .collect()
        })
        .collect();
    for (client, ids) in clients.iter_mut().zip(begun) {
        for id in ids {
            assert_eq!(client.called(id).code, None);
        }
    }
    assert_eq!(env.robot(&["list"])["total"], 200);
    // All clients want the best ready atoms: each atom is claimed once.
    let begun: Vec<Vec<i64>> = clients
        .iter_mut()
        .map(|client| (0..25).map(|_| client.begin_call("claim", json!({}))).collect())
        .collect();
    let mut claimed = Vec::new();
    for (client, ids) in clients.iter_mut().zip(begun) {
        claimed.extend(
            ids.into_iter()
                .map(|id| client.called(id).text.split_whitespace().nth(1).unwrap().to_owned()),
        );
    }
    claimed.sort();
    claimed.dedup();
    assert_eq!(claimed.len(), 200);
    assert!(clients[0].ok("claim", json!({})).starts_with("nothing is ready"));
}

#[test]
fn it_gets_along_with_a_worker() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    let worker = env.start_work(&[]);
    worker.wait_for("started");
    let mut ids = Vec::new();
    for n in 0..6 {
        let said = client
            .ok("create", json!({"title": format!("Atom {n}"), "description": "script: close"}));
        ids.push(said.split_whitespace().nth(1).unwrap().to_owned());
        client.ok("list", json!({}));
        // Either the worker or the client has the atom, never both.
        let claimed = client.call("claim", json!({"id": ids[n]}));
        if claimed.code.is_none() {
            client.ok("close", json!({"ids": [ids[n]], "reason": "by hand"}));
        }
    }
    for id in &ids {
        env.wait_for_status(id, "closed");
        assert!(env.runs(id).len() <= 1);
    }
    worker.signal(Signal::INT);
    worker.wait(SOON).ok();
}

#[test]
fn a_call_that_was_called_off_before_its_turn_is_not_done() {
    let env = TestEnv::with_tracker();
    let mut client = Client::start(&env);
    // The database is held, so that the first call waits and the others queue.
    let mut database = env.database();
    let held =
        database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let first = client.begin_call("create", json!({"title": "First"}));
    let second = client.begin_call("create", json!({"title": "Second"}));
    let third = client.begin_call("create", json!({"title": "Third"}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": second}}));
    // Answered by the thread that reads: so the cancellation was read too.
    client.ask("ping", json!({}));
    held.rollback().unwrap();
    assert_eq!(client.called(first).code, None);
    assert_eq!(client.called(third).code, None);
    assert!(client.rest(Duration::from_millis(200)).is_empty());
    let titles: Vec<Value> = env.robot(&["list"])["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|atom| atom["title"].clone())
        .collect();
    assert_eq!(titles, ["First", "Third"]);
}

#[test]
fn a_client_that_vanishes_leaves_nothing_half_done() {
    let env = TestEnv::with_tracker();
    for round in 0..6 {
        let mut client = Client::start(&env);
        for n in 0..40 {
            client.begin_call(
                "create",
                json!({"title": format!("{round}-{n}"), "labels": ["a", "b"]}),
            );
        }
        client.raw(
            b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"crea",
        );
        let pid = client.pid();
        match round % 3 {
            // Both pipes are gone, and the server has to notice.
            0 => {
                client.hang_up();
                client.deaf();
                wait_until("the server to see it", SOON, || client.is_over().then_some(()));
            }
            1 => Process { pid, words: Vec::new() }.kill(),
            _ => {
                client.end();
            }
        }
        let is_gone = || {
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .map_or(true, |words| words.is_empty())
                .then_some(())
        };
        wait_until("the server to end", SOON, is_gone);
    }
    let atoms = env.robot(&["list"])["items"].take();
    for atom in atoms.as_array().unwrap() {
        assert_eq!(atom["labels"], json!(["a", "b"]), "{atom}");
        assert_eq!(env.events(atom["id"].as_str().unwrap()), ["created"]);
    }
    assert_eq!(env.robot(&["doctor"])["serious"], 0);
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let env = TestEnv::with_tracker();
    let mut child =
        env.command("el").arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    for n in 0..50 {
        let call = json!({"jsonrpc": "2.0", "id": n, "method": "tools/call",
            "params": {"name": "create", "arguments": {"title": "x"}}});
        if stdin.write_all(format!("{call}\n").as_bytes()).is_err() {
            break;
        }
    }
    // The server's stdin stays open.
    let status = wait_until("the server to end", SOON, || child.try_wait().unwrap());
    assert!(status.success(), "{status}");
}

#[test]
fn a_signal_does_not_wait_for_a_client_that_reads_nothing() {
    let env = TestEnv::with_tracker();
    for signals in [1, 2] {
        let mut child = unread_server(&env);
        let server = Process { pid: child.id(), words: Vec::new() };
        for _ in 0..signals {
            server.signal(Signal::TERM);
            std::thread::sleep(Duration::from_millis(100));
        }
        wait_until("the server to end", SOON, || child.try_wait().unwrap());
    }
}

/// Starts a server that hangs in a write, since nobody reads its answers.
fn unread_server(env: &TestEnv) -> std::process::Child {
    let mut child =
        env.command("el").arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More answers than a pipe holds, and no reader.
    std::thread::spawn(move || {
        for n in 0..20_000 {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"tools/list\"}}\n");
            if stdin.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    });
    let blocked = || {
        let wchan =
            std::fs::read_to_string(format!("/proc/{}/wchan", child.id())).unwrap_or_default();
        wchan.contains("pipe").then_some(())
    };
    crate::support::look_until(Duration::from_secs(3), blocked);
    child
}
