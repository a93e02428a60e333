//! A project under test, through its own commands.

use std::fs;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::wait::look_until;
use super::{Running, SOON, TestEnv, wait_until};

/// Settings with short leases and back-offs for tests. The exit code of a worker that ended with
/// some failed work.
const UNFINISHED: i32 = 9;
const QUICK: &str = "lease = \"5s\"\nretry_backoff = \"0s\"\nclose_grace = \"1s\"\n";

/// Has the scripted agent run a command: `tests/fakes/fake_agent/calls.rs`.
const CALL: &str = "d=$1; n=$1/$$; shift; mkfifo $n.in $n.out $n.err; \
    for word; do printf '%s\\0' \"$word\"; done > $n.new; mv $n.new $n.call; \
    cat $n.out & out=$!; cat $n.err >&2 & err=$!; exec 3<&0; cat <&3 > $n.in & in=$!; \
    wait $out $err; kill $in 2>/dev/null; exit $(cat $n.code 2>/dev/null || echo 137)";

impl TestEnv {
    /// An environment whose project has a tracker with ids that begin with `t-`.
    pub(crate) fn with_tracker() -> Self {
        let env = Self::new();
        env.el(&["init", "--name", "t"]).ok();
        env.configure("");
        env
    }

    /// Writes the project's configuration (the quick settings, and the given ones), and trusts
    /// the configuration.
    pub(crate) fn configure(&self, lines: &str) {
        // TOML takes no key twice.
        let quick = QUICK
            .lines()
            .filter(|line| !lines.contains(line.split('=').next().unwrap()))
            .collect::<Vec<_>>()
            .join("\n");
        fs::write(self.project(".eluent/config.toml"), format!("{quick}\n{lines}")).unwrap();
        self.el(&["trust", "--yes"]).ok();
    }

    /// Files an atom. Returns its id.
    #[track_caller]
    pub(crate) fn create(&self, title: &str, more: &[&str]) -> String {
        self.robot(&[&["create", "--title", title], more].concat())["id"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Files an atom whose scripted agent takes these steps. Returns its id.
    #[track_caller]
    pub(crate) fn script_atom(&self, steps: &[&str]) -> String {
        self.create("Play a script", &["-d", &Self::script(steps)])
    }

    #[track_caller]
    pub(crate) fn show(&self, id: &str) -> Value {
        self.robot(&["show", id])
    }

    #[track_caller]
    pub(crate) fn status(&self, id: &str) -> String {
        self.show(id)["status"].as_str().unwrap().to_owned()
    }

    /// The runs of an atom, oldest first.
    #[track_caller]
    pub(crate) fn runs(&self, id: &str) -> Vec<Value> {
        let mut runs = self.robot(&["runs", "--atom", id])["items"].as_array().unwrap().clone();
        runs.reverse();
        runs
    }

    /// Returns the atom's live run, or its last run.
    #[track_caller]
    pub(crate) fn last_run(&self, id: &str) -> Value {
        self.runs(id).pop().unwrap_or_else(|| panic!("{id} has no run"))
    }

    /// Returns the outcomes of an atom's runs, oldest first; `live` for a live run.
    #[track_caller]
    pub(crate) fn outcomes(&self, id: &str) -> Vec<String> {
        self.runs(id)
            .iter()
            .map(|run| run["outcome"].as_str().unwrap_or("live").to_owned())
            .collect()
    }

    /// Returns the atom's events in short: the kind, and the new status.
    #[track_caller]
    pub(crate) fn events(&self, id: &str) -> Vec<String> {
        let events = self.robot(&["history", id])["items"].take();
        let short = |event: &Value| {
            let kind = event["kind"].as_str().unwrap();
            let more = event["data"]["to"].as_str().or(event["data"]["outcome"].as_str());
            more.map_or_else(|| kind.to_owned(), |more| format!("{kind} {more}"))
        };
        events.as_array().unwrap().iter().map(short).collect()
    }

    /// The texts of the atom's comments, oldest first.
    #[track_caller]
    pub(crate) fn comments(&self, id: &str) -> Vec<String> {
        let shown = self.show(id)["comments"].take();
        shown
            .as_array()
            .unwrap()
            .iter()
            .map(|comment| comment["content"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Runs `el --robot work …` to its own end, with or without failed work. Returns the reports.
    #[track_caller]
    pub(crate) fn work(&self, arguments: &[&str]) -> Vec<Value> {
        let ran = self.run(self.command("el").args(["--robot", "work"]).args(arguments));
        let ran = if ran.status == UNFINISHED { ran.fails_with(UNFINISHED) } else { ran.ok() };
        ran.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .filter(|line: &Value| !line["event"].is_null())
            .collect()
    }

    /// Starts `el --robot work …`.
    #[track_caller]
    pub(crate) fn start_work(&self, arguments: &[&str]) -> Running {
        self.start(self.command("el").args(["--robot", "work"]).args(arguments))
    }

    /// Waits until the atom has this status.
    #[track_caller]
    pub(crate) fn wait_for_status(&self, id: &str, status: &str) -> Value {
        let look = || Some(self.show(id)).filter(|atom| atom["status"] == status);
        look_until(SOON, look)
            .unwrap_or_else(|| panic!("{id} does not get {status}: {:#}", self.show(id)))
    }

    /// Waits until so many runs of the atom have ended. Returns the last run.
    #[track_caller]
    pub(crate) fn wait_for_end(&self, id: &str, runs: usize) -> Value {
        let look =
            || self.runs(id).into_iter().nth(runs - 1).filter(|run| run["outcome"].is_string());
        look_until(SOON, look)
            .unwrap_or_else(|| panic!("run {runs} of {id} does not end: {:#?}", self.runs(id)))
    }

    /// A file of a run's folder.
    pub(crate) fn run_file(&self, run: &Value, name: &str) -> PathBuf {
        self.project(".eluent/runs").join(run["id"].as_str().unwrap()).join(name)
    }

    pub(crate) fn read_run_file(&self, run: &Value, name: &str) -> String {
        let path = self.run_file(run, name);
        String::from_utf8_lossy(
            &fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())),
        )
        .into_owned()
    }

    /// Returns true if a file of a run's folder exists and contains this text. For waits, since the
    /// run may only have begun.
    pub(crate) fn run_file_says(&self, run: &Value, name: &str, text: &str) -> bool {
        fs::read(self.run_file(run, name))
            .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text))
    }

    /// Returns the path of the atom's context during its run.
    pub(crate) fn context(&self, id: &str) -> PathBuf {
        self.project(".eluent/agent-context").join(format!("{id}.md"))
    }

    /// Returns the lines that the scripted agent's `record FILE` has written.
    #[track_caller]
    pub(crate) fn recorded(&self, file: &str) -> Value {
        serde_json::from_str(&self.wait_for_file(file)).unwrap()
    }

    /// A second look at the database, past `el`.
    pub(crate) fn database(&self) -> Connection {
        let connection = Connection::open(self.project(".eluent/el.db")).unwrap();
        connection.busy_timeout(SOON).unwrap();
        connection
    }

    /// Returns the fencing token of a run, which `el` never prints.
    #[track_caller]
    pub(crate) fn token(&self, run: &Value) -> String {
        let id = run["id"].as_str().unwrap();
        let found = self
            .database()
            .query_row("SELECT token FROM runs WHERE id = ?1", [id], |row| row.get(0))
            .optional();
        found.unwrap().unwrap()
    }

    /// The session socket of a run, as its agent's `EL_SESSION` names it.
    pub(crate) fn session_socket(&self, run: &Value) -> PathBuf {
        let folder = fs::canonicalize(self.project(".eluent")).unwrap();
        folder.join("runs").join(run["id"].as_str().unwrap()).join("session/socket")
    }

    /// Returns `el` in this run's session.
    pub(crate) fn el_as_run(&self, run: &Value, arguments: &[&str]) -> std::process::Command {
        let mut command = self.in_session(run, "el");
        command.args(arguments);
        command
    }

    /// Returns a program that the scripted agent of a live run starts in its session, or, of a run
    /// that is over, a program that was left over with the variables of the session.
    pub(crate) fn in_session(&self, run: &Value, program: &str) -> std::process::Command {
        let socket = self.session_socket(run);
        let atom = run["atom_id"].as_str().unwrap();
        // A worker tells of a launch before the supervisor listens.
        let is_live = wait_until("the session socket, or the end of the run", SOON, || {
            let is_over = || {
                self.runs(atom)
                    .iter()
                    .any(|now| now["id"] == run["id"] && !now["outcome"].is_null())
            };
            if socket.exists() { Some(true) } else { is_over().then_some(false) }
        });
        if !is_live {
            let mut command = self.command(program);
            command.env("EL_SESSION", socket);
            return command;
        }
        let folder = self.home().join("calls").join(atom);
        fs::create_dir_all(&folder).unwrap();
        let mut command = self.command("sh");
        command.args(["-c", CALL, "sh"]).arg(folder).arg(program);
        command
    }

    /// Lists the sessions of the project's own tmux server; empty if the server does not run.
    #[track_caller]
    pub(crate) fn sessions(&self) -> Vec<String> {
        let names = self.tmux(&["list-sessions", "-F", "#{session_name}"]);
        names.map_or_else(Vec::new, |names| names.lines().map(str::to_owned).collect())
    }

    /// Waits until exactly these sessions are left. A session ends a moment after its run was
    /// settled. tmux before 3.6 may miss the end of a process until another process ends, so the
    /// test provides another.
    #[track_caller]
    pub(crate) fn wait_for_sessions(&self, expected: &[String]) {
        wait_until(&format!("the sessions {expected:?}"), SOON, || {
            let are_left = self.sessions() == expected;
            if !are_left {
                self.tmux(&["run-shell", "true"]);
            }
            are_left.then_some(())
        });
    }

    /// Asks the project's own tmux server; `None` if the server refuses or does not run.
    #[track_caller]
    pub(crate) fn tmux(&self, arguments: &[&str]) -> Option<String> {
        let folder = fs::read_dir(self.path("tmux")).unwrap().next()?.unwrap().path();
        let sockets = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let ours = sockets
            .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("el-"))
            .collect::<Vec<_>>();
        assert!(ours.len() < 2, "which server is meant? {ours:?}");
        let ran = self.run(self.command("tmux").arg("-S").arg(ours.first()?).args(arguments));
        (ran.status == 0).then_some(ran.stdout)
    }

    /// Asserts the facts at the moment a run is settled: no process of the agent's tree lives, and
    /// the run's private files (context, environment) are gone.
    #[track_caller]
    pub(crate) fn assert_settled(&self, run: &Value) {
        let id = run["id"].as_str().unwrap();
        assert_eq!(self.processes_of_run(id), [], "of the agent's tree of {run}");
        assert!(run["outcome"].is_string() && run["ended_at"].is_string(), "{run}");
        assert!(!self.run_file(run, "env.json").exists(), "the environment of {id} is still there");
        let atom = run["atom_id"].as_str().unwrap();
        let live = self.robot(&["runs", "--live"])["items"].take();
        let is_taken = live.as_array().unwrap().iter().any(|live| live["atom_id"] == atom);
        assert!(is_taken || !self.context(atom).exists(), "the context of {atom} is still there");
    }
}

impl Running {
    /// Returns the whole lines of JSON printed so far.
    pub(crate) fn told(&self) -> Vec<Value> {
        self.stdout().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Waits for a report of this kind. Returns the first.
    #[track_caller]
    pub(crate) fn wait_for(&self, event: &str) -> Value {
        self.wait_for_event(|told| told["event"] == event)
    }

    /// Waits for a report with the given property. Returns the first.
    #[track_caller]
    pub(crate) fn wait_for_event(&self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let look = || self.told().into_iter().find(|told| is_wanted(told));
        look_until(SOON, look).unwrap_or_else(|| panic!("no such event among {:#?}", self.told()))
    }
}
