//! Notices from a server, instead of polling.

use std::sync::Arc;

use super::Store;
use super::engine::Ear;

/// A subscription to a server's notices, which ends when it is dropped.
#[derive(Debug)]
pub struct Listening {
    ear: Arc<Ear>,
}

impl Listening {
    /// Returns true as long as messages come. Otherwise, the waiting caller has to look.
    pub fn is_heard(&self) -> bool {
        self.ear.is_heard()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.ear.close();
    }
}

impl Store {
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
        let ear = Arc::new(Ear::new(tell));
        self.database.listen(channel, Arc::clone(&ear)).then_some(Listening { ear })
    }
}
