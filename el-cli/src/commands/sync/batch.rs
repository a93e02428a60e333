//! The answers of `gh`, read as an import reads a file of them.

use el_core::exchange::{self, Batch, Tracker};
use serde_json::Value;

use crate::{CommandError, Exit, Result};

/// Reads issues.
pub(super) fn read_batch(issues: &[Value]) -> Result<Batch> {
    let text = serde_json::to_vec(issues).map_err(|error| {
        CommandError::internal_error("the issues cannot be written down").with_source(error)
    })?;
    let batch = exchange::read_records(&text, Tracker::Github, "", &mut |_, _| {});
    match batch.bad.first() {
        Some(bad) => Err(CommandError::new(
            Exit::Internal,
            "bad_answer",
            format!("issue {} of gh's answer cannot be read: {}", bad.line, bad.message),
        )),
        None => Ok(batch),
    }
}
