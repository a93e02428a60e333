//! Finds the blocks in a text, or in a stream of messages.
//!
//! The result does not depend on how the text is cut into pieces. Work and memory are linear: a
//! block is parsed when an end delimiter has come, and repeated reading is counted and bounded by
//! the total length.

use serde::Serialize;

use super::block::{self, Block, Source, Step, Work};
use super::delimiter::{self, Delimiter, DelimiterMatch};
use super::fault::{Fault, FaultKind};
use super::json::Stop;
use super::position::Position;

/// A longer block is given up.
pub const BLOCK_MAX: usize = 16 << 20;
/// The bytes of text around the blocks that are kept.
pub const TEXTS_MAX: usize = 16 << 20;
/// The most blocks; further blocks count as text.
pub const BLOCKS_MAX: usize = 10_000;
/// The bytes of a step through a long piece.
const STEP: usize = 1 << 20;
/// Mentions that are remembered.
const MENTIONS_MAX: usize = 20;
/// Bytes that may be looked at again in any case, and for each byte that was read.
const AGAIN: usize = 64 << 10;
const AGAIN_FOR_EACH: usize = 4;

/// The blocks and texts of a reading.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Reading {
    pub blocks: Vec<Block>,
    /// Before the first block, between blocks, and after the last; trimmed. There is always one
    /// more text than there are blocks.
    pub texts: Vec<String>,
    /// Places that mention the delimiters without JSON. The places are part of the texts.
    pub mentions: Vec<Fault>,
    /// A part of the texts was not kept, or further blocks were not read.
    pub is_cut: bool,
}

/// Reads a whole text.
pub fn read_blocks(text: &str) -> Reading {
    let mut scanner = Scanner::default();
    scanner.push(text);
    scanner.finish()
}

/// Reads a text that comes in pieces.
#[derive(Debug, Default)]
pub struct Scanner {
    reading: Reading,
    /// The unsettled text.
    rest: String,
    /// The end of the settled part.
    head: usize,
    /// Where `head` is in all that came.
    base: Option<Position>,
    /// Bytes of `rest` where a message ended within a block.
    seams: Vec<usize>,
    /// The start delimiter at `head`, of a block that is not whole yet.
    open: Option<Delimiter>,
    /// Up to here there is no end delimiter that was not tried.
    searched: usize,
    text: String,
    kept: usize,
    total: usize,
    work: Work,
}

impl Scanner {
    /// Takes the next piece, directly after the last, and returns the completed blocks.
    pub fn push(&mut self, mut piece: &str) -> &[Block] {
        let known = self.reading.blocks.len();
        while !piece.is_empty() {
            let step = crate::text::head_bytes(piece, STEP);
            self.rest.push_str(step);
            self.total += step.len();
            piece = &piece[step.len()..];
            self.advance(false);
            self.drop_settled();
        }
        &self.reading.blocks[known..]
    }

    /// Ends a message; the next piece begins a new message. Between blocks, the end is a line end.
    /// Within a block or a delimiter, a model that was cut off may go on in the next message, so
    /// the end only allows a delimiter to begin.
    pub fn end_message(&mut self) -> &[Block] {
        // A delimiter with more than the first characters may go on too.
        let is_begun = self.rest.len() - self.head > 3;
        if self.open.is_none() && !is_begun {
            return self.push("\n");
        }
        self.seams.push(self.rest.len());
        &[]
    }

    /// Returns true if a block is open.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the full reading, with decisions only possible at the end.
    pub fn finish(mut self) -> Reading {
        self.finish_counted().0
    }

    pub(super) fn finish_counted(&mut self) -> (Reading, Work) {
        self.advance(true);
        let last = std::mem::take(&mut self.text);
        self.reading.texts.push(last.trim().to_owned());
        (std::mem::take(&mut self.reading), self.work)
    }

    fn advance(&mut self, is_final: bool) {
        loop {
            let went_on = match self.open {
                None => self.scan_outside(is_final),
                Some(start) => self.scan_inside(start, is_final),
            };
            if !went_on {
                return;
            }
        }
    }

    /// Settles the text up to the next start delimiter. Returns true if there is such a delimiter.
    fn scan_outside(&mut self, is_final: bool) -> bool {
        let mut from = self.head;
        loop {
            let found = delimiter::find_delimiter(self.rest.as_bytes(), from);
            self.work.looked += found.map_or(self.rest.len(), |(at, _)| at) - from;
            match found {
                Some((at, DelimiterMatch::Delimiter(start)))
                    if !start.is_end && self.reading.blocks.len() < BLOCKS_MAX =>
                {
                    self.settle_text(at);
                    self.open = Some(start);
                    self.searched = at + start.len;
                    return true;
                }
                Some((at, DelimiterMatch::Delimiter(passed))) => {
                    self.reading.is_cut |= !passed.is_end;
                    from = at + passed.len;
                }
                Some((at, _)) if !is_final => {
                    self.settle_text(at);
                    return false;
                }
                _ => {
                    self.settle_text(self.rest.len());
                    return false;
                }
            }
        }
    }

    /// Reads the open block if possibly complete. Returns true if settled, or if another try is
    /// due.
    fn scan_inside(&mut self, start: Delimiter, is_final: bool) -> bool {
        if !is_final && !self.next_end() {
            if self.rest.len() - self.head <= BLOCK_MAX {
                return false;
            }
            return self.give_up(start);
        }
        let bound = self.total.saturating_mul(AGAIN_FOR_EACH) + AGAIN;
        if !is_final && self.work.again > bound {
            return true;
        }
        let source = Source {
            text: &self.rest,
            base: self.base.unwrap_or(Position::START),
            begin: self.head,
            seams: &self.seams,
            is_final,
        };
        match block::read_block(&source, start, self.work.again <= bound, &mut self.work) {
            Step::More => return true,
            Step::Mention(fault, end) => {
                if self.reading.mentions.len() < MENTIONS_MAX {
                    self.reading.mentions.push(fault);
                }
                self.open = None;
                self.settle_text(end);
            }
            Step::Block(block, end) => self.settle_block(*block, end),
        }
        true
    }

    /// Looks for an end delimiter that was not tried yet.
    fn next_end(&mut self) -> bool {
        loop {
            let from = self.searched;
            let found = delimiter::find_delimiter(self.rest.as_bytes(), from);
            self.work.looked += found.map_or(self.rest.len(), |(at, _)| at) - from;
            match found {
                Some((at, DelimiterMatch::Delimiter(passed))) => {
                    self.searched = at + passed.len;
                    if passed.is_end {
                        return true;
                    }
                }
                Some((at, _)) => {
                    self.searched = at;
                    return false;
                }
                None => {
                    self.searched = self.rest.len();
                    return false;
                }
            }
        }
    }

    fn give_up(&mut self, start: Delimiter) -> bool {
        let source = Source {
            text: &self.rest,
            base: self.base.unwrap_or(Position::START),
            begin: self.head,
            seams: &self.seams,
            is_final: true,
        };
        let stop = Stop {
            kind: FaultKind::TooLarge,
            message: format!("it is longer than {BLOCK_MAX} bytes"),
            at: self.head + start.len,
        };
        let block = block::given_up(&source, start, &stop);
        self.settle_block(block, self.rest.len());
        true
    }

    fn settle_text(&mut self, end: usize) {
        let text = &self.rest[self.head..end];
        if self.kept + text.len() <= TEXTS_MAX {
            self.text.push_str(text);
            self.kept += text.len();
        } else {
            self.reading.is_cut = true;
        }
        self.settle_up_to(end);
    }

    fn settle_block(&mut self, block: Block, end: usize) {
        let text = std::mem::take(&mut self.text);
        self.reading.texts.push(text.trim().to_owned());
        self.reading.blocks.push(block);
        self.open = None;
        self.settle_up_to(end);
    }

    fn settle_up_to(&mut self, end: usize) {
        let base = self.base.unwrap_or(Position::START);
        self.base = Some(base.advance_over(&self.rest[self.head..end]));
        self.work.looked += end - self.head;
        self.head = end;
        self.searched = self.searched.max(end);
        if self.open.is_none() {
            let kept = self.seams.partition_point(|seam| *seam <= end);
            self.seams.drain(..kept);
        }
    }

    /// Drops the settled text if larger than the rest.
    fn drop_settled(&mut self) {
        if self.head > self.rest.len() / 2 {
            self.rest.drain(..self.head);
            self.searched -= self.head;
            for seam in &mut self.seams {
                *seam -= self.head;
            }
            self.head = 0;
        }
    }
}
