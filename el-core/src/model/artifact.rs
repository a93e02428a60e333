use schemars::JsonSchema;
use serde::Serialize;

use super::text_enum::text_enum;

text_enum! {
    /// The role of a file in a hand-over.
    pub enum ArtifactKind as "artifact kind" {
        Summary = "summary",
        Deliverable = "deliverable",
    }
}

text_enum! {
    /// The state of a file in a hand-over.
    pub enum ArtifactState as "artifact state" {
        /// Copied into the run's folder; later edits do not change the copy.
        Copied = "copied",
        /// Binary or very large: the file stays in place, and the hash detects later changes.
        Reference = "reference",
        /// Not handed over; [`Artifact::reason`] says why.
        Refused = "refused",
    }
}

text_enum! {
    /// Why a file that a summary names was not handed over.
    pub enum NotSent as "reason" {
        /// The text is not a path of a file.
        NotAPath = "not_a_path",
        /// An absolute path that is not below the working folder.
        Absolute = "absolute",
        /// A path with `..`.
        Outside = "outside",
        /// A symbolic link on the way leads out of the working folder, or in a circle.
        Link = "link",
        Missing = "missing",
        Folder = "folder",
        /// A device, a pipe or a socket.
        NotAFile = "not_a_file",
        Configuration = "configuration",
        /// The name is typical of a key or a credential.
        Secret = "secret",
        BuildOutput = "build_output",
        /// A context file of an agent.
        ContextFile = "context_file",
        /// The summary of another task.
        OtherSummary = "other_summary",
        /// The tracker's own files, or git's.
        TrackerState = "tracker_state",
        /// More key deliverables than are handed over.
        TooMany = "too_many",
        /// The system denied access.
        Unreadable = "unreadable",
    }
}

impl NotSent {
    /// The reason in words, to stand after the path.
    pub const fn reason_text(self) -> &'static str {
        match self {
            NotSent::NotAPath => "is not the path of a file",
            NotSent::Absolute => "is an absolute path outside of the working folder",
            NotSent::Outside => "leaves the working folder by '..'",
            NotSent::Link => "is reached by a link that leads out of the working folder",
            NotSent::Missing => "is not there",
            NotSent::Folder => "is a folder",
            NotSent::NotAFile => "is a device or a pipe, not a file",
            NotSent::Configuration => {
                "is a configuration file, which the work item does not ask for"
            }
            NotSent::Secret => "has the name of a key or a credential, which is never handed over",
            NotSent::BuildOutput => "is a build output, which the work item does not ask for",
            NotSent::ContextFile => "is a context file",
            NotSent::OtherSummary => "is the summary of another task",
            NotSent::TrackerState => "belongs to the tracker or to git",
            NotSent::TooMany => "is one too many: four key deliverables are handed over",
            NotSent::Unreadable => "cannot be read",
        }
    }
}

/// A file that a run handed back, or that the summary names and that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Artifact {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    pub run_id: String,
    /// The number within the run, from 1: the summary first.
    pub n: i64,
    pub kind: ArtifactKind,
    /// The last part of the path.
    pub name: String,
    /// Relative to the run's working folder, or absolute for a summary outside of the folder. A
    /// refused path is kept as the agent wrote the path.
    pub path: String,
    pub description: Option<String>,
    pub state: ArtifactState,
    /// In bytes.
    pub size: Option<i64>,
    /// The hash of the copy, or of the referenced file, in hexadecimal.
    pub sha256: Option<String>,
    /// Where the copy is, relative to the run's folder.
    pub file: Option<String>,
    pub reason: Option<NotSent>,
    /// More in words: why the file was not copied, or not sent.
    pub note: Option<String>,
}

impl Artifact {
    /// The value of `_type` in every artifact's row.
    pub const RECORD_TYPE: &'static str = "artifact";

    /// Returns true if the file was handed over, as a copy or by reference.
    pub fn is_sent(&self) -> bool {
        self.state != ArtifactState::Refused
    }
}
