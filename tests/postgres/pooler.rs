//! Programs between el and the server, or beside it: a pooler, and standbys.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::Signal;

use super::with_tracker;
use crate::support::{Running, SOON, TestEnv, wait_until};

/// A PgBouncer that gives each transaction to whichever connection is free.
struct Pooler {
    running: Option<Running>,
    folder: tempfile::TempDir,
}

impl Pooler {
    fn start(env: &TestEnv, url: &str) -> Option<Pooler> {
        let (_, rest) = url.split_once("host=").unwrap();
        let (server, schema) = rest.split_once("&options=-csearch_path%3D").unwrap();
        let is_there = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"]
            .into_iter()
            .find(|path| Path::new(path).exists());
        let Some(program) = is_there else {
            let is_wanted = std::env::var("EL_REQUIRE_PGBOUNCER").is_ok_and(|value| value == "1");
            assert!(!is_wanted, "EL_REQUIRE_PGBOUNCER=1 wants PgBouncer");
            eprintln!("skipped: there is no PgBouncer (Debian: apt-get install pgbouncer)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let at = folder.path().display();
        let text = format!(
            "[databases]
             shop = host={server} dbname=postgres user=el connect_query='SET search_path={schema}'
             [pgbouncer]
             listen_port = 6432
             unix_socket_dir = {at}
             auth_type = any
             pool_mode = transaction
             default_pool_size = 4
             max_client_conn = 200
             logfile = {at}/log
             pidfile = {at}/pid
             ignore_startup_parameters = extra_float_digits"
        );
        let text: Vec<&str> = text.lines().map(str::trim).collect();
        let ini = folder.path().join("pgbouncer.ini");
        fs::write(&ini, text.join("\n")).unwrap();
        // It does not run as root.
        let mut command = match rustix::process::geteuid().is_root() {
            true => {
                let mut command = env.command("setpriv");
                let nobody = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", program];
                command.args(nobody);
                command
            }
            false => env.command(program),
        };
        let running = env.start(command.arg(&ini));
        let socket = folder.path().join(".s.PGSQL.6432");
        wait_until("the pooler", SOON, || socket.exists().then_some(()));
        Some(Pooler { running: Some(running), folder })
    }

    fn url(&self) -> String {
        format!("postgres://el@/shop?port=6432&host={}", self.folder.path().display())
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.signal(Signal::KILL);
            let _ = running.wait(SOON);
        }
    }
}

#[test]
fn thirty_two_calls_at_once_and_a_whole_run_go_through_a_pooler_of_transactions() {
    let Some((mut env, url)) = with_tracker() else { return };
    let told = env.el(&["doctor"]).stdout;
    assert!(!told.contains("pooler"), "{told}");
    let Some(pooler) = Pooler::start(&env, &url) else { return };
    env.set("EL_DATABASE_URL", pooler.url());
    let all: Vec<_> = (0..32)
        .map(|n| env.start_el(&["--robot", "create", &format!("Atom {n}"), "-l", "many"]))
        .collect();
    for one in all {
        one.wait(SOON).ok();
    }
    assert_eq!(env.robot(&["list", "--limit", "0"])["count"], 32);
    env.el(&["export"]).ok();
    let told = env.el(&["doctor"]).stdout;
    assert!(told.contains("a pooler in transaction mode"), "{told}");
    let ids = env.robot(&["list", "--limit", "0"]);
    for atom in ids["items"].as_array().unwrap() {
        env.el(&["close", atom["id"].as_str().unwrap()]).ok();
    }
    let atom = env.script_atom(&["el show $EL_ATOM", "close done"]);
    env.work(&["--once"]);
    assert_eq!(env.last_run(&atom)["outcome"], "closed");
}

#[test]
fn standbys_that_no_commit_waits_for_are_told() {
    let Some((env, url)) = with_tracker() else { return };
    let (_, rest) = url.split_once("host=").unwrap();
    let (server, _) = rest.split_once('&').unwrap();
    let folder = env.path("standby");
    fs::create_dir(&folder).unwrap();
    // It follows the server as a standby does.
    let mut follow = env.command("pg_receivewal");
    let follow = follow.args(["-h", server, "-U", "el", "-D"]).arg(&folder);
    let standby = env.start(follow);
    let told = |part: &'static str| {
        wait_until(part, SOON, || {
            let text = env.el(&["doctor"]).stdout;
            text.contains(part).then_some(())
        });
    };
    told("waits for none");
    standby.signal(Signal::INT);
    let _ = standby.wait(SOON);
}
