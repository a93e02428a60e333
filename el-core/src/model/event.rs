use schemars::JsonSchema;
use serde::Serialize;

use super::Timestamp;
use super::text_enum::text_enum;

text_enum! {
    /// What happened, in one word.
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
        /// A run ended: `data` has `outcome` and what followed for the atom.
        RunEnded = "run_ended",
        /// A person asked for a run to end.
        CancelRequested = "cancel_requested",
        /// The Stop hook or the supervisor sent an agent back to its work.
        Nudged = "nudged",
        /// A person gave the atom fresh attempts.
        Retried = "retried",
        /// A file was imported: `data` has whose it was and how much it brought.
        Imported = "imported",
        /// Something was said in a channel.
        Posted = "posted",
        /// Handed over for review: `data` has the `review`'s id.
        Submitted = "submitted",
        /// A review was approved.
        Approved = "approved",
        /// A review was rejected: `data` has the `reason`.
        Rejected = "rejected",
        /// The check of a run's work was run: `data` has its `status`.
        Verified = "verified",
        /// Its plan is made and worked on from now on: `data` has the settings.
        Orchestrated = "orchestrated",
        /// A question of a plan got an answer, or one that cannot be used: `data` has `question`
        /// and `came`.
        Answered = "answered",
        /// Its branch was brought in: `data` has `onto`, `tip` and `fate`.
        Landed = "landed",
        /// Its branch could not be brought in: `data` has the same, and `detail`.
        LandFailed = "land_failed",
        /// Removed for good.
        Pruned = "pruned",
    }
}

/// One line of the audit trail, written in the transaction of the change that it tells.
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
