//! Scratch projects of any size.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A project with its own home and tmux sockets, removed when it is dropped.
pub(crate) struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new() -> Project {
        let dir = tempfile::Builder::new().prefix("el-bench").tempdir().unwrap();
        for folder in ["home", "tmux", "project"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let project = Project { dir };
        project.ok(&["init", "--name", "bench"]);
        project
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `el` with these arguments, in a clean environment.
    pub(crate) fn el(&self, arguments: &[&str]) -> Command {
        let el = Path::new(env!("CARGO_BIN_EXE_el"));
        let mut command = Command::new(el);
        let path = format!(
            "{}:{}:/usr/bin:/bin",
            self.path("bin").display(),
            el.parent().unwrap().display()
        );
        command.args(arguments).current_dir(self.folder()).env_clear();
        command
            .env("PATH", path)
            .env("HOME", self.path("home"))
            .env("TMUX_TMPDIR", self.path("tmux"))
            .env("EL_ACTOR", "bench");
        command
    }

    /// Runs `el`; gives what it printed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.el(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Files `count` atoms in one call; every twentieth is left open, the others are closed.
    pub(crate) fn fill(&self, count: usize) {
        let mut lines = String::new();
        for n in 0..count {
            writeln!(
                lines,
                "{{\"title\":\"Atom number {n} about the \
                 parser\",\"description\":\"{}\",\"labels\":[\"part-{}\"]}}",
                "Some text. ".repeat(20),
                n % 10
            )
            .unwrap();
        }
        let file = self.path("atoms.jsonl");
        fs::write(&file, lines).unwrap();
        self.ok(&["create", "--file", file.to_str().unwrap(), "-q"]);
        let raw = rusqlite::Connection::open(self.folder().join(".eluent/el.db")).unwrap();
        raw.execute(
            "UPDATE atoms SET status = 'closed', closed_at = updated_at WHERE seq % 20 <> 0",
            [],
        )
        .unwrap();
    }

    /// Makes `count` open atoms of high priority that all wait for one of low priority.
    pub(crate) fn block(&self, count: usize) {
        let mut lines = String::from("{\"key\":\"gate\",\"title\":\"The gate\",\"priority\":5}\n");
        for n in 0..count {
            writeln!(lines, r#"{{"title":"Waiting {n}","priority":0,"blocked_by":["gate"]}}"#)
                .unwrap();
        }
        let file = self.path("blocked.jsonl");
        fs::write(&file, lines).unwrap();
        self.ok(&["create", "--file", file.to_str().unwrap(), "-q"]);
    }

    /// Makes every sixth open atom somebody's, in progress, claimed by a conversation.
    pub(crate) fn claim_some(&self) {
        let raw = rusqlite::Connection::open(self.folder().join(".eluent/el.db")).unwrap();
        raw.execute_batch(
            "UPDATE atoms SET status = 'in_progress', assignee = 'agent-' || (seq % 50) WHERE \
             status = 'open' AND seq % 120 = 0;
             INSERT INTO events (at, actor, kind, atom_id, data)
             SELECT updated_at, assignee, 'claimed', id, json_object('conversation', 'c-' || seq) \
             FROM atoms WHERE status = 'in_progress';",
        )
        .unwrap();
    }

    /// The id of one open atom.
    pub(crate) fn an_id(&self) -> String {
        self.ok(&["list", "--limit", "1", "-q"]).trim().to_owned()
    }
}
