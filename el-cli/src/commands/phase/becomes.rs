//! The effect of a supplied task list on the existing tasks.

use std::collections::HashMap;

use el_core::count_noun;
use el_core::ops::Overview;
use el_core::protocol::response::{Payload, ProposedTask, TaskList};
use el_core::rules::orchestrate::Question;
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::names::first_few;

/// A task with the key and the atom.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(in crate::commands) struct Known {
    task_id: String,
    atom_id: String,
}

/// The tasks of a supplied list, by effect.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(in crate::commands) struct Becomes {
    /// Filed when the plan goes on, by the names in the list.
    new: Vec<String>,
    /// Tasks whose atoms stay unchanged.
    kept: Vec<Known>,
    /// The tasks of `kept` that differ between the supplied list and the last list.
    changed: Vec<Known>,
    /// Tasks that are missing from the list; their atoms stay.
    left: Vec<Known>,
    /// Tasks that were discarded, and stay discarded.
    discarded: Vec<Known>,
}

impl Becomes {
    /// Compares the payload with `before`, the plan as of now. Returns `None` if the payload is not
    /// a task list.
    pub(super) fn from_payload(
        before: &Overview,
        question: Question,
        payload: &Payload,
    ) -> Option<Becomes> {
        let Payload::TaskList(list) = payload else { return None };
        let name = question.storage_name();
        let atoms: HashMap<&str, &str> = before
            .tasks
            .iter()
            .filter(|task| task.list.as_deref() == Some(&name))
            .filter_map(|task| Some((task.task_id.as_deref()?, task.atom_id.as_str())))
            .collect();
        let dropped: HashMap<&str, &str> = before
            .dropped
            .iter()
            .filter(|view| view.list == name)
            .map(|view| (view.task_id.as_str(), view.atom_id.as_str()))
            .collect();
        let old: Option<TaskList> = before
            .phases
            .iter()
            .find(|phase| phase.name == name)
            .and_then(|phase| serde_json::from_value(phase.data.clone()?).ok());
        let old: HashMap<&str, &ProposedTask> =
            old.iter().flat_map(|list| &list.tasks).map(|task| (task.id.as_str(), task)).collect();
        let known = |task_id: &str, atom_id: &str| Known {
            task_id: task_id.to_owned(),
            atom_id: atom_id.to_owned(),
        };
        let mut becomes = Becomes::default();
        for task in &list.tasks {
            let id = task.id.as_str();
            match (atoms.get(id), dropped.get(id)) {
                (Some(atom), _) => {
                    becomes.kept.push(known(id, atom));
                    if old.get(id).is_some_and(|old| *old != task) {
                        becomes.changed.push(known(id, atom));
                    }
                }
                (None, Some(atom)) => becomes.discarded.push(known(id, atom)),
                (None, None) => becomes.new.push(id.to_owned()),
            }
        }
        // In the plan's order.
        for task in before.tasks.iter().filter(|task| task.list.as_deref() == Some(&name)) {
            let Some(id) = task.task_id.as_deref() else { continue };
            if !list.tasks.iter().any(|task| task.id == id) {
                becomes.left.push(known(id, &task.atom_id));
            }
        }
        Some(becomes)
    }

    /// For a person, a line for each thing that there is to say.
    pub(super) fn describe_changes(&self, driven: bool) -> Vec<String> {
        let when = if driven {
            "at once, since the plan is driven just now"
        } else {
            "when the plan goes on"
        };
        let are = |count: usize| if count == 1 { "is" } else { "are" };
        let stay = |count: usize| if count == 1 { "stays" } else { "stay" };
        let atoms = |known: &[Known]| {
            first_few(&known.iter().map(|known| known.atom_id.clone()).collect::<Vec<_>>())
        };
        let mut lines = Vec::new();
        let (new, kept, changed) = (self.new.len(), self.kept.len(), self.changed.len());
        if new > 0 {
            lines.push(format!("{} {} new, and filed {when}", count_noun(new, "task"), are(new)));
        }
        if kept > 0 {
            let have = if kept == 1 {
                "has an atom, which stays as it is"
            } else {
                "have atoms, which stay as they are"
            };
            lines.push(format!("{} {have}", count_noun(kept, "task")));
        }
        if changed > 0 {
            let say = if changed == 1 { "says" } else { "say" };
            lines.push(format!(
                "{changed} of these {say} something else now, which changes no atom: {}; el \
                 update and el dep do",
                atoms(&self.changed)
            ));
        }
        let (left, discarded) = (self.left.len(), self.discarded.len());
        if left > 0 {
            lines.push(format!(
                "{} {} in the list no more and {}: {}; el discard takes out",
                count_noun(left, "task"),
                are(left),
                stay(left),
                atoms(&self.left)
            ));
        }
        if discarded > 0 {
            let was = if discarded == 1 {
                "was discarded and stays so"
            } else {
                "were discarded and stay so"
            };
            lines.push(format!(
                "{} {was}: {}; el reopen brings back",
                count_noun(discarded, "task"),
                atoms(&self.discarded)
            ));
        }
        lines
    }
}
