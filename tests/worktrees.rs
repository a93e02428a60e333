//! A git worktree for each run, and joining the results: `el land`, `el worktrees`, `el diff`.

mod branch_prefix;
mod broken_off;
mod builds_on;
mod commits;
mod configuration;
mod held_up;
mod honest;
mod hooks;
mod landing;
mod large;
mod leaving;
mod nested;
mod partial;
mod preparing;
mod pruning;
mod repositories;
mod runs;
mod side_by_side;
mod squashes;
mod upstream;
mod variables;

use crate::support::TestEnv;

impl TestEnv {
    /// A tracker in a git repository with a commit on `main`.
    pub(crate) fn with_repository(configuration: &str) -> Self {
        let env = Self::with_tracker();
        env.configure(configuration);
        env.git(&["init", "-q"]);
        std::fs::write(env.project("base.txt"), "base\n").unwrap();
        env.git(&["add", "base.txt"]);
        env.git(&["commit", "-q", "-m", "base"]);
        env
    }

    /// An atom whose agent writes a file with a line, commits the file, and closes.
    #[track_caller]
    pub(crate) fn writer(&self, file: &str, text: &str) -> String {
        let write =
            format!("sh echo {text} > {file} && git add {file} && git commit -q -m 'write {file}'");
        self.script_atom(&[&write, "close done"])
    }

    /// Returns all files of the project's folder with their content, except git's and el's own.
    fn user_files(&self) -> Vec<(String, Vec<u8>)> {
        let mut found: Vec<(String, Vec<u8>)> = std::fs::read_dir(self.project(""))
            .unwrap()
            .flatten()
            .filter(|entry| entry.path().is_file())
            .map(|entry| {
                (
                    entry.file_name().to_string_lossy().into_owned(),
                    std::fs::read(entry.path()).unwrap(),
                )
            })
            .collect();
        found.sort();
        found
    }
}

/// The outcome of a landing for an atom.
fn atom_fate(id: &str, fate: &str) -> (String, String) {
    (id.to_owned(), fate.to_owned())
}
