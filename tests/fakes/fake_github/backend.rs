//! The repositories over http: `git http-backend`, as a web server would run it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::http::Request;

/// Answers a request of git: the code, the kind of the content, and the content.
pub(crate) fn answer(
    root: &Path,
    request: &Request,
    path: &str,
    query: &str,
) -> std::io::Result<(u16, String, Vec<u8>)> {
    let header = |name: &str| request.header(name).unwrap_or_default().to_owned();
    let mut backend = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("REQUEST_METHOD", &request.method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REMOTE_USER", "ada")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = backend.stdin.take().expect("its stdin is a pipe");
    let body = request.body.clone();
    // It may answer before it has read everything.
    let writer = std::thread::spawn(move || drop(input.write_all(&body)));
    let said = backend.wait_with_output()?.stdout;
    let _ = writer.join();
    let end = said.windows(4).position(|part| part == b"\r\n\r\n").unwrap_or(0);
    let (mut code, mut kind) = (200, "text/plain".to_owned());
    for line in String::from_utf8_lossy(&said[..end]).lines() {
        match line.split_once(": ") {
            Some(("Status", status)) => {
                code = status.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(500);
            }
            Some(("Content-Type", named)) => named.clone_into(&mut kind),
            _ => {}
        }
    }
    Ok((code, kind, said.get(end + 4..).unwrap_or_default().to_vec()))
}

/// The references that a push wants to move: `[name, old, new]` each.
pub(crate) fn pushed(request: &Request) -> Vec<Value> {
    let mut rest = request.body.as_slice();
    let mut found = Vec::new();
    while let Some(size) = rest
        .get(..4)
        .and_then(|size| usize::from_str_radix(std::str::from_utf8(size).ok()?, 16).ok())
        .filter(|size| *size > 4 && *size <= rest.len())
    {
        let line = String::from_utf8_lossy(&rest[4..size]);
        // The first line has the abilities of the client behind a NUL.
        let mut words = line.split(['\0', '\n']).next().unwrap_or_default().split(' ');
        if let (Some(old), Some(new), Some(name)) = (words.next(), words.next(), words.next()) {
            found.push(json!([name, old, new]));
        }
        rest = &rest[size..];
    }
    found
}
