//! The answer for the requested phase.

use serde::Serialize;

use super::block::Block;
use super::check::FieldFault;
use super::fault::{Fault, FaultKind};
use super::phases::{self, Payload};
use super::scanner::Reading;
use crate::model::Phase;

/// The result of a reading.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Data that fits, and where.
    Good(Box<Good>),
    /// A block was meant, and cannot be used.
    Faulty(Faulty),
    /// No block at all: the fallback may read the words.
    NotFound,
}

/// Data that fits the phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Good {
    /// The block's position in the reading.
    pub block: usize,
    pub payload: Payload,
    /// Optional fields that did not fit and were left out, and hints that contradict each other.
    pub slight: Vec<FieldFault>,
}

/// An unusable block, with a fault, faulty fields, or both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Faulty {
    /// The block's position in the reading; `None` if the delimiters were only mentioned.
    pub block: Option<usize>,
    /// The fault of the block.
    pub fault: Option<Fault>,
    /// The faults of the data.
    pub fields: Vec<FieldFault>,
}

impl Faulty {
    /// Returns every fault as a line, in words for the model.
    pub fn fault_lines(&self) -> Vec<String> {
        let block = self.fault.as_ref().map(|fault| match fault.kind {
            FaultKind::NoPhase | FaultKind::NoData | FaultKind::NotAnObject => {
                format!("The block: {}.", fault.message)
            }
            _ => format!("At {}: {}. There it says: {}", fault.at, fault.message, fault.excerpt),
        });
        block.into_iter().chain(self.fields.iter().map(|fault| format!("{fault}."))).collect()
    }
}

/// Checks a single block of any phase, for the reports of a running agent.
///
/// # Errors
///
/// The faults of the block.
pub fn check_block(block: &Block) -> Result<(Payload, Vec<FieldFault>), Faulty> {
    if let Some(fault) = &block.fault {
        return Err(Faulty { block: None, fault: Some(fault.clone()), fields: Vec::new() });
    }
    let Some(phase) = block.known_phase() else {
        let phase = super::json::short_text(block.phase.as_deref().unwrap_or_default());
        let known: Vec<&str> = Phase::ALL.iter().map(|phase| phase.as_str()).collect();
        return Err(Faulty {
            block: None,
            fault: None,
            fields: vec![FieldFault {
                field: "phase".to_owned(),
                message: format!("\"{phase}\" is no phase; there are \"{}\"", known.join("\", \"")),
                is_grave: true,
            }],
        });
    };
    match phases::check_payload(phase, &block.data) {
        (Some(payload), slight) => Ok((payload, slight)),
        (None, fields) => Err(Faulty { block: None, fault: None, fields }),
    }
}

/// Returns the answer for `wanted`, and for `task` if the phase has a task.
///
/// The last block of the phase, or of an unreadable phase, counts: a model corrects a block further
/// down. A good block before a broken block does not count, since the broken block may have been
/// the correction.
pub fn select_answer(reading: &Reading, wanted: Phase, task: Option<&str>) -> Answer {
    let mut other = None;
    for (n, block) in reading.blocks.iter().enumerate().rev() {
        let fields = match check_block(block) {
            Ok((payload, slight)) if payload.phase() == wanted => {
                let about = payload.task_id().map(str::trim);
                if let (Some(about), Some(task)) = (about, task)
                    && about != task
                {
                    let message = format!(
                        "is \"{}\", but this is about \"{task}\"",
                        super::json::short_text(about)
                    );
                    other.get_or_insert((n, field_fault("task_id", message)));
                    continue;
                }
                let mut slight = slight;
                slight.extend(earlier_draft(reading, n, &payload));
                return Answer::Good(Box::new(Good { block: n, payload, slight }));
            }
            Ok((payload, _)) => {
                let message = format!("is \"{}\", but \"{wanted}\" was asked for", payload.phase());
                other.get_or_insert((n, field_fault("phase", message)));
                continue;
            }
            Err(faulty) => match block.known_phase() {
                Some(phase) if phase != wanted => {
                    let message = format!("is \"{phase}\", but \"{wanted}\" was asked for");
                    other.get_or_insert((n, field_fault("phase", message)));
                    continue;
                }
                _ => faulty,
            },
        };
        return Answer::Faulty(Faulty { block: Some(n), ..fields });
    }
    match (other, reading.mentions.first()) {
        (Some((n, fault)), _) => {
            Answer::Faulty(Faulty { block: Some(n), fault: None, fields: vec![fault] })
        }
        (None, Some(mention)) => {
            Answer::Faulty(Faulty { block: None, fault: Some(mention.clone()), fields: Vec::new() })
        }
        (None, None) => Answer::NotFound,
    }
}

/// Notes an earlier block with a different answer. Progress has many blocks.
fn earlier_draft(reading: &Reading, last: usize, payload: &Payload) -> Option<FieldFault> {
    if payload.phase() == Phase::Progress {
        return None;
    }
    let is_other = |block: &Block| match check_block(block) {
        Ok((other, _)) => {
            other.phase() == payload.phase()
                && other.task_id() == payload.task_id()
                && other != *payload
        }
        Err(_) => false,
    };
    let others = reading.blocks[..last].iter().filter(|block| is_other(block)).count();
    (others > 0).then(|| FieldFault {
        field: "block".to_owned(),
        message: format!("is the last of {} drafts; the others are left out", others + 1),
        is_grave: false,
    })
}

fn field_fault(name: &str, message: String) -> FieldFault {
    FieldFault { field: name.to_owned(), message, is_grave: true }
}
