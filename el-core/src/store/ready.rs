//! The one definition of *ready* in SQL. Its twin for people and for property tests is
//! [`crate::rules::ready`].
//!
//! Computed at read, from the queue's partial index, so it costs nothing for what is over and
//! cannot go stale. One part of it is counted ahead: an atom's own live `blocks` bonds, in a column
//! that triggers count anew at each change (ten thousand blocked atoms at the head of the queue
//! cost 20 ms a claim before, and nothing since). A bond whose source was removed holds nobody:
//! removing an atom removes its bonds.

/// Whether an atom (called `x` by whoever uses this) has a live blocker among its own incoming
/// bonds.
macro_rules! has_live_blocker {
    ($x:literal, $and:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM bonds b JOIN atoms s ON s.id = b.source_id WHERE b.target_id = ",
            $x,
            " AND ",
            $and,
            "CASE b.kind
                WHEN 'blocks' THEN s.status NOT IN ('closed','wont_do','discard')
                WHEN 'waits_for' THEN s.status NOT IN ('closed','wont_do','discard') OR EXISTS (
                  WITH RECURSIVE down (id) AS (
                    SELECT c.id FROM atoms c WHERE c.parent_id = s.id
                    UNION SELECT c.id FROM atoms c JOIN down ON c.parent_id = down.id
                  ) SELECT 1 FROM down JOIN atoms d ON d.id = down.id WHERE d.status NOT IN ('closed','wont_do','discard'))
                WHEN 'conditional_blocks' THEN NOT (s.status = 'wont_do' OR (s.status = 'closed' AND (
                  lower(trim(coalesce(s.close_reason, ''))) GLOB 'fail*' OR lower(trim(coalesce(s.close_reason, ''))) GLOB 'error*' OR lower(trim(coalesce(s.close_reason, ''))) GLOB 'abort*')))
                ELSE 0 END)"
        )
    };
}

/// What waits for an atom that is over while its run is not: the agent may still be writing. Asked
/// once a query, from the live runs.
macro_rules! behind_a_run {
    () => {
        "WITH RECURSIVE
           at_work (id) AS (SELECT r.atom_id FROM runs r WHERE r.outcome IS NULL),
           within (id) AS (
             SELECT id FROM at_work UNION SELECT p.parent_id FROM within JOIN atoms p ON p.id = within.id WHERE p.parent_id IS NOT NULL),
           behind (id) AS (
             SELECT b.target_id FROM at_work JOIN bonds b ON b.source_id = at_work.id WHERE b.kind IN ('blocks','conditional_blocks')
             UNION SELECT b.target_id FROM within JOIN bonds b ON b.source_id = within.id WHERE b.kind = 'waits_for'
             UNION SELECT c.id FROM behind JOIN atoms c ON c.parent_id = behind.id)
         SELECT id FROM behind"
    };
}

/// The condition for an atom `a` at the time `:now`.
pub(crate) const READY: &str = concat!(
    "a.status IN ('open','deferred') AND a.blocked_by = 0 AND (a.status = 'open' OR a.defer_until <= :now)
     AND a.issue_type NOT IN ('epic','formula')
     AND (a.retry_at IS NULL OR a.retry_at <= :now)
     AND a.id NOT IN (SELECT r.atom_id FROM runs r WHERE r.outcome IS NULL)
     AND a.id NOT IN (",
    behind_a_run!(),
    ")
     AND NOT ",
    has_live_blocker!("a.id", "b.kind <> 'blocks' AND "),
    " AND (a.parent_id IS NULL OR NOT EXISTS (
       WITH RECURSIVE up (id) AS (
         SELECT a.parent_id UNION SELECT p.parent_id FROM atoms p JOIN up ON p.id = up.id WHERE p.parent_id IS NOT NULL
       ) SELECT 1 FROM up JOIN atoms p ON p.id = up.id
         WHERE p.status IN ('blocked','wont_do','discard')
           OR (p.status = 'deferred' AND (p.defer_until IS NULL OR p.defer_until > :now))
           OR ",
    has_live_blocker!("p.id", ""),
    "))"
);

/// The order in which ready atoms are worked on.
pub(crate) const QUEUE_ORDER: &str = "a.priority, a.created_at, a.seq";
