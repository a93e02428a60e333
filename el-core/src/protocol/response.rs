//! Structured answers: JSON between `<<<ORCHESTRATOR_RESPONSE>>>` and
//! `<<<END_ORCHESTRATOR_RESPONSE>>>` in a model's output.
//!
//! [`read_blocks`] and [`Scanner`] find the blocks and repair slips that have only a single
//! reading. [`select_answer`] returns the answer for the requested phase, with each fault in words
//! for the model ([`ask_again`]). [`carried_answer`] reads the plain words if a model never keeps
//! to the form. No input causes a panic, and all work is linear in the text.

mod answer;
mod block;
mod check;
mod delimiter;
mod fallback;
mod fault;
mod json;
mod phases;
mod position;
mod prompts;
mod proposed;
mod scanner;
mod tasks;

pub use crate::model::Completion;
pub use answer::{Answer, Faulty, Good, check_block, select_answer};
pub use block::Block;
pub use check::FieldFault;
pub use delimiter::{END, START};
pub use fallback::{FallbackAnswer, Signal, carried_answer, read_signal};
pub use fault::{Fault, FaultKind, Repair, Repaired};
pub use phases::{Aggregation, Analysis, Component, Conflict, Payload, Progress, check_payload};
pub use position::Position;
pub use prompts::{
    AggregationPrompt, Part, TaskListPrompt, WorkerPrompt, aggregation_prompt, analysis_prompt,
    ask_again, task_list, verification_prompt, worker_prompt,
};
pub use proposed::{ProposedTask, TaskList, map_priority};
pub use scanner::{BLOCK_MAX, BLOCKS_MAX, Reading, Scanner, TEXTS_MAX, read_blocks};
pub use tasks::{TASKS_MAX, task_layers};

/// Seconds between two progress reports that are asked for, at the least.
pub const PROGRESS_EVERY_S: u64 = 10;

#[cfg(test)]
mod tests;
