//! The last answer of git, for all who look.

use std::sync::{Mutex, PoisonError};

use crate::commands::status::InGit;

/// The findings of the thread; all who look share them.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<InGit>);

impl Shared {
    pub(super) fn latest(&self) -> InGit {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, found: InGit) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }
}
