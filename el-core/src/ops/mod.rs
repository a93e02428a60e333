//! One file a verb, one transaction a verb: the change and its event together.
//!
//! Every writing verb begins with the fence: a caller in an agent session goes on only as the live run that it says it is.

mod adopt;
mod cancel;
mod change;
mod claim;
mod claim_run;
mod close;
mod comment;
mod context;
mod create;
mod dep;
mod discard;
mod doctor;
mod explain;
mod history;
mod list;
mod pause;
mod release;
mod reopen;
mod retry;
mod runs;
mod search;
mod settle;
mod show;
mod stats;
mod stop_gate;
mod supervise;
mod update;
mod worker;

pub use crate::store::filter::{AssigneeFilter, AtomFilter, Page, Sort};
pub use adopt::adopt;
pub use cancel::{Cancelled, cancel, cancel_all};
pub use claim::{ClaimNext, claim, next};
pub use claim_run::{ClaimRequest, ClaimedRun, claim_run, launched};
pub use close::{Guard, close};
pub use comment::{comment, comments};
pub use context::context;
pub use create::{NewAtom, create, create_many};
pub use dep::{GraphIssue, TreeNode, dep_add, dep_all, dep_check, dep_list, dep_remove, dep_tree};
pub use discard::{discard, prune, restore};
pub use doctor::{Finding, doctor, rebuild};
pub use explain::{Explanation, explain};
pub use history::{events, history};
pub use list::{list, ready};
pub use pause::{Pause, paused, resume};
pub use release::release;
pub use reopen::reopen;
pub use retry::retry;
pub use runs::{RunFilter, attempts, resolve_run, run, runs, target_run};
pub use search::search;
pub use settle::{Settled, settle, settle_lost};
pub use show::{Dependencies, Shown, brief, resolve, show};
pub use stats::{RunStats, Stats, stats};
pub use stop_gate::{Gate, stop_gate};
pub use supervise::{Beat, Watch, beat, nudged, register_supervisor, set_agent_pid, watch};
pub use update::{AtomPatch, Updated, update};
pub use worker::{WorkerView, live_runs, request_stop, worker_beat, worker_join, worker_leave, worker_view, workers};

/// How many atoms an ambiguous id names.
pub const MAX_CANDIDATES: usize = 10;
