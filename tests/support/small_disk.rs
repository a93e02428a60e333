use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system of a few megabytes.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where nothing can be mounted. The log of a database in use takes up to 4 megabytes.
    pub(crate) fn mount_at(at: &Path, megabytes: u32) -> Option<SmallDisk> {
        fs::create_dir(at).unwrap();
        let mut mount = Command::new("mount");
        let options = format!("size={megabytes}m,mode=700");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(at);
        let is_mounted = mount.output().is_ok_and(|ran| ran.status.success());
        if !is_mounted {
            eprintln!("skipped: nothing can be mounted here");
        }
        is_mounted.then(|| SmallDisk(at.to_owned()))
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Takes all room that is left.
    pub(crate) fn fill(&self) {
        let mut filler = File::options().create(true).append(true).open(self.filler()).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
    }

    /// Gives the room back.
    pub(crate) fn free(&self) {
        fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The folder is removed with its project; a mount that stays is seen there.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
