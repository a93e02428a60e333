//! The mailbox files of agents that know only files: assignments to the developer, reports to the
//! team lead, the queue, the agents' status. Pure: text to document, and back. Unknown contents of
//! other programs survive.

mod document;
mod merge;
mod task;

pub use document::{Document, NotADocument, canonical_text, message_digest, number_messages};
pub use merge::{
    AgentState, merge_agents, merge_assignments, merge_queue, merge_reports, read_decisions,
};
pub use task::{
    Assignment, Decision, TaskState, TaskStatus, assignment_of, is_own, read_assignment, task_of,
    type_of,
};

/// The files of the mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailboxFile {
    ToDeveloper,
    ToTeamLead,
    Queue,
    Status,
    Log,
}

impl MailboxFile {
    /// Every file.
    pub const ALL: [MailboxFile; 5] = [
        MailboxFile::ToDeveloper,
        MailboxFile::ToTeamLead,
        MailboxFile::Queue,
        MailboxFile::Status,
        MailboxFile::Log,
    ];

    /// Returns the path from the project's folder.
    pub const fn relative_path(self) -> &'static str {
        match self {
            MailboxFile::ToDeveloper => ".claude-orchestrator/tasks/messages/to-developer.json",
            MailboxFile::ToTeamLead => ".claude-orchestrator/tasks/messages/to-team-lead.json",
            MailboxFile::Queue => ".claude-orchestrator/tasks/queue.json",
            MailboxFile::Status => ".claude-orchestrator/tasks/status.json",
            MailboxFile::Log => ".claude-orchestrator/logs/log.md",
        }
    }

    /// Returns the file's name in the store.
    pub const fn store_name(self) -> &'static str {
        match self {
            MailboxFile::ToDeveloper => "to-developer",
            MailboxFile::ToTeamLead => "to-team-lead",
            MailboxFile::Queue => "queue",
            MailboxFile::Status => "status",
            MailboxFile::Log => "log",
        }
    }

    /// The key of the list that the file is about.
    pub const fn list_key(self) -> &'static str {
        match self {
            MailboxFile::ToDeveloper | MailboxFile::ToTeamLead => "messages",
            MailboxFile::Queue => "tasks",
            MailboxFile::Status | MailboxFile::Log => "",
        }
    }

    /// Returns the contents of a new file.
    pub const fn initial_text(self) -> &'static str {
        match self {
            MailboxFile::ToDeveloper | MailboxFile::ToTeamLead => {
                "{\n  \"messages\": [],\n  \"lastRead\": null\n}\n"
            }
            MailboxFile::Queue => "{\n  \"tasks\": []\n}\n",
            MailboxFile::Status => "{\n  \"agents\": {}\n}\n",
            MailboxFile::Log => "# Development log\n\n",
        }
    }
}

#[cfg(test)]
mod tests;
