use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::dep::{GraphIssue, dep_check};
use super::{AtomFilter, Sort};
use crate::Result;
use crate::model::{Status, Timestamp};
use crate::rules::graph::cycle_text;
use crate::store::filter::Query;
use crate::store::{Store, atom, bond, epic, run, search};

mod server;

/// A problem, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// A stable word for programs.
    pub code: &'static str,
    /// Work is lost or stuck, rather than untidy.
    pub serious: bool,
    pub message: String,
    pub hint: String,
}

/// The age at which a claim without a worker and without changes is reported.
const STALE_CLAIM: Duration = Duration::from_secs(24 * 3600);

/// Checks the database. Changes nothing.
///
/// # Errors
///
/// If the database cannot be read.
pub fn doctor(store: &Store, now: Timestamp) -> Result<Vec<Finding>> {
    let mut findings = server::find_faults(store, now)?;
    findings.extend(store.closed().map(|sentence| Finding {
        code: "moved",
        serious: false,
        message: format!("{sentence}, and nothing can be changed here"),
        hint: "EL_DATABASE_URL or database_url names a server, --db or EL_DB a file".to_owned(),
    }));
    for line in store.check_integrity()? {
        findings.push(Finding {
            code: "integrity",
            serious: true,
            message: format!("the database file is damaged: {line}"),
            hint:
                "copy .eluent/ away before anything else, then read the copy with `sqlite3 el.db \
                 .recover`"
                    .to_owned(),
        });
    }
    for issue in dep_check(store)? {
        findings.push(match issue {
            GraphIssue::Cycle { path } => Finding {
                code: "cycle",
                serious: true,
                message: format!("these wait for each other for ever: {}", cycle_text(&path)),
                hint: "remove one of the bonds with `el dep remove`".to_owned(),
            },
            GraphIssue::NeverNeeded { source, target } => Finding {
                code: "never_needed",
                serious: false,
                message: format!("{target} is needed only if {source} fails, and it did not"),
                hint: format!("`el update {target} --status wont_do`, or remove the bond"),
            },
        });
    }
    store.read(|tx| {
        for id in atom::with_unknown_words(tx)? {
            findings.push(Finding {
                code: "unknown_word",
                serious: true,
                message: format!("{id} has a status, type or priority that this el does not know"),
                hint: format!("`el update {id}` with --status, --type or --priority puts it right"),
            });
        }
        if !search::is_sound(tx)? {
            findings.push(Finding {
                code: "search_index",
                serious: false,
                message: "the search index does not agree with the atoms".to_owned(),
                hint: "`el doctor --fix` rebuilds it".to_owned(),
            });
        }
        let miscounted = bond::find_miscounted(tx)?;
        if !miscounted.is_empty() {
            findings.push(Finding {
                code: "blocker_count",
                serious: true,
                message: format!("the count of blockers is wrong for {}", miscounted.join(", ")),
                hint: "`el doctor --fix` counts them anew; nothing but a write by another program \
                       can have done this"
                    .to_owned(),
            });
        }
        let claimed = AtomFilter { statuses: vec![Status::InProgress], ..AtomFilter::default() };
        for atom in Query::new(&claimed).fetch_rows(tx, &Sort::Oldest.order_sql(now), None, 0)? {
            if atom.run_id.is_none() && atom.updated_at.plus(STALE_CLAIM) < now {
                findings.push(Finding {
                    code: "stale_claim",
                    serious: false,
                    message: format!(
                        "{} was claimed by {} and not touched for a day",
                        atom.id,
                        atom.assignee.as_deref().unwrap_or("nobody")
                    ),
                    hint: format!("`el release {} --force` gives it back", atom.id),
                });
            }
        }
        for (parent, child) in epic::closed_around_open(tx)? {
            findings.push(Finding {
                code: "closed_parent",
                serious: false,
                message: format!("{parent} is closed, and {child} in it is not over"),
                hint: format!("`el reopen {parent}` has it open until all in it is over"),
            });
        }
        for live in run::list_live(tx)? {
            if live.lease_until < now {
                findings.push(Finding {
                    code: "lease_expired",
                    serious: true,
                    message: format!(
                        "{} of {} has not been heard of since its lease ended",
                        live.id, live.atom_id
                    ),
                    hint:
                        "start `el work`: it adopts the run if its supervisor lives, and settles \
                         it if not"
                            .to_owned(),
                });
            }
        }
        Ok(())
    })?;
    Ok(findings)
}

/// Rebuilds data derived from the atoms: the search index and the counts of blockers.
///
/// # Errors
///
/// If the database cannot be written.
pub fn rebuild_derived(store: &mut Store) -> Result<()> {
    store.write(|tx| {
        search::rebuild_index(tx)?;
        bond::recount_blockers(tx)
    })
}
