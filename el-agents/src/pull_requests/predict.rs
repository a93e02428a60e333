//! Predicts an opening, for `--dry-run`: asks the same questions, and changes nothing anywhere.

use el_core::model::PullRequest;
use el_core::{Store, ops};

use super::Result;
use super::adopt::{Search, search};
use super::item::{PullItem, PullOutcome, PullPlan};
use super::push::compare_remote;
use super::run::PullRun;
use super::stack::stack_base;
use super::texts::{Texts, template};
use super::update::find_change;
use crate::forge::FoundRequest;

/// Predicts the result of opening each pull request.
pub(super) fn predict_opening(
    run: &PullRun<'_>,
    store: &Store,
    items: &mut [PullItem],
    texts: &[Option<Texts>],
) -> Result<()> {
    let template = template(run.repository.git(), run.forge(), run.base_commit)?;
    for (at, texts) in texts.iter().enumerate() {
        let Some(texts) = texts else { continue };
        let base = match &items[at].below {
            None => run.place.base.clone(),
            Some(below) => match stack_base(run, store, below)? {
                Some(base) => base,
                // It is opened before this one.
                None if items.iter().any(|item| item.atom_id == *below && item.plan.is_some()) => {
                    run.repository.branch_of(below)?
                }
                None => {
                    items[at].wait_for_base();
                    continue;
                }
            },
        };
        predict_one(run, store, &mut items[at], (texts, template.as_deref(), &base))?;
    }
    Ok(())
}

fn predict_one(
    run: &PullRun<'_>,
    store: &Store,
    item: &mut PullItem,
    (texts, template, base): (&Texts, Option<&str>, &str),
) -> Result<()> {
    let place = run.place;
    let (branch, tip) =
        (item.branch.clone().unwrap_or_default(), item.tip.clone().unwrap_or_default());
    let records = ops::pull_requests_of(store, &item.atom_id)?;
    let remote = match compare_remote(run, &records, &branch, &tip)? {
        Ok(remote) => remote,
        Err(why) => {
            item.hold(PullOutcome::Held, why);
            return Ok(());
        }
    };
    let merges = item.merges.clone();
    let push = (merges.is_none() && remote.is_new()).then(|| remote.tip.clone());
    item.tip = Some(remote.tip.clone());
    item.taken_in = remote.taken_in;
    let live = records.last().filter(|record| record.state.is_live());
    let next = records.last().map_or(1, |last| last.seq + 1);
    let known = match live {
        Some(live) => live.clone(),
        None => PullRequest {
            head_owner: place.head.owner.clone(),
            head_ref: branch.clone(),
            base_ref: base.to_owned(),
            pushing: Some(remote.tip),
            ..PullRequest::new(
                &item.atom_id,
                next,
                place.forge,
                &place.repo.to_string(),
                run.land.ctx().now,
            )
        },
    };
    let known = match known.number {
        Some(_) => known,
        None => match search(run, &records, &known)? {
            // The push makes its head ours.
            Search::Own(FoundRequest { number, .. }) | Search::Foreign(number) => {
                PullRequest { number: Some(number), ..known }
            }
            Search::None => {
                item.plan = Some(PullPlan {
                    push,
                    merges,
                    base: Some(base.to_owned()),
                    title: Some(texts.title.clone()),
                    draft: Some(run.options.is_draft),
                    body: Some(texts.predicted_body(&texts.new_body(template))),
                });
                return Ok(());
            }
        },
    };
    let change = find_change(run, &known, texts, base)?;
    let is_same = push.is_none() && merges.is_none() && change.is_empty();
    item.outcome = match is_same && item.taken_in.is_empty() {
        true => PullOutcome::Unchanged,
        false => PullOutcome::ToUpdate,
    };
    item.plan = Some(PullPlan {
        push,
        merges,
        base: change.base,
        title: None,
        draft: change.draft,
        body: change.body.map(|body| texts.predicted_body(&body)),
    });
    item.pull_request = Some(known);
    Ok(())
}
