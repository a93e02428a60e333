//! A connection to a server that breaks: a claim is looked up, nothing is done twice, and the next
//! call has a new connection.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use el_core::ops::{self, AtomFilter, NewAtom, Sort};
use el_core::{Ctx, Store};

use crate::support::{Place, Project, request};

/// The server's socket once more, with somebody between who can cut the line.
struct Line {
    dir: tempfile::TempDir,
    /// The next answer to a commit is kept back, and its connection cut.
    keeps_next_answer: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<UnixStream>>>,
}

impl Line {
    fn to(server: PathBuf) -> Line {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join(SOCKET)).unwrap();
        let keeps = Arc::new(AtomicBool::new(false));
        let open = Arc::new(Mutex::new(Vec::new()));
        let line = Line { dir, keeps_next_answer: Arc::clone(&keeps), open: Arc::clone(&open) };
        // It ends with the test's process.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), UnixStream::connect(&server).unwrap());
                open.lock().unwrap().push(client.try_clone().unwrap());
                join(client, server, Arc::clone(&keeps));
            }
        });
        line
    }

    fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            stream.shutdown(Shutdown::Both).unwrap();
        }
    }
}

const SOCKET: &str = ".s.PGSQL.5432";

fn join(client: UnixStream, server: UnixStream, keeps: Arc<AtomicBool>) {
    let is_kept = Arc::new(AtomicBool::new(false));
    let answers = (server.try_clone().unwrap(), client.try_clone().unwrap(), is_kept.clone());
    std::thread::spawn(move || {
        let (mut from, mut to) = (client, server);
        pass_on(&mut from, &mut to, |bytes| {
            // The whole statement: "READ COMMITTED" begins one.
            let commits = bytes.windows(7).any(|part| part == b"COMMIT\0");
            if commits && keeps.swap(false, Ordering::SeqCst) {
                is_kept.store(true, Ordering::SeqCst);
            }
            true
        });
    });
    std::thread::spawn(move || {
        let (mut from, mut to, is_kept) = answers;
        pass_on(&mut from, &mut to, |_| !is_kept.load(Ordering::SeqCst));
    });
}

/// Passes on what comes as long as `may_pass` says so, then closes both.
fn pass_on(from: &mut UnixStream, to: &mut UnixStream, mut may_pass: impl FnMut(&[u8]) -> bool) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if !may_pass(&buffer[..count]) || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    // The other direction may have closed it.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// The project by a line that can be cut; `None` if the tests do not run on a server.
fn by_line(project: &Project) -> Option<(Line, Store)> {
    let Place::Server { url, local } = project.place() else { return None };
    let (before, host) = url.split_once("host=").unwrap();
    let (folder, after) = host.split_once('&').unwrap();
    let line = Line::to(Path::new(folder).join(SOCKET));
    let url = format!("{before}host={}&{after}", line.dir.path().display());
    let store = Place::Server { url, local }.open();
    Some((line, store))
}

#[test]
fn a_claim_whose_answer_is_lost_is_looked_up_and_not_made_twice() {
    let mut p = Project::new();
    let (one, two) = (p.create("one"), p.create("two"));
    let Some((line, mut store)) = by_line(&p) else { return };
    let ctx = Ctx { actor: "claude", ..p.person() };
    line.keeps_next_answer.store(true, Ordering::SeqCst);
    let asked = request();
    let claimed = ops::claim_run(&mut store, &ctx, &asked).unwrap().unwrap();
    assert_eq!((&claimed.run.id, &claimed.atom.id), (&asked.run_id, &one));
    assert!(!line.keeps_next_answer.load(Ordering::SeqCst), "no answer was lost");
    assert_eq!(ops::live_runs(&p.store).unwrap().len(), 1);
    assert_eq!(p.ready(), [two.as_str()]);
}

#[test]
fn a_change_whose_answer_is_lost_is_told_as_unknown_and_not_made_again() {
    let p = Project::new();
    let Some((line, mut store)) = by_line(&p) else { return };
    line.keeps_next_answer.store(true, Ordering::SeqCst);
    let new = NewAtom { title: "one".to_owned(), ..NewAtom::default() };
    let error = ops::create(&mut store, &p.person(), &new).unwrap_err();
    assert_eq!(error.code(), "server_unreachable", "{error}");
    let all =
        ops::list(&store, &AtomFilter::default(), Sort::Oldest, None, 0, p.now).unwrap().items;
    assert_eq!(all.len(), 1, "the change was made before the line was cut");
}

#[test]
fn a_line_that_was_cut_between_two_calls_is_made_anew() {
    let mut p = Project::new();
    p.create("one");
    let Some((line, mut store)) = by_line(&p) else { return };
    for title in ["two", "three"] {
        line.cut();
        let new = NewAtom { title: title.to_owned(), ..NewAtom::default() };
        ops::create(&mut store, &p.person(), &new).unwrap();
    }
    line.cut();
    assert_eq!(ops::stats(&store, p.now).unwrap().total, 3);
}
