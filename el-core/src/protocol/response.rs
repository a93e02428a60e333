//! Structured answers: JSON between `<<<ORCHESTRATOR_RESPONSE>>>` and
//! `<<<END_ORCHESTRATOR_RESPONSE>>>` in a model's output.
//!
//! [`read`] and [`Scanner`] find the blocks and repair slips that have only a single reading.
//! [`answer`] returns the answer for the requested phase, with each fault in words for the model
//! ([`ask_again`]). [`fallback`] reads the plain words if a model never keeps to the form. No input
//! causes a panic, and all work is linear in the text.

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
pub use answer::{Answer, Faulty, Good, answer, check_block};
pub use block::Block;
pub use check::FieldFault;
pub use delimiter::{END, START};
pub use fallback::{Carried, Signal, fallback, signal};
pub use fault::{Fault, FaultKind, Repair, Repaired};
pub use phases::{Aggregation, Analysis, Component, Conflict, Payload, Progress, check};
pub use position::Position;
pub use prompts::{
    AggregationPrompt, Part, TaskListPrompt, WorkerPrompt, aggregation, analysis, ask_again,
    task_list, verification, worker,
};
pub use proposed::{ProposedTask, TaskList, priority};
pub use scanner::{BLOCK_MAX, BLOCKS_MAX, Reading, Scanner, TEXTS_MAX, read};
pub use tasks::{TASKS_MAX, layers};

/// Seconds between two progress reports that are asked for, at the least.
pub const PROGRESS_EVERY_S: u64 = 10;

#[cfg(test)]
mod tests;
