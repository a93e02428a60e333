//! Questions about the sessions of a server.

use super::{Failure, SessionError, SessionInfo, Tmux, call, names, server};
use crate::process::Liveness;

/// How often tmux is asked to look at an ended command before the session is listed as found.
const LOST_EXIT_TRIES: usize = 4;

impl Tmux {
    /// Returns the liveness of a session with exactly this name, not of the processes in the
    /// session.
    #[must_use]
    pub fn session_exists(&self, name: &str) -> Liveness {
        match self.list_sessions() {
            Ok(sessions) if sessions.iter().any(|info| info.name == name) => Liveness::Alive,
            Ok(_) => Liveness::Absent,
            Err(_) => Liveness::Unknown,
        }
    }

    /// Ends a session. The processes get SIGHUP, which some ignore. Returns false if there was no
    /// session.
    ///
    /// # Errors
    /// If tmux could not be asked or refused.
    pub fn kill_session(&self, name: &str) -> Result<bool, SessionError> {
        if !names::is_safe(name) {
            return Ok(false);
        }
        match self.ask_server(name, "end", &["kill-session", "-t", &format!("={name}")])? {
            None => Ok(false),
            Some(answer) if answer.ok => Ok(true),
            Some(answer) if answer.failure() == Failure::Missing => Ok(false),
            Some(answer) => Err(answer.to_error(name, "end")),
        }
    }

    /// Lists all sessions of the server; empty if the server does not run.
    ///
    /// # Errors
    /// If tmux could not be asked, or gave no valid answer.
    pub fn list_sessions(&self) -> Result<Vec<SessionInfo>, SessionError> {
        let mut pause = call::Pause::new();
        for _ in 0..LOST_EXIT_TRIES {
            let sessions = self.list_once()?;
            // tmux before 3.6 can miss the end of a command. The session then stays until another
            // command ends, unless tmux is told to look at its children.
            let missed = sessions
                .iter()
                .filter(|info| !info.dead && crate::process::is_zombie(info.ids.pane_pid));
            if missed.filter(|info| server::look_at_children(info.ids.server_pid)).count() == 0 {
                return Ok(sessions);
            }
            pause.sleep();
        }
        self.list_once()
    }

    fn list_once(&self) -> Result<Vec<SessionInfo>, SessionError> {
        let format = "#{session_id} #{pane_id} #{pane_pid} #{pid} #{pane_dead} \
                      #{session_attached} #{session_created} #{session_name}";
        match self.ask_server("", "list", &["list-panes", "-a", "-F", format])? {
            None => Ok(Vec::new()),
            Some(answer) if answer.ok => Ok(names::parse_list(&answer.out)),
            Some(answer) if answer.failure() == Failure::Missing => Ok(Vec::new()),
            Some(answer) => Err(answer.to_error("", "list")),
        }
    }
}
