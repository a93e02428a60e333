use schemars::JsonSchema;
use serde::Serialize;

use super::text_enum::text_enum;

text_enum! {
    /// What a handed-back file is.
    pub enum ArtifactKind as "artifact kind" {
        Summary = "summary",
        Deliverable = "deliverable",
    }
}

text_enum! {
    /// What became of a file that a run handed back.
    pub enum ArtifactState as "artifact state" {
        /// Copied into the run's folder; later edits do not change it.
        Copied = "copied",
        /// Binary, or very large: it stays where it is, and its hash tells whether it is still the
        /// same.
        Reference = "reference",
        /// Not handed over; [`Artifact::reason`] says why.
        Refused = "refused",
    }
}

text_enum! {
    /// Why a file that a summary names was not handed over.
    pub enum NotSent as "reason" {
        /// What stands there is no path of a file.
        NotAPath = "not_a_path",
        /// An absolute path that is not below the working folder.
        Absolute = "absolute",
        /// A path with `..` in it.
        Outside = "outside",
        /// A symbolic link on the way leads out of the working folder, or in a circle.
        Link = "link",
        Missing = "missing",
        Folder = "folder",
        /// A device, a pipe, a socket: anything but a file.
        NotAFile = "not_a_file",
        Configuration = "configuration",
        /// By its name it holds a key or a credential.
        Secret = "secret",
        BuildOutput = "build_output",
        /// A file that tells an agent its work.
        ContextFile = "context_file",
        /// The summary of another task.
        OtherSummary = "other_summary",
        /// The tracker's own files, or git's.
        TrackerState = "tracker_state",
        /// More key deliverables than are handed over.
        TooMany = "too_many",
        /// The system refused to let it be read.
        Unreadable = "unreadable",
    }
}

impl NotSent {
    /// The reason in words, to stand after the path.
    pub const fn words(self) -> &'static str {
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

/// A file that a run handed back, or one that its summary names and that was not handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Artifact {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    pub run_id: String,
    /// Its number among those of its run, from 1: the summary first.
    pub n: i64,
    pub kind: ArtifactKind,
    /// The last part of its path.
    pub name: String,
    /// Relative to the run's working folder, or absolute for a summary that lies outside of it. For
    /// one that was refused, as the agent wrote it.
    pub path: String,
    pub description: Option<String>,
    pub state: ArtifactState,
    /// In bytes.
    pub size: Option<i64>,
    /// Of what was copied, or of the file that is referred to, in hexadecimal.
    pub sha256: Option<String>,
    /// Where the copy is, relative to the run's folder.
    pub file: Option<String>,
    pub reason: Option<NotSent>,
    /// More in words: why it was not copied, or not sent.
    pub note: Option<String>,
}

impl Artifact {
    /// The value of `_type` in every artifact's row.
    pub const RECORD_TYPE: &'static str = "artifact";

    /// Whether it was handed over, copied or by reference.
    pub fn is_sent(&self) -> bool {
        self.state != ArtifactState::Refused
    }
}
