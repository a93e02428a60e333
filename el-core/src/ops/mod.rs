//! One file a verb, and one transaction a verb, for the change and the event together.
//!
//! Every writing verb begins with the fence: a caller in an agent session passes only if the
//! session's run is live and the token matches.

mod adopt;
mod approve;
mod artifacts;
mod board;
mod bonds;
mod budget;
mod builds_on;
mod cancel;
mod cancel_task;
mod change;
mod channels;
mod claim;
mod claim_run;
mod close;
mod close_by_summary;
mod comment;
mod context;
mod create;
mod delegate;
mod dep;
mod discard;
mod doctor;
mod empty_runs;
mod expect;
mod explain;
mod export;
mod finished_epics;
mod history;
mod import;
mod inbox;
mod list;
mod mailbox;
mod namesakes;
mod orchestrate;
mod pause;
mod place_run;
mod placement;
mod post;
mod pr_feedback;
mod prime;
mod pull_requests;
mod pull_status;
mod queue;
mod record_landing;
mod reject;
mod release;
mod reopen;
mod restored;
mod retry;
mod reviews;
mod run_files;
mod runs;
mod search;
mod settle;
mod show;
mod stats;
mod stop_gate;
mod submit;
mod supervise;
mod sync;
mod tasks;
mod uncommitted;
mod undo;
mod unfinished;
mod unmerged;
mod update;
mod verify;
mod waiting;
mod worker;

pub use crate::model::{Counts, MAX_CANDIDATES, RunStats, Stats};
pub use crate::store::filter::{AssigneeFilter, AtomFilter, Page, Sort};
pub use crate::store::worker::Pulse;
pub use adopt::adopt;
pub use approve::approve;
pub use artifacts::{HandedBack, artifacts};
pub use board::{
    Board, BoardDelta, BranchToLand, Part, PullRow, WaitRow, add_branches, add_overlaps, board,
    board_atoms, board_changes, mark_fresh,
};
pub use budget::{Caps, SpentBudget, set_held_back, share_budget_per_day};
pub use builds_on::builds_on;
pub use cancel::{Cancelled, cancel, cancel_all};
pub use cancel_task::{CancelledTask, cancel_task};
pub use channels::{list_channels, read_channel};
pub use claim::{ClaimNext, claim, claim_next, next_many};
pub use claim_run::{Check, ClaimRequest, ClaimedRun, claim_best, claim_run, record_launch};
pub use close::{Guard, close};
pub use close_by_summary::close_by_summary;
pub use comment::{add_comment, list_comments};
pub use context::build_context;
pub use create::{NewAtom, create, create_many};
pub use delegate::{Delegated, NewTask, QueuePlace, delegate, delegation_depth};
pub use dep::{GraphIssue, TreeNode, dep_add, dep_all, dep_check, dep_remove, dep_tree};
pub use discard::{discard, prune, restore};
pub use doctor::{Finding, doctor, rebuild_derived};
pub use empty_runs::count_empty_run;
pub use expect::expect_unchanged;
pub use explain::{Explanation, explain, explain_placed};
pub use export::{export, export_tree};
pub use finished_epics::{finished_among, finished_epics, set_epic_autoclose};
pub use history::{history, history_each, history_id, last_event};
pub use import::{ImportOptions, Imported, PushField, Theirs, import, note_push, plan_push};
pub use inbox::{InboxFilter, inbox, mark_read};
pub use list::{READY_COUNTED, Streamed, list, list_lines, ready};
pub use mailbox::{
    Received, mailbox_decide, mailbox_outlook, mailbox_receive, mailbox_sent, mailbox_told,
};
pub use namesakes::{find_namesakes, namesakes_sentence};
pub use orchestrate::{
    Advanced, AgentAnswer, AnswerFault, Begin, BranchConflict, DroppedView, Goal, Joining,
    Overview, PhaseView, PlanSettings, Reply, TaskView, Tries, advance, answer_faults,
    begin_orchestration, file_joining, is_asked, is_below_running, is_joining, list_orchestrated,
    plan_overview, record_answer, record_whole_check, share_plan, supply_answer,
};
pub use pause::{
    NO_ACCOUNT, adopt_pause, clear_pause, current_pause, known_pause, resume, set_served_accounts,
};
pub use place_run::place_run;
pub use post::{NewMessage, post};
pub use pr_feedback::{Given, Remark, give_remarks, knows_remark, takes_remarks};
pub use prime::{COUNTED, Primed, prime};
pub use pull_requests::{
    NewPullRequest, SeenPullRequest, begin_push, closed_pull_requests, drop_held_push, hold_push,
    latest_pull_requests, move_pull_requests, pull_request_drafted, pull_request_opened,
    pull_request_opening, pull_request_pushed, pull_request_seen, pull_requests, pull_requests_of,
    put_off_look, remark_rounds,
};
pub use queue::{AgentQueue, Executing, QueuedTask, queue};
pub use record_landing::{LandingRecord, has_landed, last_landing, record_landing};
pub use reject::{reject, reject_all};
pub use release::release;
pub use reopen::reopen;
pub use restored::settle_restored;
pub use retry::{retry, retry_all};
pub use reviews::{WaitingReview, reviews};
pub use run_files::{keep_run_file, kept_run_files, read_run_file};
pub use runs::{RunFilter, get_run, list_attempts, resolve_run, runs, runs_each, target_run};
pub use search::search;
pub use settle::{Decided, Ending, HandedOver, Settled, SettledBy, settle};
pub use show::{Dependencies, Shown, get_atom, resolve_id, show};
pub use stats::{SERIES_DAYS_MAX, series, stats};
pub use stop_gate::{Gate, stop_gate};
pub use submit::{Submitted, submit};
pub use supervise::{
    Beat, RunSignal, extend_lease, record_nudge, register_supervisor, set_agent_pid, watch_run,
};
pub use sync::{SyncState, note_sync, sync_state};
pub use tasks::{Task, TaskFilter, get_task, list_tasks, task_position};
pub use uncommitted::remind_of_uncommitted;
pub use undo::{Step, StepChange, undo, undo_steps};
pub use unfinished::{has_unfinished, take_unfinished};
pub use unmerged::{forget_unmerged, set_merge_gate, waits_for_merge};
pub use update::{AtomPatch, Updated, update};
pub use verify::record_verify;
pub use waiting::{Held, waiting, waits};
pub use worker::{
    AgentView, Beyond, OUTLOOK_MAX, Outlook, WorkerView, list_workers, live_runs, next_date,
    queue_outlook, request_stop, worker_beat, worker_join, worker_leave, worker_leave_if_idle,
    worker_pulse, worker_retires, worker_view,
};
