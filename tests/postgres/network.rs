//! A network of its own for a test: a server of PostgreSQL on one machine, and other machines. The
//! way between them can be cut.

use std::path::{Path, PathBuf};

use super::crashing::OwnServer;
use super::server_url;
use crate::support::{Running, SOON, TestEnv, wait_until};

/// Where the server is.
const SERVER: &str = "192.0.2.1";

/// The machine with the server, and others. All end with this value.
pub(super) struct Network {
    server: OwnServer,
    _held: Running,
    /// The machine with the server.
    pub(super) db: TestEnv,
    folder: PathBuf,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/lib/network")
}

impl Network {
    /// A network with these machines. `None`: there is no server, or no network can be had here.
    pub(super) fn begin(machines: &[&str]) -> Option<Network> {
        server_url()?;
        let mut db = TestEnv::new();
        let folder = db.path("network");
        std::fs::create_dir(&folder).unwrap();
        let mut hold = db.command(script().to_str().unwrap());
        let mut held = Some(db.start(hold.arg("hold").arg(&folder).arg("db").args(machines)));
        wait_until("the network, or why there is none", SOON, || {
            if folder.join("ready").exists() {
                return Some(());
            }
            held.as_mut().is_some_and(Running::has_ended).then(|| held = None)
        });
        let Some(held) = held else {
            let is_wanted = std::env::var_os("EL_REQUIRE_SANDBOX").is_some();
            assert!(!is_wanted, "no network of its own can be had here");
            eprintln!("skipped: it wants network namespaces, and ip (Debian: iproute2)");
            return None;
        };
        db.run_through(&[script().to_str().unwrap(), "on", folder.to_str().unwrap(), "db"]);
        db.set("EL_TEST_POSTGRES_ADDRESS", SERVER);
        let server = OwnServer::begin(&mut db)?;
        Some(Network { server, _held: held, db, folder })
    }

    /// The address of a schema, as all machines know it.
    pub(super) fn url(&self, schema: &str) -> String {
        format!("{}&options=-csearch_path%3D{schema}", self.server.by_tcp())
    }

    /// An environment on a machine, whose projects are in the schema.
    pub(super) fn on(&self, machine: &str, schema: &str) -> TestEnv {
        let mut env = TestEnv::new();
        let folder = self.folder.to_str().unwrap();
        env.run_through(&[script().to_str().unwrap(), "on", folder, machine]);
        env.set("EL_DATABASE_URL", self.url(schema));
        env
    }

    /// `cut`, `deaf`, `mute` or `heal`.
    #[track_caller]
    pub(super) fn make(&self, what: &str, machine: &str) {
        // Of the namespaces themselves, so past the machine of the server.
        let done =
            std::process::Command::new(script()).arg(what).arg(&self.folder).arg(machine).status();
        assert!(done.unwrap().success(), "{what} {machine}");
    }
}
