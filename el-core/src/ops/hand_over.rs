use crate::Result;
use crate::model::{Artifact, Summary};
use crate::store::{Store, artifact, run};

/// Records what a live run hands back: its summary as it was read, and its files. The caller has
/// collected them; what was recorded before is replaced, so that a collection that was broken off
/// may begin anew. Refused if the run is over or the token is not its own.
///
/// The end of the run follows at once, and its event tells what was handed back: this has no event
/// of its own.
pub fn hand_over(
    store: &mut Store,
    run_id: &str,
    token: &str,
    summary: &Summary,
    artifacts: &[Artifact],
) -> Result<()> {
    let text = serde_json::to_string(summary).expect("a summary has string keys only");
    store.write(|tx| {
        run::live_with_token(tx, run_id, Some(token))?;
        run::set(tx, run_id, "summary", &text)?;
        artifact::replace(tx, run_id, artifacts)
    })
}
