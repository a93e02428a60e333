//! An isolated world for each test: folders, programs, environment, tmux server. Nothing of the
//! developer's is visible.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use tempfile::TempDir;

use super::process::kill_all;
use super::{Process, Ran, Running, SOON, wait_until};

/// The mark in the environment of all processes of a test, started directly or through tmux.
const MARK: &str = "EL_TEST_ENV";

/// How long a command may run that is waited for.
const COMMAND: Duration = Duration::from_secs(120);

/// A user id that no machine uses.
const ORDINARY_USER: u32 = 54_321;

#[derive(Debug)]
pub(crate) struct TestEnv {
    root: TempDir,
    mark: String,
    vars: BTreeMap<String, String>,
    /// The prefix of every command: enters the network namespace of the real client's API.
    pub(super) enter: Vec<String>,
    /// Files with the pid of a process without our mark, which is also killed at the end.
    strays: Vec<PathBuf>,
    outputs: AtomicU32,
}

impl TestEnv {
    /// An empty project folder, and on PATH `el`, and `claude` played by the scripted agent.
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("el")
            .rand_bytes(6)
            .tempdir_in(short_temp_dir())
            .unwrap();
        let mut env = Self {
            mark: unique(),
            vars: BTreeMap::new(),
            enter: Vec::new(),
            strays: Vec::new(),
            outputs: AtomicU32::new(0),
            root,
        };
        for folder in ["project", "home", "home/calls", "bin", "tmp", "tmux", "out"] {
            fs::create_dir(env.path(folder)).unwrap();
        }
        fs::write(
            env.path("home/.gitconfig"),
            "[user]\n name = Test\n email = test@example.com\n[init]\n defaultBranch = main\n\
             [maintenance]\n auto = false\n",
        )
        .unwrap();
        // Agents, checks and tests tell each other by files in these. The sandbox's own tests take
        // the defaults.
        let told = [env.path("tmp"), env.home().join("calls")];
        env.set("EL_SANDBOX_WRITE", told.map(|folder| folder.display().to_string()).join(", "));
        // All tests with, or without, the sandbox. Without one, each worker would warn of that.
        if let Ok(mode) = std::env::var("EL_TEST_SANDBOX") {
            env.set("EL_SANDBOX", mode);
        } else if !bubblewrap_works() {
            env.set("EL_SANDBOX", "off");
        }
        if ignores_signals() {
            // By its path: tests take everything off PATH.
            env.run_through(&["/usr/bin/env", "--default-signal=HUP,INT"]);
        }
        env.link("el", cargo_bin!("el"));
        env.link("claude", cargo_bin!("fake-agent"));
        env
    }

    /// Returns a path in the folder of this environment.
    pub(crate) fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.root.path().join(below)
    }

    /// Returns a path in the project folder, in which every command runs.
    pub(crate) fn project(&self, below: impl AsRef<Path>) -> PathBuf {
        self.path("project").join(below)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Sets a variable for the commands that are started from now on.
    pub(crate) fn set(&mut self, name: &str, value: impl AsRef<str>) -> &mut Self {
        self.vars.insert(name.to_owned(), value.as_ref().to_owned());
        self
    }

    pub(crate) fn unset(&mut self, name: &str) -> &mut Self {
        self.vars.remove(name);
        self
    }

    /// Puts an existing program on PATH under this name, in place of any other of that name.
    pub(crate) fn link(&self, name: &str, program: impl AsRef<Path>) {
        let at = self.path("bin").join(name);
        let _ = fs::remove_file(&at);
        symlink(program, at).unwrap();
    }

    /// Puts a program's folder at the end of PATH. The sandbox shows such folders, and hides
    /// others below `/tmp`, where this repository may be.
    pub(crate) fn show_folder_of(&mut self, program: impl AsRef<Path>) {
        let folder = program.as_ref().parent().unwrap().display().to_string();
        let path = self.variables().remove("PATH").unwrap();
        self.set("PATH", format!("{path}:{folder}"));
    }

    /// Puts a shell script on PATH under this name.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let at = self.path("bin").join(name);
        let _ = fs::remove_file(&at);
        fs::write(&at, script).unwrap();
        fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns an atom's description that makes the scripted agent take these steps.
    pub(crate) fn script(steps: &[&str]) -> String {
        steps.iter().map(|step| format!("script: {step}\n")).collect()
    }

    /// Gives all files to a user without rights, and runs all further commands as that user.
    /// Returns false if the test does not run as root.
    pub(crate) fn hand_to_ordinary_user(&mut self) -> bool {
        if !rustix::process::geteuid().is_root() {
            return false;
        }
        let id = ORDINARY_USER.to_string();
        let mut give = Command::new("chown");
        give.arg("-Rh").arg(format!("{id}:{id}")).arg(self.path(""));
        assert!(give.status().unwrap().success());
        self.run_through(&["setpriv", "--reuid", &id, "--regid", &id, "--clear-groups", "--"]);
        self.keep_programs_in_reach();
        true
    }

    /// Puts the programs themselves on PATH where links lead into folders that only root may enter.
    fn keep_programs_in_reach(&self) {
        for entry in fs::read_dir(self.path("bin")).unwrap() {
            let at = entry.unwrap().path();
            let Ok(program) = fs::read_link(&at) else { continue };
            if self.run(self.command("test").arg("-x").arg(&at)).status != 0 {
                fs::remove_file(&at).unwrap();
                if fs::hard_link(&program, &at).is_err() {
                    fs::copy(&program, &at).unwrap();
                }
            }
        }
    }

    /// Has all further commands run by these words.
    pub(crate) fn run_through(&mut self, words: &[&str]) {
        self.enter.extend(words.iter().map(|word| (*word).to_owned()));
    }

    /// Returns a command in the project folder with only this test's environment.
    pub(crate) fn command(&self, program: impl AsRef<str>) -> Command {
        let mut words = self.enter.iter().map(String::as_str).chain([program.as_ref()]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words).current_dir(self.project("")).env_clear().envs(self.variables());
        command
    }

    fn variables(&self) -> BTreeMap<String, String> {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let path = format!("{}:{}", text(self.path("bin")), std::env::var("PATH").unwrap());
        let mut vars: BTreeMap<String, String> = [
            ("PATH", path),
            ("HOME", text(self.home())),
            ("TMPDIR", text(self.path("tmp"))),
            ("TMUX_TMPDIR", text(self.path("tmux"))),
            ("SHELL", "/bin/sh".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TZ", "UTC".to_owned()),
            ("COLUMNS", "100".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            (MARK, self.mark.clone()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        vars.extend(self.vars.clone());
        vars
    }

    /// Starts a command. The process is killed when the returned value is dropped.
    #[track_caller]
    pub(crate) fn start(&self, command: &mut Command) -> Running {
        let n = self.outputs.fetch_add(1, Ordering::Relaxed);
        Running::start(
            command,
            ["stdout", "stderr"].map(|name| self.path(format!("out/{n}.{name}"))),
        )
    }

    /// Runs a command to the end.
    #[track_caller]
    pub(crate) fn run(&self, command: &mut Command) -> Ran {
        self.start(command).wait(COMMAND)
    }

    /// Runs git in the project's folder. Returns the output.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.run(self.command("git").args(arguments)).ok().stdout.trim_end().to_owned()
    }

    /// Runs `el` to the end.
    #[track_caller]
    pub(crate) fn el(&self, arguments: &[&str]) -> Ran {
        self.run(self.command("el").args(arguments))
    }

    /// Starts `el`.
    #[track_caller]
    pub(crate) fn start_el(&self, arguments: &[&str]) -> Running {
        self.start(self.command("el").args(arguments))
    }

    /// Runs `el --robot …`, which must succeed. Returns the envelope's `data`.
    #[track_caller]
    pub(crate) fn robot(&self, arguments: &[&str]) -> Value {
        let ran = self.run(self.command("el").arg("--robot").args(arguments)).ok();
        let mut envelope = ran.json();
        assert_eq!(envelope["status"], "ok", "{ran:#?}");
        envelope["data"].take()
    }

    /// Lists the living processes of this test, started in any way.
    pub(crate) fn processes(&self) -> Vec<Process> {
        Process::carrying_any(&self.marks())
    }

    /// The living process of this test that a file gives this pid, as it is in its sandbox.
    pub(crate) fn process_known_as(&self, pid: u32) -> Option<Process> {
        Process::known_as(pid, self.root.path())
    }

    /// `el` gives its tmux server little of its environment: not our mark, but the place of the
    /// socket.
    fn marks(&self) -> [String; 2] {
        [format!("{MARK}={}", self.mark), format!("TMUX_TMPDIR={}", self.path("tmux").display())]
    }

    /// Lists the living processes of this run.
    pub(crate) fn processes_of_run(&self, run: &str) -> Vec<Process> {
        let ours = self.processes();
        let folder = fs::canonicalize(self.project(".eluent")).unwrap_or_default();
        let socket = folder.join("runs").join(run).join("session/socket");
        Process::carrying(&format!("EL_SESSION={}", socket.display()))
            .into_iter()
            .filter(|p| ours.contains(p))
            .collect()
    }

    /// Waits until a process has written this file. Returns the text without the line end.
    #[track_caller]
    pub(crate) fn wait_for_file(&self, path: impl AsRef<Path>) -> String {
        let path = self.project(path);
        let text = wait_until(&format!("the file {}", path.display()), SOON, || {
            fs::read_to_string(&path).ok()
        });
        text.trim_end().to_owned()
    }

    /// Returns the pid that a process without our mark has written into a file of the project
    /// (`child … clean-env pid=FILE`). The process is killed at the end of the test.
    #[track_caller]
    pub(crate) fn stray(&mut self, file: &str) -> u32 {
        let pid = self.wait_for_file(file).parse().unwrap();
        self.strays.push(self.project(file));
        pid
    }
}

/// No process outlives the environment. `EL_TEST_KEEP=1` keeps the folder of a failed test.
impl Drop for TestEnv {
    fn drop(&mut self) {
        let keep = std::thread::panicking() && std::env::var_os("EL_TEST_KEEP").is_some();
        for pid in
            self.strays.iter().filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok())
        {
            // The number may belong to another process by now.
            if let Some(stray) = self.process_known_as(pid) {
                stray.kill();
            }
        }
        let left = kill_all(&self.marks());
        // A second panic would abort the whole test binary.
        assert!(left.is_empty() || std::thread::panicking(), "these do not die: {left:?}");
        if keep {
            self.root.disable_cleanup(true);
        }
    }
}

/// A folder for temporary files with a short name: a socket's path may have about 100 bytes.
fn short_temp_dir() -> PathBuf {
    let usual = std::env::temp_dir();
    if usual.as_os_str().len() <= 40 { usual } else { PathBuf::from("/tmp") }
}

/// A text unique on this machine.
fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    format!("{now:x}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Returns true if this process ignores SIGHUP or SIGINT, as below nohup. Its children would, too.
fn ignores_signals() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 0b11 != 0)
}

/// Returns true if this machine can make a sandbox.
pub(crate) fn bubblewrap_works() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| {
        let words = ["--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"];
        Command::new("bwrap").args(words).output().is_ok_and(|ran| ran.status.success())
    })
}
