//! The terminal, taken for the board and given back in every case.

use std::io::{self, BufWriter, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// The buffer for drawing a screen at once, in bytes.
const FRAME: usize = 64 << 10;
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal while the board owns the terminal. A drop gives the terminal back.
pub(super) struct Screen {
    /// A screen goes out in one write, so no half is ever visible.
    pub(super) terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

impl Screen {
    pub(super) fn take() -> io::Result<Screen> {
        HOOK.call_once(|| {
            let report = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                give_back();
                report(info);
            }));
        });
        enter()?;
        let out = BufWriter::with_capacity(FRAME, io::stdout());
        Ok(Screen { terminal: Terminal::new(CrosstermBackend::new(out))? })
    }

    /// Gives the terminal to `work`, and takes it again.
    pub(super) fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        give_back();
        let done = work();
        enter()?;
        self.terminal.clear()?;
        Ok(done)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    IS_TAKEN.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen)
}

/// Gives the terminal back, once. A terminal that is gone needs nothing.
fn give_back() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Not run by itself: the test below runs it in a terminal.
    #[test]
    #[ignore = "it panics, in a terminal of its own"]
    fn panics_in_the_middle_of_a_screen() {
        let mut screen = Screen::take().unwrap();
        screen.terminal.draw(|frame| frame.render_widget("THE BOARD", frame.area())).unwrap();
        panic!("on purpose");
    }

    #[test]
    fn a_panic_gives_the_terminal_back() {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let own = std::env::current_exe().unwrap();
        let name = "top::screen::tests::panics_in_the_middle_of_a_screen";
        let line = format!(
            "{} --exact {name} --ignored --nocapture; stty -a > stty; exec sleep 60",
            own.display()
        );
        let tmux = |words: &[&str]| {
            let mut tmux = Command::new("tmux");
            tmux.args(["-L", "panic", "-f", "/dev/null"]).args(words).current_dir(folder.path());
            tmux.env("TMUX_TMPDIR", folder.path()).env_remove("TMUX");
            tmux.env("RUST_BACKTRACE", "0");
            let ran = tmux.output().unwrap();
            String::from_utf8_lossy(&ran.stdout).into_owned()
        };
        tmux(&["new-session", "-d", "-x", "80", "-y", "24", &line]);
        let stty = folder.path().join("stty");
        let begun = std::time::Instant::now();
        let stty = loop {
            let found = std::fs::read_to_string(&stty).unwrap_or_default();
            if found.contains("icanon") || begun.elapsed().as_secs() > 30 {
                break found;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        };
        let text = tmux(&["capture-pane", "-p", "-S", "-500"]);
        tmux(&["kill-server"]);
        assert!(stty.contains(" icanon"), "{stty}\n{text}");
        assert!(text.contains("on purpose") && !text.contains("THE BOARD"), "{text}");
    }
}
