//! A GitHub of its own for a test, to which the real `gh` and `git` talk over loopback.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::{SOON, TestEnv, wait_until};

/// The address from which a test clones.
pub(crate) const SHOP: &str = "http://github.localhost/acme/shop.git";

/// The scripted GitHub (`tests/fakes/fake_github`). It has a repository `acme/shop`, in which ada,
/// who is signed in, may write.
#[derive(Debug)]
pub(crate) struct Github {
    /// Ends by itself when its stdin, held here, is closed.
    server: Child,
    port: u16,
    log: PathBuf,
}

impl Github {
    /// Starts it, and puts this `gh` on the PATH of `env`. From now on every command of `env`
    /// reaches GitHub, and nothing else.
    #[track_caller]
    pub(crate) fn start(env: &mut TestEnv, gh: &Path) -> Self {
        let (root, ready) = (env.path("github"), env.path("github-ready"));
        let log = env.path("github.jsonl");
        let server = env
            .command(env!("CARGO_BIN_EXE_fake-github"))
            .arg("--until-eof")
            .arg("--root")
            .arg(root)
            .arg("--log")
            .arg(&log)
            .arg("--ready")
            .arg(&ready)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let port = wait_until("the scripted GitHub", SOON, || fs::read_to_string(&ready).ok());
        let port = port.trim().parse().unwrap();
        env.link("gh", gh);
        let proxy = format!("http://127.0.0.1:{port}");
        let settings = env.path("home/gh").display().to_string();
        for (name, value) in [
            ("GH_HOST", "github.localhost"),
            ("GH_TOKEN", "a-word"),
            ("GH_CONFIG_DIR", &settings),
            ("GH_NO_UPDATE_NOTIFIER", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            // git heeds only the name in small letters.
            ("HTTP_PROXY", &proxy),
            ("http_proxy", &proxy),
        ] {
            env.set(name, value);
        }
        Self { server, port, log }
    }

    /// Has something happen at GitHub: see `tests/fakes/fake_github/control.rs`. Returns all that
    /// there is then.
    #[track_caller]
    pub(crate) fn control(&self, order: Value) -> Value {
        let body = order.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "POST /_control HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len())
            .unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{order} is refused: {answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// All that there is.
    #[track_caller]
    pub(crate) fn state(&self) -> Value {
        self.control(json!({ "do": "state" }))
    }

    /// Has an issue, with these values.
    #[track_caller]
    pub(crate) fn issue(&self, number: u64, values: Value) {
        let mut order = values;
        order["do"] = json!("issue");
        order["number"] = json!(number);
        self.control(order);
    }

    /// Has the next call whose name has this word fail.
    #[track_caller]
    pub(crate) fn fail(&self, when: &str, code: u16, message: &str) {
        let act = json!("fail");
        self.control(
            json!({ "do": "rule", "when": when, "act": act, "code": code, "message": message }),
        );
    }

    /// The calls so far.
    pub(crate) fn calls(&self) -> Vec<Value> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The names of the calls so far that change something.
    pub(crate) fn writes(&self) -> Vec<String> {
        self.calls()
            .iter()
            .filter(|call| call.get("held").is_none())
            .filter_map(|call| call["call"].as_str())
            .filter(|name| !name.starts_with("query") && !name.starts_with("GET"))
            .filter(|name| !name.contains("git-upload-pack"))
            .filter(|name| !(name.starts_with("git") && name.contains("info/refs")))
            .map(str::to_owned)
            .collect()
    }

    /// Waits until a call whose name has this word is held.
    #[track_caller]
    pub(crate) fn wait_held(&self, when: &str) {
        wait_until(&format!("a held call of {when}"), SOON, || {
            let held = |call: &Value| {
                call["held"] == true && call["call"].as_str().is_some_and(|it| it.contains(when))
            };
            self.calls().iter().any(held).then_some(())
        });
    }

    /// Fills `acme/shop` with the project's repository, as its remote `origin`.
    #[track_caller]
    pub(crate) fn publish(&self, env: &TestEnv) {
        env.git(&["remote", "add", "origin", SHOP]);
        env.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    }
}

impl Drop for Github {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        // It ends at the end of its stdin, or is killed with the environment, by its mark.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The versions of `gh` with which a test is run: the pinned one of `scripts/get-gh` (or
/// `EL_TEST_GH`), and the machine's own.
///
/// Without any: none, and a line that says so; with `EL_REQUIRE_GH=1` a failure, as it is then if
/// one of the two is missing.
#[track_caller]
pub(crate) fn gh_versions() -> Vec<PathBuf> {
    let pinned = std::env::var_os("EL_TEST_GH").filter(|named| !named.is_empty()).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/gh-client/gh"),
        PathBuf::from,
    );
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = std::env::split_paths(&path).map(|folder| folder.join("gh")).find(|it| it.is_file());
    let mut found: Vec<PathBuf> =
        [Some(pinned), own].into_iter().flatten().filter_map(|it| it.canonicalize().ok()).collect();
    found.dedup();
    let is_required = std::env::var_os("EL_REQUIRE_GH").is_some_and(|value| value == "1");
    assert!(
        !is_required || found.len() == 2,
        "of the two GitHub clients there is {found:?}; run scripts/get-gh, and install the system's"
    );
    if found.is_empty() {
        // Written past the capture of the test runner: a test that did not run must be seen.
        let _ = writeln!(std::io::stderr(), "SKIPPED, no GitHub client: run scripts/get-gh");
    }
    found
}
