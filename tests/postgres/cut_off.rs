//! A machine that the server no longer answers: its agent is ended before anybody else may have the
//! atom.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::with_tracker;
use crate::support::{Process, SOON, wait_until};

/// A way to the server that can be cut: connections stay, new ones are taken, and nothing comes.
struct Way {
    folder: PathBuf,
    is_cut: Arc<AtomicBool>,
}

const SOCKET: &str = ".s.PGSQL.5432";

impl Way {
    fn to(server: &Path, folder: PathBuf) -> Way {
        std::fs::create_dir(&folder).unwrap();
        let listener = UnixListener::bind(folder.join(SOCKET)).unwrap();
        let is_cut = Arc::new(AtomicBool::new(false));
        let (server, cut) = (server.join(SOCKET), is_cut.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = UnixStream::connect(&server) else { return };
                pass_on(client.try_clone().unwrap(), server.try_clone().unwrap(), cut.clone());
                pass_on(server, client, cut.clone());
            }
        });
        Way { folder, is_cut }
    }

    fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::Relaxed);
    }
}

fn pass_on(mut from: UnixStream, mut to: UnixStream, is_cut: Arc<AtomicBool>) {
    thread::spawn(move || {
        let mut bytes = [0; 8192];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            while is_cut.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(20));
            }
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
}

#[test]
fn an_agent_is_ended_before_the_lease_is_over_and_the_work_is_taken_up_once() {
    let Some((mut env, url)) = with_tracker() else { return };
    let (head, rest) = url.split_once("host=").unwrap();
    let (server, options) = rest.split_once('&').unwrap();
    let way = Way::to(Path::new(server), env.path("way"));
    env.configure("lease = \"30s\"\n");
    let atom = env.script_atom(&["touch began", "hang", "on-attempt 2", "close done"]);
    env.set("EL_DATABASE_URL", format!("{head}host={}&{options}", way.folder.display()));
    let worker = env.start_work(&[]);
    env.wait_for_file("began");
    let agent = || {
        let all = env.processes();
        all.into_iter().find(|p| p.words.first().is_some_and(|name| name.ends_with("claude")))
    };
    let agent: Process = wait_until("the agent", SOON, agent);
    way.cut(true);
    wait_until("the end of the agent", SOON, || (!Process::runs(agent.pid)).then_some(()));
    // Asked by another way: the lease still holds everybody else off.
    env.set("EL_DATABASE_URL", &url);
    let now = env.robot(&["create", "Later", "--defer-until", "9d"])["created_at"].take();
    let run = env.last_run(&atom);
    assert_eq!((&run["attempt"], &run["outcome"]), (&1.into(), &Value::Null));
    let until = run["lease_until"].as_str().unwrap();
    assert!(now.as_str().unwrap() < until, "the agent ended before {now}, the lease at {until}");
    way.cut(false);
    let again = env.wait_for_end(&atom, 2);
    assert_eq!((&again["outcome"], env.status(&atom)), (&"closed".into(), "closed".to_owned()));
    env.el(&["work", "--stop"]).ok();
    worker.wait(SOON).ok();
}
