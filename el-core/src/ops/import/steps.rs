//! The progress of an import.

use crate::exchange::Progress;

/// Steps between two reports of progress.
const BETWEEN: usize = 512;

/// Counts steps: three for each record (find, write, remember), one for each bond and comment.
pub(super) struct Steps<'a, 'p> {
    done: usize,
    total: usize,
    progress: &'a mut Progress<'p>,
}

impl<'a, 'p> Steps<'a, 'p> {
    pub(super) fn new(total: usize, progress: &'a mut Progress<'p>) -> Steps<'a, 'p> {
        Steps { done: 0, total, progress }
    }

    /// Counts a step that begins now.
    pub(super) fn begin_step(&mut self) {
        if self.done.is_multiple_of(BETWEEN) {
            (self.progress)(self.done, self.total);
        }
        self.done += 1;
    }

    /// Reports all steps as done, unneeded steps included.
    pub(super) fn finish_steps(&mut self) {
        (self.progress)(self.total, self.total);
    }
}
