use crate::model::Timestamp;

/// The context of a verb: time, actor, and the agent session of the caller, if any.
#[derive(Debug, Clone, Copy)]
pub struct Ctx<'a> {
    /// The current time. Passed in, so that core has no clock and tests control the time.
    pub now: Timestamp,
    /// The recorded author of the change.
    pub actor: &'a str,
    /// The caller's agent session, if any; the fence checks every write of a session.
    pub session: Option<&'a SessionCredentials>,
}

/// The credentials of an agent session: the run, and the run's fencing token.
///
/// A session without a token has `token: None`, so that its writes are refused and do not pass for
/// a person's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCredentials {
    /// The run's id.
    pub run: String,
    /// The run's token; a check of the run has none.
    pub token: Option<String>,
}
