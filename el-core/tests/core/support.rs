use std::time::Duration;

use el_core::model::{self, EndKind, ExitRecord, Timestamp};
use el_core::ops::{
    self, AtomFilter, ClaimRequest, ClaimedRun, Ending, HandedOver, NewAtom, Settled,
};
use el_core::rules::retry::RetryPolicy;
use el_core::{Ctx, Durability, SessionCredentials, Store};

/// A project in a temporary folder, with a clock of its own.
pub(crate) struct Project {
    pub(crate) store: Store,
    pub(crate) now: Timestamp,
    pub(crate) dir: tempfile::TempDir,
}

pub(crate) const LEASE: Duration = Duration::from_secs(60);

impl Project {
    pub(crate) fn new() -> Project {
        let dir = tempfile::tempdir().unwrap();
        let now = Timestamp::parse("2026-11-28T09:00:00Z").unwrap();
        let store = Store::create(&dir.path().join("el.db"), "el", now).unwrap();
        Project { store, now, dir }
    }

    /// Another connection to the same database.
    pub(crate) fn reopen(&self) -> Store {
        Store::open(&self.dir.path().join("el.db"), Durability::Normal).unwrap()
    }

    pub(crate) fn person(&self) -> Ctx<'static> {
        person(self.now)
    }

    pub(crate) fn wait(&mut self, by: Duration) {
        self.now = self.now.plus(by);
    }

    pub(crate) fn create(&mut self, title: &str) -> String {
        self.wait(Duration::from_millis(1));
        let ctx = self.person();
        ops::create(
            &mut self.store,
            &ctx,
            &NewAtom { title: title.to_owned(), ..NewAtom::default() },
        )
        .unwrap()
        .id
    }

    pub(crate) fn claim(&mut self) -> Option<ClaimedRun> {
        let ctx = Ctx { actor: "claude", ..self.person() };
        ops::claim_run(&mut self.store, &ctx, &request()).unwrap()
    }

    /// Settles a run whose agent exited by itself with this code.
    pub(crate) fn settle(&mut self, run: &str, code: i32) -> Settled {
        self.settle_with(run, code, None)
    }

    /// The same, with what the run hands back.
    pub(crate) fn settle_with(
        &mut self,
        run: &str,
        code: i32,
        handed: Option<HandedOver>,
    ) -> Settled {
        let mut exit = ExitRecord::new(run, EndKind::Exited, self.now);
        exit.exit_code = Some(code);
        let ctx = Ctx { actor: "claude", ..self.person() };
        let policy = RetryPolicy::default();
        let ending = Ending::new(&exit, &policy, 0.5);
        ops::settle(&mut self.store, &ctx, &ending, |_| handed).unwrap()
    }

    pub(crate) fn ready(&self) -> Vec<String> {
        let page =
            ops::ready(&self.store, &AtomFilter::default(), ops::Sort::Priority, None, 0, self.now)
                .unwrap();
        page.items.into_iter().map(|a| a.id).collect()
    }
}

pub(crate) fn request() -> ClaimRequest {
    ClaimRequest {
        run_id: model::fresh_run_id(),
        token: model::fresh_token(),
        worker_id: "w1".to_owned(),
        agent: "claude".to_owned(),
        account: None,
        agent_limit: None,
        executor: "claude".to_owned(),
        conversation: model::fresh_uuid(),
        workdir: "/tmp".to_owned(),
        check: None,
        review: false,
        filter: AtomFilter::default(),
        caps: ops::Caps::default(),
        lease: LEASE,
        policy: RetryPolicy::default(),
    }
}

pub(crate) fn session(claimed: &ClaimedRun) -> SessionCredentials {
    SessionCredentials { run: claimed.run.id.clone(), token: Some(claimed.run.token.clone()) }
}

/// A person who calls at this moment.
pub(crate) fn person(now: Timestamp) -> Ctx<'static> {
    Ctx { now, actor: "ann", session: None }
}
