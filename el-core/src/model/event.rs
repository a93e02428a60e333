use schemars::JsonSchema;
use serde::Serialize;

use super::Timestamp;
use super::text_enum::text_enum;

text_enum! {
    /// The kind of an event.
    pub enum EventKind as "kind" {
        Created = "created",
        /// Fields changed: `data` maps each to `{"from", "to"}`.
        Updated = "updated",
        /// The status changed: `data` has `from`, `to` and perhaps `reason`.
        Status = "status",
        Commented = "commented",
        BondAdded = "bond_added",
        BondRemoved = "bond_removed",
        /// Claimed by a person or an agent without a worker.
        Claimed = "claimed",
        /// The claim was given back.
        Released = "released",
        /// A worker's claim: a run began.
        RunStarted = "run_started",
        /// A run ended: `data` has `outcome` and the consequence for the atom.
        RunEnded = "run_ended",
        /// A person asked for a run to end.
        CancelRequested = "cancel_requested",
        /// The Stop hook or the supervisor sent an agent back to the atom.
        Nudged = "nudged",
        /// A person gave the atom fresh attempts.
        Retried = "retried",
        /// A file was imported: `data` has the source and the counts.
        Imported = "imported",
        /// A message was posted in a channel.
        Posted = "posted",
        /// Handed over for review: `data` has the `review`'s id.
        Submitted = "submitted",
        /// A review was approved.
        Approved = "approved",
        /// A review was rejected: `data` has the `reason`.
        Rejected = "rejected",
        /// The check of a run's work ended: `data` has the `status`.
        Verified = "verified",
        /// An orchestration began or changed: `data` has the settings.
        Orchestrated = "orchestrated",
        /// A question of a plan got an answer, usable or not: `data` has `question` and `came`.
        Answered = "answered",
        /// The branch was landed: `data` has `onto`, `tip` and `fate`.
        Landed = "landed",
        /// The branch could not be landed: `data` has the same, and `detail`.
        LandFailed = "land_failed",
        /// A step of a pull request: `data` has `seq`, `state`, and once known `number` and `url`.
        PullRequest = "pull_request",
        /// Removed for good.
        Pruned = "pruned",
        /// The whole tracker was restored: `data` has `backup_of`, the time of the backup.
        Restored = "restored",
        /// A person took a change back: `data` has the `step`, and what was `undone`.
        Undone = "undone",
    }
}

/// An event of the audit trail, written in the transaction of the change.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Event {
    pub seq: i64,
    pub at: Timestamp,
    pub actor: String,
    pub kind: EventKind,
    pub atom_id: Option<String>,
    pub run_id: Option<String>,
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub data: serde_json::Value,
}
