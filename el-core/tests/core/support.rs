use std::path::{Path, PathBuf};
use std::time::Duration;

use el_core::model::{self, EndKind, ExitRecord, PullRequest, PullRequestState, Timestamp};
use el_core::ops::{
    self, AtomFilter, ClaimRequest, ClaimedRun, Ending, HandedOver, NewAtom, Settled,
};
use el_core::rules::retry::RetryPolicy;
use el_core::{Ctx, Durability, SessionCredentials, Store};

/// A project in a temporary folder, with a clock of its own. On the engine that the tests run on:
/// with `EL_TEST_POSTGRES`, which `scripts/with-postgres` sets, the server there, and SQLite
/// otherwise.
pub(crate) struct Project {
    pub(crate) store: Store,
    pub(crate) now: Timestamp,
    pub(crate) dir: tempfile::TempDir,
    place: Place,
}

/// Where a project's database is.
#[derive(Clone)]
pub(crate) enum Place {
    File(PathBuf),
    #[cfg(feature = "postgres")]
    Server {
        url: String,
        local: PathBuf,
    },
}

impl Place {
    /// A place for a new project: a file, or a schema of its own on the server.
    fn new(dir: &Path) -> Place {
        let local = dir.join("el.db");
        match std::env::var("EL_TEST_POSTGRES") {
            Err(_) => Place::File(local),
            #[cfg(feature = "postgres")]
            Ok(url) => {
                let schema = model::fresh_uuid().replace('-', "_");
                Place::Server { url: format!("{url}&options=-csearch_path%3Dt_{schema}"), local }
            }
            #[cfg(not(feature = "postgres"))]
            Ok(_) => panic!("EL_TEST_POSTGRES is set, and the feature postgres is off"),
        }
    }

    /// The place in a word, for another process.
    pub(crate) fn text(&self) -> String {
        match self {
            Place::File(path) => path.display().to_string(),
            #[cfg(feature = "postgres")]
            Place::Server { url, .. } => url.clone(),
        }
    }

    pub(crate) fn parse(text: &str) -> Place {
        match text.strip_prefix("postgres:") {
            #[cfg(feature = "postgres")]
            Some(_) => Place::Server { url: text.to_owned(), local: PathBuf::from("/dev/null/x") },
            _ => Place::File(text.into()),
        }
    }

    fn create(&self, now: Timestamp) -> Store {
        match self {
            Place::File(path) => Store::create(path, "el", now).unwrap(),
            #[cfg(feature = "postgres")]
            Place::Server { url, local } => {
                Store::create_at(local, Some(&at(url)), "el", now).unwrap()
            }
        }
    }

    pub(crate) fn open(&self) -> Store {
        match self {
            Place::File(path) => Store::open(path, Durability::Normal).unwrap(),
            #[cfg(feature = "postgres")]
            Place::Server { url, local } => {
                Store::open_at(local, Some(&at(url)), Durability::Normal).unwrap()
            }
        }
    }
}

/// A connection to a project's tables that knows nothing of `el`'s rules.
pub(crate) enum Raw {
    File(rusqlite::Connection),
    #[cfg(feature = "postgres")]
    Server(Box<postgres::Client>),
}

impl Raw {
    pub(crate) fn of(place: &Place) -> Raw {
        match place {
            Place::File(path) => {
                let file = rusqlite::Connection::open(path).unwrap();
                file.busy_timeout(Duration::from_secs(60)).unwrap();
                Raw::File(file)
            }
            #[cfg(feature = "postgres")]
            Place::Server { url, .. } => {
                Raw::Server(Box::new(postgres::Client::connect(url, postgres::NoTls).unwrap()))
            }
        }
    }

    pub(crate) fn execute(&mut self, sql: &str) {
        match self {
            Raw::File(file) => file.execute_batch(&format!("BEGIN IMMEDIATE; {sql}; COMMIT")),
            #[cfg(feature = "postgres")]
            Raw::Server(server) => return server.batch_execute(sql).unwrap(),
        }
        .unwrap();
    }

    /// Takes the first open atom as nobody should: what was read is written without another look.
    pub(crate) fn take_unlocked(&mut self) -> Option<String> {
        let first = "SELECT id FROM atoms WHERE status = 'open' ORDER BY seq LIMIT 1";
        let id: String = match self {
            Raw::File(file) => file.query_row(first, [], |row| row.get(0)).ok()?,
            #[cfg(feature = "postgres")]
            Raw::Server(server) => server.query_opt(first, &[]).unwrap()?.get(0),
        };
        self.execute(&format!("UPDATE atoms SET status = 'in_progress' WHERE id = '{id}'"));
        Some(id)
    }
}

#[cfg(feature = "postgres")]
fn at(url: &str) -> el_core::ServerAddress {
    el_core::ServerAddress::new(url, [])
}

pub(crate) const LEASE: Duration = Duration::from_secs(60);

impl Project {
    pub(crate) fn new() -> Project {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path());
        Project::at(dir, place)
    }

    /// A project on SQLite: for a test that writes into the file itself.
    pub(crate) fn in_file() -> Project {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::File(dir.path().join("el.db"));
        Project::at(dir, place)
    }

    fn at(dir: tempfile::TempDir, place: Place) -> Project {
        let now = Project::begin();
        Project { store: place.create(now), now, dir, place }
    }

    /// When every project begins.
    pub(crate) fn begin() -> Timestamp {
        Timestamp::parse("2026-11-28T09:00:00Z").unwrap()
    }

    pub(crate) fn place(&self) -> Place {
        self.place.clone()
    }

    /// Another connection to the same database.
    pub(crate) fn reopen(&self) -> Store {
        self.place.open()
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

    /// An atom's branch is about to be pushed for a pull request.
    pub(crate) fn begin_push(&mut self, id: &str) -> PullRequest {
        let new = ops::NewPullRequest {
            forge: "github",
            repo: "github.com/acme/shop",
            head_owner: "acme",
            head_ref: "el/x",
            base_ref: "main",
            tip: "aa",
            owns_branch: false,
        };
        let ctx = self.person();
        ops::begin_push(&mut self.store, &ctx, id, &new).unwrap()
    }

    /// The forge says this of an atom's first pull request.
    pub(crate) fn see_pull(&mut self, id: &str, state: PullRequestState, detail: Option<&str>) {
        let is_merged = state == PullRequestState::Merged;
        let seen = ops::SeenPullRequest {
            state,
            detail,
            base_ref: None,
            merge_commit: is_merged.then_some("bb"),
            merged_head: is_merged.then_some("aa"),
        };
        let ctx = self.person();
        ops::pull_request_seen(&mut self.store, &ctx, (id, 1), &seen).unwrap();
    }

    pub(crate) fn ready(&self) -> Vec<String> {
        let page =
            ops::ready(&self.store, &AtomFilter::default(), ops::Sort::Priority, None, 0, self.now)
                .unwrap();
        page.items.into_iter().map(|a| a.id).collect()
    }
}

pub(crate) fn request() -> ClaimRequest {
    ClaimRequest::new("w1", "claude", "/tmp".to_owned(), LEASE)
}

pub(crate) fn session(claimed: &ClaimedRun) -> SessionCredentials {
    SessionCredentials { run: claimed.run.id.clone(), token: Some(claimed.run.token.clone()) }
}

/// A person who calls at this moment.
pub(crate) fn person(now: Timestamp) -> Ctx<'static> {
    Ctx { now, actor: "ann", session: None }
}
