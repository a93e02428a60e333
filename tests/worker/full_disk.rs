//! A disk without room is nobody's fault.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{SOON, TestEnv, wait_until};

/// A file system of four megabytes.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where nothing can be mounted.
    fn mount(at: &Path) -> Option<SmallDisk> {
        fs::create_dir(at).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs"]).arg(at);
        mount.output().is_ok_and(|ran| ran.status.success()).then(|| SmallDisk(at.to_owned()))
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Takes all room, also that in the log of the database.
    fn fill(&self, env: &TestEnv) {
        let database = env.database();
        let mut filler = File::create(self.filler()).unwrap();
        wait_until("a disk without room", SOON, || {
            database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").ok()?;
            while filler.write_all(&[0; 4096]).is_ok() {}
            (fs::metadata(env.project(".eluent/el.db-wal")).ok()?.len() == 0).then_some(())
        });
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The folder is removed with its project; a mount that stays is seen there.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_close_that_found_no_room_is_charged_to_nobody_and_the_atom_is_closed_later() {
    let env = TestEnv::new();
    let Some(disk) = SmallDisk::mount(&env.project(".eluent")) else {
        eprintln!("skipped: nothing can be mounted here");
        return;
    };
    env.el(&["init", "--name", "t"]).ok();
    env.configure("max_attempts = 1\n");
    let worker = env.start_work(&[]);
    // An agent that ends well is asked once more, and finds room or not, as it happens.
    let steps = ["touch begun", "wait-file full", "close done", "touch tried", "exit 1"];
    let atom = env.script_atom(&[&steps[..], &["on-attempt 2", "close done"]].concat());
    env.wait_for_file("begun");
    disk.fill(&env);
    fs::write(env.project("full"), "").unwrap();
    env.wait_for_file("tried");
    assert_eq!(env.status(&atom), "in_progress", "it cannot be read as anything else");
    fs::remove_file(disk.filler()).unwrap();
    env.wait_for_end(&atom, 2);
    assert_eq!(env.outcomes(&atom), ["interrupted", "closed"]);
    let why = env.el(&["why", &atom]).ok().stdout;
    assert!(why.contains("the disk of the tracker was full"), "{why}");
    let next = env.script_atom(&["close done"]);
    env.wait_for_status(&next, "closed");
    worker.signal(rustix::process::Signal::INT);
    worker.wait(SOON).ok();
}
