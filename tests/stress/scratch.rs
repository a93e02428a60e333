//! A scratch project with its own environment, home and tmux server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;
use serde_json::Value;

use crate::db::Place;
use crate::procs::{self, Marks};

/// How long a command may run. Longer than `el` waits for a busy database.
const COMMAND: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_millis(3);

/// The lease of every run here: the shortest that `el` takes.
pub(crate) const LEASE: Duration = Duration::from_secs(5);
const CONFIG: &str = "lease = \"5s\"\nretry_backoff = \"0s\"\nclose_grace = \"1s\"\n\
    execution_timeout = \"6s\"\n\
                      max_attempts = 40\nagent = \"claude\"\n";

#[derive(Debug)]
pub(crate) struct Scratch {
    root: PathBuf,
    pub(crate) marks: Marks,
    pub(crate) place: Place,
    environment: Vec<(String, String)>,
    outputs: AtomicU32,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// 128 + n after signal n.
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The `data` of a robot answer that went well.
    pub(crate) fn data(&self) -> Value {
        let envelope: Value = serde_json::from_str(&self.stdout).unwrap_or_default();
        assert_eq!((self.status, &envelope["status"]), (0, &Value::from("ok")), "{self:#?}");
        envelope["data"].clone()
    }
}

impl Scratch {
    /// An empty project.
    pub(crate) fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        let unique = format!(
            "{:x}-{}-{}",
            now & 0xffff_ffff,
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        // A short name: a socket's path has only about a hundred bytes.
        let root = PathBuf::from(format!("/tmp/elx-{unique}"));
        for folder in ["p", "home", "tmp", "t", "log", "out"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let text = |below: &str| root.join(below).to_str().unwrap().to_owned();
        let bin = Path::new(env!("CARGO_BIN_EXE_el")).parent().unwrap();
        let environment = [
            ("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())),
            ("HOME", text("home")),
            ("TMPDIR", text("tmp")),
            ("TMUX_TMPDIR", text("t")),
            ("STRESS_LOG", text("log")),
            ("STRESS_MARK", unique.clone()),
            ("SHELL", "/bin/sh".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            // Asking git for the identity would cost a process per call.
            ("EL_ACTOR", "ann".to_owned()),
            // Agents tell what they did by files in these.
            ("EL_SANDBOX_WRITE", format!("{}, {}", text("log"), text("tmp"))),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value)).into();
        let marks = Marks {
            own: format!("STRESS_MARK={unique}"),
            tmux: format!("TMUX_TMPDIR={}", text("t")),
        };
        let state = root.join("p/.eluent");
        fs::create_dir(&state).unwrap();
        let place = Place::new(&state, &unique.replace('-', "_"));
        let outputs = AtomicU32::new(0);
        let mut scratch = Scratch { root, marks, place, environment, outputs };
        if let Place::Server(url) = scratch.place.clone() {
            scratch.set("EL_DATABASE_URL", &url);
        }
        scratch.el(&["init", "--name", "x"]).data();
        let agent = env!("CARGO_BIN_EXE_fake-agent");
        let config = format!("{CONFIG}claude_code_path = \"{agent}\"\n");
        fs::write(scratch.state().join("config.toml"), config).unwrap();
        scratch.el(&["trust", "--yes"]).data();
        scratch
    }

    /// Sets a variable for all later processes.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root.join("p/.eluent")
    }

    pub(crate) fn exit_record(&self, run: &str) -> PathBuf {
        self.state().join("runs").join(run).join("exit.json")
    }

    /// The lines of a file that the agents write.
    pub(crate) fn log(&self, name: &str) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.root.join("log").join(name)).unwrap_or_default();
        text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
    }

    /// `el --robot …`, not started yet.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_el"));
        command.arg("--robot").args(arguments).current_dir(self.root.join("p"));
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts a command with its output in files: leftover processes must not block the round.
    pub(crate) fn start(&self, command: &mut Command) -> (Child, PathBuf) {
        let at = self.root.join(format!("out/{}", self.outputs.fetch_add(1, Ordering::Relaxed)));
        let file = |end: &str| fs::File::create(at.with_extension(end)).unwrap();
        let child =
            command.stdin(Stdio::null()).stdout(file("out")).stderr(file("err")).spawn().unwrap();
        (child, at)
    }

    /// Runs a command to the end.
    pub(crate) fn run(&self, command: &mut Command) -> Ran {
        let (mut child, at) = self.start(command);
        let end = Instant::now() + COMMAND;
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > end => {
                    let _ = child.kill();
                    break child.wait().unwrap();
                }
                None => std::thread::sleep(TICK),
            }
        };
        ended(status, &at)
    }

    /// Runs `el --robot …` to the end, as a person.
    pub(crate) fn el(&self, arguments: &[&str]) -> Ran {
        self.run(&mut self.command(arguments))
    }

    /// Runs `el --robot …` as the session of a run would, whether or not that is over.
    pub(crate) fn el_as(&self, session: &str, atom: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        command.envs([
            ("EL_SESSION", session),
            ("EL_ATOM", atom),
            ("EL_ACTOR", "late"),
            ("STRESS_LATE", "1"),
        ]);
        self.run(&mut command)
    }

    /// Ends all processes of the project. The folder is removed unless kept.
    pub(crate) fn end(self, keep: bool) {
        for stray in self.strays() {
            stray.signal(Signal::KILL);
        }
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let left = procs::scan(&self.marks);
            if left.is_empty() || Instant::now() > end {
                break;
            }
            for process in &left {
                process.signal(Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        if !keep {
            let _ = fs::remove_dir_all(&self.root);
        }
    }

    /// Lists living processes that agents left behind without any mark.
    pub(crate) fn strays(&self) -> Vec<procs::Proc> {
        let entries = fs::read_dir(self.root.join("log")).into_iter().flatten().flatten();
        let files =
            entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("stray-"));
        files
            .filter_map(|file| {
                let pid = fs::read_to_string(file.path()).ok()?.trim().parse().ok()?;
                let run =
                    file.file_name().to_string_lossy().trim_start_matches("stray-").to_owned();
                let stray = procs::stray(pid)?;
                // The pid may belong to another process by now: ours names the file that it wrote.
                let is_it = stray.words.iter().any(|word| word.ends_with(&format!("stray-{run}")));
                is_it.then_some(procs::Proc { run: Some(run), ..stray })
            })
            .collect()
    }
}

pub(crate) fn ended(status: std::process::ExitStatus, at: &Path) -> Ran {
    use std::os::unix::process::ExitStatusExt;
    let read = |end: &str| {
        String::from_utf8_lossy(&fs::read(at.with_extension(end)).unwrap_or_default()).into_owned()
    };
    let code = status.code().or_else(|| status.signal().map(|n| 128 + n)).unwrap();
    Ran { status: code, stdout: read("out"), stderr: read("err") }
}
