use super::{PullPlace, TextRules};
use crate::forge::{Forge, ForgeWaits, Forges};
use crate::git::Repository;
use crate::land::LandContext;

/// How pull requests are opened.
#[derive(Debug, Clone, Copy)]
pub struct PullOptions {
    /// As drafts. Of an existing one, the state is changed only if `changes_draft`.
    pub is_draft: bool,
    pub changes_draft: bool,
    /// The base was named, and is changed in existing ones too.
    pub changes_base: bool,
    pub dry_run: bool,
    /// A request on the work of a single open request has that branch as base.
    pub stacks: bool,
    /// Branches that el makes are deleted at the remote after the merge.
    pub deletes_branch: bool,
}

/// All that opening needs.
#[derive(Debug, Clone, Copy)]
pub struct PullRun<'a> {
    pub repository: &'a Repository,
    pub land: &'a LandContext<'a>,
    pub forges: &'a Forges,
    pub place: &'a PullPlace,
    /// The fetched commit of the base.
    pub base_commit: &'a str,
    pub texts: &'a TextRules,
    /// Other projects of this person wait too, if the forge cannot be asked.
    pub waits: &'a ForgeWaits,
    pub options: PullOptions,
}

impl<'a> PullRun<'a> {
    /// The forge of the repository that receives the work.
    pub(super) fn forge(&self) -> &'a dyn Forge {
        self.forges.named(self.place.forge)
    }
}
