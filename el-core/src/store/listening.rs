//! Looks for changes, and notices from a server instead of them.

use std::sync::Arc;
use std::time::Duration;

use super::Store;
use super::engine::ListenState;
use crate::Result;
use crate::error::Doing as _;

/// The shortest time after which a server is read again for what changes without a change there.
const SERVER_LOOK: Duration = Duration::from_secs(10);

/// A subscription to a server's notices, which ends when it is dropped.
#[derive(Debug)]
pub struct Listening {
    state: Arc<ListenState>,
}

impl Listening {
    /// Returns true as long as messages come. Otherwise, the waiting caller has to look.
    pub fn is_connected(&self) -> bool {
        self.state.is_connected()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.state.close();
    }
}

impl Store {
    /// Returns a number that changes whenever another connection commits. The call costs
    /// microseconds and is made for polling.
    ///
    /// # Errors
    ///
    /// If SQLite fails.
    pub fn data_version(&self) -> Result<i64> {
        self.database.data_version().doing("find changes")
    }

    /// Has a server asked for changes less often, down to once in five seconds, the longer there
    /// was none: for whoever shows them to people. A file is looked at as before.
    pub fn look_at_ease(&self) {
        self.database.look_at_ease();
    }

    /// How often to read again what changes without a change of the database, such as the workers
    /// that are there. A look at a server is some questions, so they are fewer.
    pub fn look_again_after(&self, in_file: Duration) -> Duration {
        if self.is_on_server() { in_file.max(SERVER_LOOK) } else { in_file }
    }

    /// Calls `tell`, on another thread, whenever an atom becomes ready or workers have to stop, and
    /// when messages begin or cease to come. `None` for a tracker in a file, which sends none.
    pub fn listen_for_work(&self, tell: impl Fn() + Send + Sync + 'static) -> Option<Listening> {
        self.listen("work", tell)
    }

    /// Calls `tell` whenever somebody asks a run to end, or takes its atom away from it.
    pub fn listen_for_ends(&self, tell: impl Fn() + Send + Sync + 'static) -> Option<Listening> {
        self.listen("end", tell)
    }

    fn listen(
        &self,
        channel: &'static str,
        tell: impl Fn() + Send + Sync + 'static,
    ) -> Option<Listening> {
        let state = Arc::new(ListenState::new(tell));
        self.database.listen(channel, Arc::clone(&state)).then_some(Listening { state })
    }
}
