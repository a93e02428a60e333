//! Collects the structured answers in the agent's text: progress at once, other answers at the end
//! of a call.

use el_core::model::{Progress, ProgressStatus};
use el_core::protocol::response::{Block, Payload, Reading, Scanner, check_block};

#[derive(Debug, Default)]
pub(crate) struct AnswerListener {
    scanner: Scanner,
    /// The task's progress according to the agent.
    told: Option<BlockProgress>,
}

impl AnswerListener {
    pub(crate) fn next_call(&mut self) {
        self.scanner = Scanner::default();
    }

    /// Returns all answers of the present call.
    pub(crate) fn take_reading(&mut self) -> Reading {
        std::mem::take(&mut self.scanner).finish()
    }

    /// Takes a line of plain output. A block spans several lines.
    pub(crate) fn hear_line(&mut self, line: &str) {
        let told = [line, "\n"]
            .into_iter()
            .filter_map(|piece| {
                self.scanner.push(piece).iter().rev().find_map(BlockProgress::from_block)
            })
            .last();
        self.told = told.or(self.told.take());
    }

    /// Takes a whole message. Returns the current action if a progress block names the action.
    pub(crate) fn hear_message(&mut self, text: &str) -> Option<String> {
        let within = self.scanner.push(text).iter().rev().find_map(BlockProgress::from_block);
        let at_end = self.scanner.end_message().iter().rev().find_map(BlockProgress::from_block);
        let told = at_end.or(within)?;
        let action = told.action.clone();
        self.told = Some(told);
        action
    }

    /// The part of a run's progress that only the agent can tell.
    pub(crate) fn progress(&self) -> Progress {
        self.told.as_ref().map(|told| told.progress.clone()).unwrap_or_default()
    }
}

/// The content of a progress block.
#[derive(Debug)]
struct BlockProgress {
    progress: Progress,
    action: Option<String>,
}

impl BlockProgress {
    fn from_block(block: &Block) -> Option<BlockProgress> {
        let Ok((Payload::Progress(said), _)) = check_block(block) else { return None };
        let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        #[expect(clippy::cast_possible_truncation, reason = "from 0 to 100")]
        let percent = said.progress_percent.map(|percent| percent.round() as i64);
        let word = (said.status != ProgressStatus::InProgress).then(|| said.status.as_str());
        let action = match (word, said.current_action) {
            (Some(word), Some(action)) => Some(format!("{word}: {action}")),
            (word, action) => action.or_else(|| word.map(str::to_owned)),
        };
        let progress = Progress {
            percent,
            files_processed: said.files_processed.map(count),
            files_total: said.files_total.map(count),
            ..Progress::default()
        };
        Some(BlockProgress { progress, action })
    }
}
