//! Errors with their causes, on a line.

use std::io;

use el_core::model::Fault;

/// Returns the machine's fault if a cause of the error is a disk without room.
pub(crate) fn machine_fault(error: &(dyn std::error::Error + 'static)) -> Option<Fault> {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let is_full = |error: &(dyn std::error::Error + 'static)| {
        matches!(error.downcast_ref(), Some(el_core::Error::Disk { .. }))
            || error.downcast_ref::<io::Error>().is_some_and(|error| {
                matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            })
    };
    causes.into_iter().any(is_full).then_some(Fault::FullDisk)
}

/// The error's text, then that of each cause.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
