//! When a person last looked at a project: later events are news. All boards share the mark, in the
//! person's own state.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::App;
use crate::own_state::{canonical_folder, own_file, read_own, write_own};

#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    /// The tracker's folder.
    path: PathBuf,
    /// The last event that was there to see.
    seq: i64,
}

fn file_and_folder(app: &App) -> Option<(PathBuf, PathBuf)> {
    // An agent is nobody who looks.
    if app.session().is_some() {
        return None;
    }
    let folder = canonical_folder(&app.project().ok()?.state);
    Some((own_file("looked", &folder)?, folder))
}

/// The last event when the person looked; `None`: never.
pub(crate) fn last_look(app: &App) -> Option<i64> {
    let (file, path) = file_and_folder(app)?;
    let mark: Mark = serde_json::from_slice(&read_own(&file)?).ok()?;
    (mark.path == path).then_some(mark.seq)
}

/// Notes that the person has seen the board up to this event. A mark that cannot be written is no
/// reason to refuse a look.
pub(crate) fn note_look(app: &App, seq: i64) {
    let Some((file, path)) = file_and_folder(app) else { return };
    if let Ok(bytes) = serde_json::to_vec(&Mark { path, seq }) {
        let _ = write_own(&file, &bytes);
    }
}
