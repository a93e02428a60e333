//! Being told by a server, instead of looking.

use std::sync::Arc;

use super::Store;
use super::engine::Ear;

/// Has somebody told of changes until it is dropped.
#[derive(Debug)]
pub struct Listening {
    ear: Arc<Ear>,
}

impl Listening {
    /// Returns true as long as messages come. Otherwise, whoever waits has to look.
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
    /// Has `tell` called, on another thread, whenever an atom becomes ready or workers are to stop;
    /// and when messages begin and cease to come. `None`: of a file nothing is told.
    pub fn listen_for_work(&self, tell: impl Fn() + Send + Sync + 'static) -> Option<Listening> {
        self.listen("work", tell)
    }

    /// The same, whenever somebody asks a run to end, or takes its atom out of its hands.
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
