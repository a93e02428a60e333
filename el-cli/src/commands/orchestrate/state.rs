//! The states of a plan.

use schemars::JsonSchema;
use serde::Serialize;

/// The state of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::commands) enum State {
    /// All results were combined.
    Done,
    /// The results were combined, and some task gave no result.
    Incomplete,
    /// The tasks are filed, and no run has begun.
    Planned,
    /// The plan goes on while a process drives the plan.
    Underway,
    /// A person has to review an atom, or works on an atom.
    WaitsForPerson,
    /// The plan cannot go on without a person.
    Stopped,
    TimeOver,
    BudgetUsedUp,
}

impl State {
    pub(in crate::commands) const fn word(self) -> &'static str {
        match self {
            State::Done => "done",
            State::Incomplete => "incomplete",
            State::Planned => "planned",
            State::Underway => "underway",
            State::WaitsForPerson => "waits_for_person",
            State::Stopped => "stopped",
            State::TimeOver => "time_over",
            State::BudgetUsedUp => "budget_used_up",
        }
    }

    /// For people.
    pub(in crate::commands) const fn plain_words(self) -> &'static str {
        match self {
            State::Underway => "under way",
            State::WaitsForPerson => "waits for a person",
            State::TimeOver => "time is over",
            State::BudgetUsedUp => "budget is used up",
            other => other.word(),
        }
    }
}
