//! SQLite's connection, and what becomes of it at the end of a process.

use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;

static ENDS: AtomicBool = AtomicBool::new(false);

/// Tells that this process ends with its present command. Connections to files then stay open until
/// the system closes them: to take a schema and its statements apart is a twentieth of such a
/// process. No commit depends on it, and locks end with the process.
pub fn leave_files_open() {
    ENDS.store(true, Ordering::Relaxed);
}

/// A connection, which is there until the end of its owner.
#[derive(Debug)]
pub(crate) struct Held(Option<Connection>);

impl Held {
    pub(crate) fn new(conn: Connection) -> Held {
        Held(Some(conn))
    }

    /// Leaves the connection open, if the process ends soon. The owner has no further use for it.
    pub(crate) fn leave_open(&mut self) {
        if ENDS.load(Ordering::Relaxed) {
            mem::forget(self.0.take());
        }
    }
}

impl Deref for Held {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0.as_ref().expect("an owner that is in use has its connection")
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Connection {
        self.0.as_mut().expect("an owner that is in use has its connection")
    }
}
