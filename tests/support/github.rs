//! A GitHub, or a GitLab, of its own for a test, to which the real clients and `git` talk over
//! loopback.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::forge_clients::ForgeClient;
use super::{SOON, TestEnv, wait_until};

/// The address from which a test clones.
pub(crate) const SHOP: &str = "http://github.localhost/acme/shop.git";

/// The scripted GitHub or GitLab (`tests/fakes/fake_github`). It has a repository `acme/shop`, in
/// which ada, who is signed in, may write.
#[derive(Debug)]
pub(crate) struct Github {
    /// Ends by itself when its stdin, held here, is closed.
    server: Child,
    port: u16,
    log: PathBuf,
    pub(crate) client: ForgeClient,
}

impl Github {
    /// Starts it, and puts this client on the PATH of `env`. From now on every command of `env`
    /// reaches this forge, and nothing else.
    #[track_caller]
    pub(crate) fn start(env: &mut TestEnv, client: &ForgeClient) -> Self {
        let (root, ready) = (env.path("github"), env.path("github-ready"));
        let log = env.path("github.jsonl");
        let server = env
            .command(env!("CARGO_BIN_EXE_fake-github"))
            .arg("--until-eof")
            .args(client.is_gitlab.then_some("--gitlab"))
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
        env.link(client.name(), &client.program);
        let proxy = format!("http://127.0.0.1:{port}");
        let settings = env.path("home/gh").display().to_string();
        let glab = env.path("home/glab");
        sign_in_glab(&glab);
        let glab = glab.display().to_string();
        for (name, value) in [
            ("GH_HOST", "github.localhost"),
            ("GH_TOKEN", "a-word"),
            ("GH_CONFIG_DIR", &settings),
            ("GH_NO_UPDATE_NOTIFIER", "1"),
            ("GLAB_CONFIG_DIR", &glab),
            ("GIT_TERMINAL_PROMPT", "0"),
            // The clients start in half of the processor time.
            ("GOGC", "off"),
            ("GOMAXPROCS", "1"),
            // git heeds only the name in small letters.
            ("HTTP_PROXY", &proxy),
            ("http_proxy", &proxy),
        ] {
            env.set(name, value);
        }
        Self { server, port, log, client: client.clone() }
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

    /// Has the next call of the client's fail.
    #[track_caller]
    pub(crate) fn fail_any(&self, code: u16, message: &str) {
        self.fail(if self.client.is_gitlab { "/api/" } else { "query" }, code, message);
    }

    /// The address of a repository, such as `acme/shop`.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}.git", self.client.host())
    }

    /// Fills `acme/shop` with the project's repository, as its remote `origin`.
    #[track_caller]
    pub(crate) fn publish(&self, env: &TestEnv) {
        env.git(&["remote", "add", "origin", &self.url("acme/shop")]);
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

/// As `glab auth login` leaves it.
fn sign_in_glab(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;

    fs::create_dir_all(folder).unwrap();
    let file = folder.join("config.yml");
    let host = |name: &str| {
        format!(
            "    {name}:\n        token: a-word\n        api_protocol: http\n        \
                 api_host: {name}\n"
        )
    };
    let hosts = ["gitlab.localhost", "code.localhost"].map(host).concat();
    fs::write(&file, format!("check_update: false\nhosts:\n{hosts}")).unwrap();
    // glab reads no other.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
}
