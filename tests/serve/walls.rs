//! The board is not a way in.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::cookie_of;
use super::{Answer, Board};
use crate::support::TestEnv;

/// One path of each kind: page, file, open call, call, stream, nothing.
const PATHS: [&str; 7] = [
    "/",
    "/assets/app.js",
    "/api/hello",
    "/api/snapshot",
    "/api/atoms",
    "/api/events",
    "/no/such/path",
];

#[test]
fn the_link_signs_one_browser_in_and_the_cookie_outlives_the_server() {
    let env = TestEnv::with_tracker();
    let mut board = Board::start_signed_out(&env, &[]);
    assert_eq!(board.get("/api/hello").data(), json!({ "signed_in": false }));
    for wrong in ["", "0", &"0".repeat(32), &board.code[1..], &board.code.to_uppercase()] {
        let answer = board.sign_in(wrong);
        assert_eq!((answer.status, answer.code().as_str()), (401, "link_over"), "{wrong}");
    }
    let answer = board.sign_in(&board.code);
    let line = answer.header("set-cookie").unwrap();
    for part in ["__Host-el-", "; Path=/", "; Secure", "; HttpOnly", "; SameSite=Strict"] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
    assert_eq!(board.sign_in(&board.code).status, 401, "a link is for one browser");
    board.cookie = cookie_of(&answer);
    board.is_well();

    // The same port, since a browser keeps the cookie for that name.
    let (port, cookie) = (board.port.to_string(), board.cookie.clone());
    drop(board);
    let mut board = Board::start_signed_out(&env, &["--port", &port]);
    board.cookie = cookie;
    board.is_well();
    assert_eq!(board.post("/api/sign-out", &json!({})).status, 200);
    assert_eq!(board.get("/api/snapshot").status, 401);
}

#[test]
fn without_the_cookie_nothing_of_the_project_is_told() {
    let env = TestEnv::with_tracker();
    let id = env.create("A secret plan", &[]);
    let mut board = Board::start_signed_out(&env, &[]);
    let name = format!("__Host-{}", board.host.replace(".localhost:", "-"));
    for cookie in [
        "".to_owned(),
        format!("Cookie: {name}="),
        format!("Cookie: {name}={}", board.code),
        format!("Cookie: {name}={}", "0".repeat(64)),
        "Cookie: \u{80}=;;;=; =".to_owned(),
    ] {
        board.cookie = cookie;
        let atom = format!("/api/atoms/{id}");
        for path in ["/api/snapshot", "/api/atoms", &atom, "/api/events", "/api/x", "/x"] {
            let answer = board.get(path);
            assert_eq!(answer.status, 401, "{path} with {:?}: {answer:#?}", board.cookie);
            assert!(!answer.body.contains("secret"), "{answer:#?}");
        }
        let answer = board.post("/api/atoms", &json!({ "title": "By nobody" }));
        assert_eq!(answer.status, 401, "{answer:#?}");
    }
    board.cookie.clear();
    let answer = board.get("/");
    assert!(answer.status == 200 && !answer.body.contains("secret"), "{answer:#?}");
}

#[test]
fn only_its_own_names_are_answered() {
    let env = TestEnv::with_tracker();
    let board = Board::start(&env, &[]);
    let port = board.port;
    let refuses = |headers: &[&str], first: &str| {
        let answer = board.raw(first, headers, "");
        assert!([400, 421].contains(&answer.status), "{first} {headers:?}: {answer:#?}");
        assert!(answer.header("access-control-allow-origin").is_none());
    };
    for path in PATHS {
        let first = format!("GET {path}");
        for host in [
            "evil.example".to_owned(),
            format!("evil.example:{port}"),
            format!("localhost.evil.example:{port}"),
            format!("127.0.0.1.nip.io:{port}"),
            format!("el-0000000000000000.localhost:{port}"),
            "localhost".to_owned(),
            "127.0.0.1:1".to_owned(),
            format!("0.0.0.0:{port}"),
            format!("[::1%25lo]:{port}"),
            format!("user@localhost:{port}"),
            "[[[".to_owned(),
            ":".to_owned(),
            "".to_owned(),
        ] {
            refuses(&[&format!("Host: {host}"), &board.cookie], &first);
        }
        refuses(&[&board.cookie], &first);
        let host = format!("Host: {}", board.host);
        refuses(&[&host, "Host: evil.example", &board.cookie], &first);
        refuses(&[&host, &board.cookie], &format!("GET http://evil.example{path}"));
    }
    // Bytes that are no text do no harm either.
    let bytes = [b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\nConnection: close\r\n\r\n".as_slice()];
    for request in bytes {
        let answer = board.send(request);
        assert!(answer.is_none_or(|answer| answer.status >= 400));
    }
    for name in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"] {
        let answer = board.raw("GET /", &[&format!("Host: {name}:{port}")], "");
        assert_eq!(answer.status, 200, "{name}: {answer:#?}");
    }
    board.is_well();
}

#[test]
fn pages_of_other_sites_and_ports_can_do_nothing() {
    let env = TestEnv::with_tracker();
    let board = Board::start(&env, &[]);
    let host = format!("Host: {}", board.host);
    let other_port = format!("Origin: http://{}", board.host.replace(&board.port.to_string(), "1"));
    for foreign in [
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: ",
        "Origin: http://localhost",
        "Origin: http://localhost:3000",
        &format!("Origin: http://localhost:{}", board.port),
        &format!("Origin: https://{}", board.host),
        &format!("Origin: http://{}.evil.example", board.host),
        &other_port,
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Sec-Fetch-Site: \u{fffd}",
    ] {
        for path in PATHS {
            let answer = board.raw(&format!("GET {path}"), &[&host, foreign, &board.cookie], "");
            assert_eq!(answer.status, 403, "{path} {foreign}: {answer:#?}");
            assert!(answer.header("access-control-allow-origin").is_none());
        }
    }

    // A change needs all of what only our page sends.
    let draft = json!({ "title": "Filed by another site" }).to_string();
    let own = board.own_headers();
    for left_out in own.iter().filter(|line| !line.starts_with("Sec-Fetch-Site")) {
        let lines: Vec<&str> = own.iter().filter(|l| *l != left_out).map(String::as_str).collect();
        let answer = board.raw("POST /api/atoms", &lines, &draft);
        assert!((400..500).contains(&answer.status), "without {left_out}: {answer:#?}");
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let lines = [
            &host,
            &format!("Origin: http://{}", board.host),
            &format!("Content-Type: {kind}"),
            "X-El: 1",
            &board.cookie,
        ];
        assert_eq!(board.raw("POST /api/atoms", &lines, &draft).status, 415, "{kind}");
    }
    for method in ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "BREW"] {
        let answer = board.raw(&format!("{method} /api/atoms"), &[&host, &board.cookie], "");
        assert!((400..500).contains(&answer.status), "{method}: {answer:#?}");
    }
    // Reading changes nothing, whatever the address says.
    for path in ["/api/atoms/t-1/approve", "/api/sign-out", "/api/atoms?title=x"] {
        board.get(path);
    }
    assert_eq!(env.robot(&["list", "--all"])["total"], 0);
    board.is_well();
}

#[test]
fn every_answer_has_the_headers_that_bind_a_browser() {
    let env = TestEnv::with_tracker();
    let board = Board::start(&env, &[]);
    let host = format!("Host: {}", board.host);
    let answers: Vec<Answer> = PATHS
        .iter()
        .filter(|path| **path != "/api/events")
        .map(|path| board.get(path))
        .chain([
            board.raw("GET /", &["Host: evil.example"], ""),
            board.raw("GET /", &[&host, "Origin: null"], ""),
            board.raw("PUT /", &[&host], ""),
        ])
        .collect();
    for answer in answers {
        let policy = answer.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "form-action 'none'",
            "base-uri 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{part} is not in {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    // Nothing of the page is written into the document: the policy would not run it.
    let page = board.get("/").body;
    assert!(!page.contains("style=") && !page.contains("onload"), "{page}");
    assert_eq!(
        page.matches("<script").count(),
        page.matches("<script type=\"module\" src=").count()
    );
}

#[test]
fn no_path_leads_out_of_the_board() {
    let env = TestEnv::with_tracker();
    let id = env.create("One", &[]);
    let board = Board::start(&env, &[]);
    for path in [
        "/../../../etc/passwd",
        "/assets/../../../../etc/passwd",
        "/assets/..%2f..%2f..%2fetc%2fpasswd",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..\\..\\etc\\passwd",
        "/assets/%5c..%5c..%5cetc/passwd",
        "/assets//etc/passwd",
        "/assets/app.js/../../../Cargo.toml",
        "/assets/app.js%00.css",
        "/assets/",
        "//etc/passwd",
        "/.eluent/el.db",
        "/%2e%65luent/el.db",
        "/api/atoms/..%2f..%2f",
        "/api/atoms/../snapshot/x",
        "/api/atoms/%00",
        "/api/atoms/%ff",
        &format!("/api/atoms/{id}/../../x"),
        "/%61pi/snapshot",
    ] {
        let answer = board.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {answer:#?}");
        for secret in ["root:", "SQLite format", "[workspace]"] {
            assert!(!answer.body.contains(secret), "{path}: {answer:#?}");
        }
    }
    board.is_well();
}

#[test]
fn what_is_too_much_is_refused_and_the_server_goes_on() {
    let env = TestEnv::with_tracker();
    let board = Board::start(&env, &[]);
    let own = board.own_headers().join("\r\n");
    let head = format!("POST /api/atoms HTTP/1.1\r\n{own}\r\nConnection: close\r\n");
    let began = Instant::now();
    // A body that is announced, and one that only grows.
    let announced = format!("{head}Content-Length: 104857600\r\n\r\n");
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    for (head, piece) in [(announced, vec![b' '; 1 << 20]), (chunked, chunk(1 << 20))] {
        let mut stream = board.connect();
        stream.write_all(head.as_bytes()).unwrap();
        let taken = (0..100).take_while(|_| stream.write_all(&piece).is_ok()).count();
        assert!(taken < 100, "100 MB were taken");
    }
    // Heads.
    let long = format!("GET /{} HTTP/1.1\r\nHost: {}\r\n\r\n", "a".repeat(1 << 20), board.host);
    let many = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\n{}\r\n",
        board.host,
        "X-Filler: x\r\n".repeat(5_000)
    );
    for head in [long, many] {
        assert!(board.send(head.as_bytes()).is_none_or(|answer| answer.status >= 400));
    }
    // Rubbish.
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"\0\0\0\0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut stream = board.connect();
        stream.write_all(bytes).unwrap();
        let _ = stream.read(&mut [0; 512]);
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_eq!(env.robot(&["list", "--all"])["total"], 0);
    board.is_well();
}

fn chunk(size: usize) -> Vec<u8> {
    let mut bytes = format!("{size:x}\r\n").into_bytes();
    bytes.resize(bytes.len() + size, b' ');
    bytes.extend(b"\r\n");
    bytes
}

#[test]
fn who_dawdles_or_takes_all_connections_is_cut_off() {
    let env = TestEnv::with_tracker();
    let board = Board::start(&env, &[]);
    // Heads that do not come, as many as there is room for and more.
    let mut slow: Vec<_> = (0..200).map(|_| board.connect()).collect();
    for stream in &mut slow {
        // Those beyond the limit are closed by now.
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: ");
    }
    let began = Instant::now();
    let mut ended = 0;
    for stream in &mut slow {
        let mut rest = Vec::new();
        // Either end of a connection is an end; a time-out is none.
        match stream.read_to_end(&mut rest) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            _ => ended += 1,
        }
    }
    assert_eq!(ended, 200, "after {:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    board.is_well();

    // A reader that takes nothing loses its stream; the others keep theirs.
    let host = format!("Host: {}", board.host);
    let lines = [host.as_str(), board.cookie.as_str()].join("\r\n");
    let streams: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = board.connect();
            stream
                .write_all(format!("GET /api/events HTTP/1.1\r\n{lines}\r\n\r\n").as_bytes())
                .unwrap();
            let mut first = [0; 12];
            stream.read_exact(&mut first).unwrap();
            String::from_utf8_lossy(&first[9..]).into_owned()
        })
        .collect();
    // Each of those was closed at the end of its turn, or counted among the sixteen.
    assert!(streams.iter().all(|status| ["200", "503"].contains(&status.as_str())), "{streams:?}");
    board.is_well();
}
