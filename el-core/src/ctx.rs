use crate::model::Timestamp;

/// What a verb is told about its caller: who, when, and from which agent session if from one.
#[derive(Debug, Clone, Copy)]
pub struct Ctx<'a> {
    /// The moment that the verb takes as now. Passed in, so that core has no clock and tests have
    /// theirs.
    pub now: Timestamp,
    /// Who is recorded as the author of the change.
    pub actor: &'a str,
    /// Present when the caller runs inside an agent session; every write is then fenced by it.
    pub session: Option<&'a SessionCredentials>,
}

/// What the environment of an agent session carries: the run it belongs to and that run's fencing
/// token.
///
/// A session without a token is kept as such (`token: None`), so that a write from it is refused
/// instead of passing for a person's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCredentials {
    /// `EL_RUN`.
    pub run: String,
    /// `EL_TOKEN`.
    pub token: Option<String>,
}
