//! The real Claude Code client against the scripted API, in an empty network namespace.
//!
//! The namespace belongs to the API's process. Every command of the test enters the namespace, so
//! that `el work`, its tmux server and the clients reach the API alone. Where namespaces are not
//! allowed, plain loopback serves.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;

use super::{SOON, TestEnv, wait_until};

/// A single real client at a time: each takes 1 s of CPU to start and 250 MB, and the machine may
/// have two cores.
static TURN: Mutex<()> = Mutex::new(());

#[derive(Debug)]
pub(crate) struct RealClaude {
    /// Ends by itself when its stdin, held here, is closed.
    server: Child,
    log: PathBuf,
    /// `None`: another of the test has it.
    _turn: Option<MutexGuard<'static, ()>>,
}

impl RealClaude {
    /// Puts the client on the PATH of `env` and starts the API with this scenario.
    ///
    /// Without a client: `None`, and a line that says so; with `EL_REQUIRE_CLAUDE=1` a failure.
    /// After `Some`, every command of `env` reaches the API.
    #[track_caller]
    pub(crate) fn start(env: &mut TestEnv, scenario: &Value) -> Option<Self> {
        let (client, turn) = client_in_turn()?;
        Some(Self::start_in(isolation(), env, scenario, &client, Some(turn)))
    }

    /// The same on machines that are in networks of their own already, each with its API.
    #[track_caller]
    pub(crate) fn start_where_they_are(machines: [(&mut TestEnv, &Value); 2]) -> Option<[Self; 2]> {
        let (client, turn) = client_in_turn()?;
        let mut turn = Some(turn);
        Some(machines.map(|(env, scenario)| {
            Self::start_in(&NO_ISOLATION, env, scenario, &client, turn.take())
        }))
    }

    fn start_in(
        isolation: &Isolation,
        env: &mut TestEnv,
        scenario: &Value,
        client: &Path,
        turn: Option<MutexGuard<'static, ()>>,
    ) -> Self {
        let file = env.path("scenario.json");
        fs::write(&file, scenario.to_string()).unwrap();
        let (log, ready) = (env.path("requests.jsonl"), env.path("ready"));
        let mut words = isolation.unshare.iter().copied().chain([env!("CARGO_BIN_EXE_fake-api")]);
        let server = env
            .command(words.next().unwrap())
            .args(words)
            .arg("--until-eof")
            .arg("--scenario")
            .arg(file)
            .arg("--log")
            .arg(&log)
            .arg("--ready")
            .arg(&ready)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let started = Self { server, log, _turn: turn };
        let port = wait_until("the scripted API", SOON, || fs::read_to_string(&ready).ok());
        if !isolation.unshare.is_empty() {
            let pid = started.server.id().to_string();
            let enter = isolation
                .enter
                .iter()
                .map(|word| if *word == "PID" { pid.clone() } else { (*word).to_owned() });
            env.enter.extend(enter);
        }
        env.link("claude", client);
        env.show_folder_of(client);
        for (name, value) in [
            ("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", port.trim()).as_str()),
            ("ANTHROPIC_API_KEY", "sk-ant-api03-dummy-dummy-dummy-fake"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            // On a busy machine the client needs its time to end a turn.
            ("EL_CLOSE_GRACE", "30s"),
        ] {
            env.set(name, value);
        }
        started
    }

    /// Returns the message requests so far, from the API's log.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        // The last line may be half written while the API runs.
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line.get("step").is_some()).collect()
    }
}

impl Drop for RealClaude {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        // The API ends at the end of its stdin, or is killed with the environment, by its mark.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The client, and the turn to use it; `None` without a client.
#[track_caller]
fn client_in_turn() -> Option<(PathBuf, MutexGuard<'static, ()>)> {
    let Some(client) = client() else {
        assert!(
            std::env::var_os("EL_REQUIRE_CLAUDE").is_none_or(|v| v != "1"),
            "the Claude Code client is missing; run scripts/get-claude"
        );
        // Written past the capture of the test runner: a test that did not run must be seen.
        let _ =
            writeln!(std::io::stderr(), "SKIPPED, no Claude Code client: run scripts/get-claude");
        return None;
    };
    Some((client, TURN.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// `$EL_TEST_CLAUDE` (the binary, or its folder), else the client installed by
/// `scripts/get-claude`.
fn client() -> Option<PathBuf> {
    if let Some(named) =
        std::env::var_os("EL_TEST_CLAUDE").filter(|v| !v.is_empty()).map(PathBuf::from)
    {
        let file = if named.is_dir() { named.join("claude") } else { named };
        assert!(file.is_file(), "EL_TEST_CLAUDE names no client: {}", file.display());
        return Some(file);
    }
    let packages = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../target/claude-client/node_modules/@anthropic-ai");
    let found = fs::read_dir(packages).ok()?.filter_map(|e| Some(e.ok()?.path().join("claude")));
    // Older npm brings the client for musl too, whose name comes later.
    found.filter(|file| file.is_file()).min()?.canonicalize().ok()
}

struct Isolation {
    /// Starts a program in a new network namespace.
    unshare: &'static [&'static str],
    /// Enters that of the process PID.
    enter: &'static [&'static str],
}

static WAYS: [Isolation; 3] = [
    Isolation { unshare: &["unshare", "-n"], enter: &["nsenter", "-t", "PID", "-n"] },
    Isolation {
        unshare: &["unshare", "-r", "-n"],
        enter: &["nsenter", "-t", "PID", "-U", "-n", "--preserve-credentials"],
    },
    NO_ISOLATION,
];

const NO_ISOLATION: Isolation = Isolation { unshare: &[], enter: &[] };

/// The best isolation that this machine allows, probed once.
fn isolation() -> &'static Isolation {
    static FOUND: OnceLock<&Isolation> = OnceLock::new();
    FOUND.get_or_init(|| WAYS.iter().find(|way| way.works()).expect("the last way needs nothing"))
}

impl Isolation {
    fn works(&self) -> bool {
        let has = |program: &&str| {
            Command::new(program)
                .arg("--help")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok()
        };
        let Some((program, arguments)) = self.unshare.split_first() else { return true };
        self.enter.first().is_some_and(has)
            && Command::new(program)
                .args(arguments)
                .arg("true")
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
    }
}
