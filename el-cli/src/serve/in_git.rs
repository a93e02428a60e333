//! The last answer of git, for all browsers.

use std::sync::{Mutex, PoisonError};

use crate::commands::status::InGit;

/// The findings of the thread, which all browsers share.
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
