//! The paths that a run may read and write: a function of its folders, the settings and the disk.

use std::path::{Path, PathBuf};

use super::checkout::Checkout;
use super::files::{Files, Kind};
use super::mounts::{Access, Mounts};
use super::secrets::OF_RUN;
use crate::git::{BranchPrefixes, PREFIXES_FILE};

/// A home with more entries than this is shown as it is, read-only: each costs a mount, and mounts
/// cost bubblewrap time by the square of their number.
const HOME_ENTRIES: usize = 150;
/// The most sockets that are hidden one by one: each costs a mount. Few lie outside of `/run` and
/// `/tmp`, which are covered as a whole.
const SOCKETS: usize = 64;
/// Entries of git's folder that no linked worktree needs; each would cost a mount.
const OF_MAIN_CHECKOUT: [&str; 12] = [
    "COMMIT_EDITMSG",
    "MERGE_MSG",
    "SQUASH_MSG",
    "TAG_EDITMSG",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "AUTO_MERGE",
    "index",
    "description",
    "branches",
    "logs",
    PREFIXES_FILE,
];

/// The folders of a program that runs in a sandbox. All are absolute, with links resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Folders {
    /// The folder in which the program works.
    pub(super) workdir: PathBuf,
    pub(super) home: Option<PathBuf>,
    /// The folder of Claude Code's state, and a copy of its `.claude.json` that is the run's own.
    pub(super) client: Option<PathBuf>,
    pub(super) client_file: Option<(PathBuf, PathBuf)>,
    /// The folder of the tracker.
    pub(super) tracker: Option<PathBuf>,
    /// Files and folders in the tracker's folder that the program needs.
    pub(super) needs: Vec<PathBuf>,
    /// Paths that have to be seen wherever they lie: the program, `el`, the folders on PATH.
    pub(super) visible: Vec<PathBuf>,
    /// The folders on PATH.
    pub(super) programs: Vec<PathBuf>,
    /// The usual secrets, which the program sees only where made writable.
    pub(super) secrets: Vec<PathBuf>,
    /// Paths that are kept from the program in any case.
    pub(super) hidden: Vec<PathBuf>,
    /// Sockets of services, which the program sees only where they are named.
    pub(super) sockets: Vec<PathBuf>,
    /// The folder of all summaries, and the run's own folder that is shown in its place.
    pub(super) summaries: Option<(PathBuf, PathBuf)>,
    /// The folder of the atoms' branches, and the run's own folder that is shown in its place.
    pub(super) branches: Option<(PathBuf, PathBuf)>,
    /// Paths that may be written besides the working folder.
    pub(super) writable: Vec<PathBuf>,
}

/// Decides about every path that is not just readable.
pub(super) fn plan(folders: &Folders, files: &impl Files) -> Mounts {
    let mut mounts = Mounts::default();
    let checkout = Checkout::around_folder(&folders.workdir, files);
    let top = match &checkout {
        Some(checkout) if checkout.is_linked() => &checkout.top,
        _ => &folders.workdir,
    };
    for scratch in ["/tmp", "/var/tmp"].map(Path::new) {
        if files.is_folder(scratch) && top != scratch {
            mounts.set(scratch, Access::Scratch);
        }
    }
    cover_run(&mut mounts, files);
    if let Some(home) = &folders.home
        && home != top
        && !home.starts_with(top)
        && home.parent().is_some()
    {
        // Files written straight into the home are the run's own, and gone at its end.
        show_entries(&mut mounts, home, HOME_ENTRIES, files);
    }
    let is_around = |path: &PathBuf| top.starts_with(path);
    // A secret behind a link is kept where it lies.
    let hide_all = |mounts: &mut Mounts, secrets: &[PathBuf]| {
        let real = secrets.iter().filter_map(|secret| files.real(secret));
        real.filter(|secret| !is_around(secret)).for_each(|secret| hide(mounts, &secret, files));
    };
    hide_all(&mut mounts, &folders.secrets);
    // A secret that a person named is opened, too.
    for path in folders.writable.iter().filter(|path| files.is_there(path)) {
        mounts.set(path, Access::Write);
    }
    if let Some(client) = &folders.client {
        open_client(&mut mounts, client, &folders.workdir, files);
    }
    if let Some((file, copy)) = &folders.client_file {
        mounts.set(file, Access::Other(copy.clone()));
    }
    hide_all(&mut mounts, &folders.hidden);
    mounts.set(top, Access::Write);
    let link = folders.workdir.ancestors().map(|above| above.join(".git"));
    if let Some(checkout) = &checkout {
        let is_named = folders.writable.iter().any(|path| checkout.common.starts_with(path));
        match checkout.is_linked() || is_named {
            true => open_git(&mut mounts, checkout, folders.branches.as_ref(), files),
            // An agent could make a file there that names another repository, which git would obey.
            false => mounts.set(&checkout.common, Access::Read),
        }
    } else if let Some(link) = link.into_iter().find(|link| files.is_there(link)) {
        // The `.git` file is of a submodule, or names a repository that is kept elsewhere.
        mounts.set(link, Access::Read);
    }
    if let Some(tracker) = &folders.tracker {
        cover_tracker(&mut mounts, tracker, folders, files);
    }
    if let Some((shown, own)) = folders.summaries.as_ref().filter(|(all, _)| !is_around(all)) {
        mounts.set(shown, Access::Other(own.clone()));
    }
    let of_git = checkout.iter().flat_map(|checkout| {
        [Some(checkout.top.as_path()), checkout.common.parent()].into_iter().flatten()
    });
    for path in of_git.chain(folders.visible.iter().map(PathBuf::as_path)) {
        match files.file_kind(path) {
            Some(Kind::Link(target)) if mounts.is_covered(path) => {
                mounts.set(path, Access::Link(target));
            }
            Some(_) => mounts.show_again(path),
            None => {}
        }
    }
    hide_sockets(&mut mounts, folders, files);
    for path in folders.programs.iter().filter(|path| files.is_folder(path)) {
        // A program that an agent puts there would be run outside.
        if !path.starts_with(top) && mounts.is_in_opened(path) {
            mounts.set(path, Access::Read);
        }
    }
    mounts
}

/// Covers `/run`, where sockets of people and services lie.
fn cover_run(mounts: &mut Mounts, files: &impl Files) {
    for folder in ["/run", "/var/run"].map(Path::new).into_iter().filter(|f| files.is_folder(f)) {
        mounts.set(folder, Access::Hidden);
        for entry in OF_RUN.iter().map(|name| folder.join(name)).filter(|e| files.is_folder(e)) {
            mounts.set(entry, Access::Read);
        }
    }
}

/// Hides the sockets of services among the readable files. A writable socket stays: a person named
/// it, or it belongs to the work itself.
fn hide_sockets(mounts: &mut Mounts, folders: &Folders, files: &impl Files) {
    let is_named = |socket: &PathBuf| {
        folders.visible.contains(socket)
            || folders.needs.iter().any(|needed| socket.starts_with(needed))
            || OF_RUN.iter().any(|name| socket.starts_with(Path::new("/run").join(name)))
    };
    let sockets = folders.sockets.iter().filter(|socket| !is_named(socket));
    let is_read = |socket: &PathBuf| {
        files.file_kind(socket) == Some(Kind::Special)
            && !is_named(socket)
            && *mounts.access(socket) == Access::Read
    };
    let read = sockets.filter_map(|socket| files.real(socket)).filter(is_read);
    for socket in read.take(SOCKETS).collect::<Vec<_>>() {
        mounts.set(socket, Access::Empty);
    }
}

/// Replaces a folder by a private one that shows the entries of the real folder, read-only.
fn show_entries(mounts: &mut Mounts, folder: &Path, max: usize, files: &impl Files) {
    let entries = files.children(folder);
    if entries.len() > max {
        return;
    }
    mounts.set(folder, Access::Private);
    for entry in entries {
        match files.file_kind(&entry) {
            Some(Kind::Folder | Kind::File) => mounts.set(entry, Access::Read),
            Some(Kind::Link(target)) => mounts.set(entry, Access::Link(target)),
            _ => {}
        }
    }
}

/// Opens Claude Code's state. Settings, commands and plugins are read-only, since they run outside
/// as well. The conversations of this very folder and the login may be written. All other state is
/// the run's own.
fn open_client(mounts: &mut Mounts, client: &Path, workdir: &Path, files: &impl Files) {
    if !files.is_folder(client) {
        return;
    }
    show_entries(mounts, client, usize::MAX, files);
    for name in ["sessions", "shell-snapshots", "session-env", "todos", "debug", "statsig"] {
        if files.is_folder(&client.join(name)) {
            mounts.set(client.join(name), Access::Private);
        }
    }
    let login = client.join(".credentials.json");
    if files.is_there(&login) {
        mounts.set(login, Access::Write);
    }
    let conversations = client.join("projects").join(super::client::folder_name(workdir));
    if files.is_folder(&conversations) {
        mounts.set(conversations, Access::Write);
    }
}

fn hide(mounts: &mut Mounts, path: &Path, files: &impl Files) {
    match files.file_kind(path) {
        Some(Kind::Folder) => mounts.set(path, Access::Hidden),
        Some(_) => mounts.set(path, Access::Empty),
        None => {}
    }
}

/// Opens the paths that a commit needs, and none that can name programs for git.
fn open_git(
    mounts: &mut Mounts,
    checkout: &Checkout,
    branches: Option<&(PathBuf, PathBuf)>,
    files: &impl Files,
) {
    let common = &checkout.common;
    let pinned: Vec<String> = if checkout.is_linked() {
        // Git makes lock files beside these; they are the run's own, as is what else is made there.
        show_entries(mounts, common, usize::MAX, files);
        for name in OF_MAIN_CHECKOUT {
            mounts.forget(&common.join(name));
        }
        // Git's stashes are the run's own, and so are the logs of branches.
        show_entries(mounts, &common.join("refs"), usize::MAX, files);
        mounts.forget(&common.join("refs/stash"));
        mounts.set(checkout.top.join(".git"), Access::Read);
        mounts.set(&checkout.own, Access::Write);
        for name in ["commondir", "gitdir", "config.worktree"] {
            let path = checkout.own.join(name);
            if files.is_there(&path) {
                mounts.set(path, Access::Read);
            }
        }
        if let Some((folder, own)) = branches {
            mounts.set(folder, Access::Other(own.clone()));
        }
        mounts.set(common.join("objects"), Access::Write);
        ["objects/pack", "objects/info"].map(str::to_owned).into()
    } else {
        // The folder itself is a mount, so that nobody can move it away.
        mounts.set(common, Access::Write);
        let prefixes = files.read_small_file(&common.join(PREFIXES_FILE)).unwrap_or_default();
        let names = [
            "hooks",
            "config",
            "config.worktree",
            "info",
            "modules",
            "worktrees",
            "packed-refs",
            PREFIXES_FILE,
            "refs/el",
            "objects/pack",
            "objects/info",
        ];
        let prefixes = BranchPrefixes::parse(&prefixes);
        let branches = prefixes.iter().map(|p| format!("refs/heads/{}", p.trim_end_matches('/')));
        names.map(str::to_owned).into_iter().chain(branches).collect()
    };
    for path in pinned.iter().map(|name| common.join(name)) {
        if files.is_there(&path) {
            mounts.set(path, Access::Read);
        }
    }
}

/// Covers the tracker's folder except for the run's own parts: the way to the tracker is the
/// session socket.
fn cover_tracker(mounts: &mut Mounts, tracker: &Path, folders: &Folders, files: &impl Files) {
    mounts.set(tracker, Access::Hidden);
    for path in ["config.toml", ".gitignore", "summaries"].map(|name| tracker.join(name)) {
        if files.is_there(&path) {
            mounts.set(path, Access::Read);
        }
    }
    for path in folders.needs.iter().filter(|path| files.is_there(path)) {
        mounts.set(path, Access::Read);
    }
}
