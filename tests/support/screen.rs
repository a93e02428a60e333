//! A terminal of a given size, as for a person: a pane of a tmux server of the test's own.

use std::sync::atomic::{AtomicU32, Ordering};

use super::wait::look_until;
use super::{SOON, TestEnv};

#[derive(Debug)]
pub(crate) struct Screen<'a> {
    env: &'a TestEnv,
    socket: String,
}

impl TestEnv {
    /// Runs a shell line in a terminal; `[exit N]` follows the output. The terminal ends with the
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

    /// Returns the visible text, without trailing blanks.
    pub(crate) fn text(&self) -> String {
        self.ask(&["capture-pane", "-p", "-S", "-2000"]).trim_end().to_owned()
    }

    /// Returns true if a line was too long and continues in the next line.
    pub(crate) fn is_wrapped(&self) -> bool {
        let joined = self.ask(&["capture-pane", "-p", "-J", "-S", "-2000"]);
        joined.trim_end().lines().count() != self.text().lines().count()
    }

    /// Returns the visible text with colours as escape codes.
    pub(crate) fn coloured(&self) -> String {
        self.ask(&["capture-pane", "-p", "-e", "-S", "-2000"]).trim_end().to_owned()
    }

    /// Returns the terminal's title, which a program may set.
    pub(crate) fn title(&self) -> String {
        self.ask(&["display-message", "-p", "#{pane_title}"]).trim_end().to_owned()
    }

    /// Resizes the terminal, as a person resizes a window.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.ask(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    /// Presses a key, by tmux's name.
    pub(crate) fn press(&self, key: &str) {
        self.ask(&["send-keys", key]);
    }

    /// Waits until the screen contains this text. Returns the whole text.
    #[track_caller]
    pub(crate) fn wait_for(&self, part: &str) -> String {
        let look = || Some(self.text()).filter(|text| text.contains(part));
        look_until(SOON, look)
            .unwrap_or_else(|| panic!("no {part:?} on the screen:\n{}", self.text()))
    }
}
