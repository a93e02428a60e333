//! A terminal of a given size, in which a person would sit: a pane of a tmux server of the test's
//! own.

use std::sync::atomic::{AtomicU32, Ordering};

use super::wait::look_until;
use super::{SOON, TestEnv};

#[derive(Debug)]
pub(crate) struct Screen<'a> {
    env: &'a TestEnv,
    socket: String,
}

impl TestEnv {
    /// Runs a shell line in a terminal; `[exit N]` follows its output. It ends with the
    /// environment.
    #[track_caller]
    pub(crate) fn screen(&self, columns: u16, rows: u16, line: &str) -> Screen<'_> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let screen = Screen {
            env: self,
            socket: format!("person-{}", NEXT.fetch_add(1, Ordering::Relaxed)),
        };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        // C-c is for the line alone; the shell lives on to tell how that ended.
        let script = format!("trap : INT\n{line}\necho \"[exit $?]\"\nexec sleep 600");
        screen.ask(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &rows,
            "-c",
            self.project("").to_str().unwrap(),
            "sh",
            "-c",
            &script,
        ]);
        screen
    }
}

impl Screen<'_> {
    #[track_caller]
    fn ask(&self, words: &[&str]) -> String {
        let mut command = self.env.command("tmux");
        // The size is the terminal's, and COLUMNS must not say otherwise.
        self.env
            .run(command.env_remove("COLUMNS").args(["-L", &self.socket]).args(words))
            .ok()
            .stdout
    }

    /// What it shows, without what follows the last text.
    pub(crate) fn text(&self) -> String {
        self.ask(&["capture-pane", "-p", "-S", "-2000"]).trim_end().to_owned()
    }

    /// Whether a line was too long for it and goes on in the next.
    pub(crate) fn is_wrapped(&self) -> bool {
        let joined = self.ask(&["capture-pane", "-p", "-J", "-S", "-2000"]);
        joined.trim_end().lines().count() != self.text().lines().count()
    }

    /// The same with its colours as escape codes.
    pub(crate) fn coloured(&self) -> String {
        self.ask(&["capture-pane", "-p", "-e", "-S", "-2000"]).trim_end().to_owned()
    }

    /// The terminal's title, which a program may set.
    pub(crate) fn title(&self) -> String {
        self.ask(&["display-message", "-p", "#{pane_title}"]).trim_end().to_owned()
    }

    /// Makes it another size, as a person does with a window.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.ask(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    /// Presses a key, by tmux's name for it.
    pub(crate) fn press(&self, key: &str) {
        self.ask(&["send-keys", key]);
    }

    /// Waits until it shows this; all that it shows.
    #[track_caller]
    pub(crate) fn wait_for(&self, part: &str) -> String {
        let look = || Some(self.text()).filter(|text| text.contains(part));
        look_until(SOON, look)
            .unwrap_or_else(|| panic!("no {part:?} on the screen:\n{}", self.text()))
    }
}
