//! The second layer, within bubblewrap's: Landlock, where the kernel has it.
//!
//! Bubblewrap's mounts decide which paths may be written. Landlock repeats that for files, refuses
//! further mounts, and keeps abstract sockets and signals within the sandbox. An `el` inside enters
//! the layer and then becomes the program, since Landlock would keep bubblewrap from its mounts.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::exit::OWN_WORDS;

/// The first argument of the `el` that enters the layer.
pub const ENTER: &str = "--enter-sandbox";
/// The word between the paths and the program.
const END_OF_PATHS: &str = "--";

/// The actions that this kernel's Landlock keeps a program from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Landlock {
    /// No Landlock, or one that is too old to allow renames between folders.
    Missing,
    /// Restricts writes to files, and mounts.
    Files,
    /// Restricts abstract sockets and signals too.
    FilesAndSockets,
}

impl Landlock {
    /// Returns the Landlock of this kernel, which is asked once in a process.
    pub(super) fn of_kernel() -> Landlock {
        static FOUND: OnceLock<Landlock> = OnceLock::new();
        *FOUND.get_or_init(kernel::ask_kernel)
    }

    fn decide(has_files: bool, has_scopes: bool) -> Landlock {
        match (has_files, has_scopes) {
            (false, _) => Landlock::Missing,
            (true, false) => Landlock::Files,
            (true, true) => Landlock::FilesAndSockets,
        }
    }

    /// In words for people, after the name of the sandbox. `has_network`: abstract sockets belong
    /// to a network, and without one there are none.
    pub(super) fn summary(self, has_network: bool) -> &'static str {
        match (self, has_network) {
            (Landlock::FilesAndSockets, _) | (Landlock::Files, false) => " and Landlock",
            (Landlock::Files, true) => {
                " and Landlock, which keeps no abstract sockets here (Linux before 6.12)"
            }
            (Landlock::Missing, true) => {
                "; the kernel has no Landlock to keep abstract sockets (D-Bus, X11)"
            }
            (Landlock::Missing, false) => "",
        }
    }

    /// The words before a program's own that start the program in the layer, by way of this `el`.
    /// `workdir`: the folder that it has to find itself in.
    pub(super) fn entering_words(
        self,
        el: &Path,
        workdir: &Path,
        writable: Vec<PathBuf>,
    ) -> Vec<OsString> {
        if self == Landlock::Missing {
            return Vec::new();
        }
        let paths = writable.into_iter().map(PathBuf::into_os_string);
        let start = [el.into(), ENTER.into(), kernel::folder_identity(workdir).into()];
        start.into_iter().chain(paths).chain([END_OF_PATHS.into()]).collect()
    }
}

/// Enters the layer and becomes the program. Returns only if that fails, when the program must not
/// run. `words`: the identity of the present folder, the paths that may be written, `--`, the
/// program and its arguments.
pub fn enter(words: &[OsString]) -> std::process::ExitCode {
    let (workdir, words) = words
        .split_first()
        .map_or((OsStr::new(""), words), |(first, rest)| (first.as_os_str(), rest));
    let end = words.iter().position(|word| word == OsStr::new(END_OF_PATHS));
    let (paths, rest) = words.split_at(end.unwrap_or(words.len()));
    let why = match rest.get(1..).and_then(<[OsString]>::split_first) {
        // A link that was made in between led bubblewrap to another folder.
        Some(_) if workdir != kernel::folder_identity(Path::new(".")).as_str() => {
            "the folder of the work was replaced meanwhile".to_owned()
        }
        Some((program, arguments)) => match kernel::restrict(paths) {
            Ok(()) => {
                let error = Command::new(program).args(arguments).exec();
                format!("{} cannot be run: {error}", program.display())
            }
            Err(error) => error,
        },
        None => "no program is named".to_owned(),
    };
    // Read by the supervisor, which has this process's standard error.
    let _ = writeln!(std::io::stderr(), "{}{why}", OWN_WORDS[1]);
    std::process::ExitCode::FAILURE
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::ffi::OsString;
    use std::io::{stderr, stdout};
    use std::os::fd::{AsFd, BorrowedFd};
    use std::path::Path;

    use landlock::{
        ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, Ruleset,
        RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
    };
    use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};

    use super::Landlock;

    /// The version that is requested; older kernels restrict less.
    const KNOWN: ABI = ABI::V6;
    /// The oldest version that can be used: before it, no file can be moved to another folder.
    const NEEDED: ABI = ABI::V2;

    pub(super) fn ask_kernel() -> Landlock {
        let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let files = strict().handle_access(AccessFs::from_write(NEEDED)).and_then(Ruleset::create);
        let scopes = strict().scope(Scope::from_all(KNOWN)).and_then(Ruleset::create);
        Landlock::decide(files.is_ok(), scopes.is_ok())
    }

    /// Identifies a folder by its inode and device, not by its name. Empty if a link leads there.
    pub(super) fn folder_identity(folder: &Path) -> String {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let found = openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
            .and_then(|opened| fstat(&opened));
        found.map(|found| format!("{}:{}", found.st_dev, found.st_ino)).unwrap_or_default()
    }

    pub(super) fn restrict(paths: &[OsString]) -> Result<(), String> {
        try_restrict(paths).map_err(|error| format!("Landlock refuses: {error}"))
    }

    fn try_restrict(paths: &[OsString]) -> Result<(), RulesetError> {
        let write = AccessFs::from_write(KNOWN);
        let (stdout, stderr) = (stdout(), stderr());
        let own = [stdout.as_fd(), stderr.as_fd()].into_iter().filter(|fd| is_reopened(*fd));
        Ruleset::default()
            .handle_access(write)?
            .scope(Scope::from_all(KNOWN))?
            .create()?
            .add_rules(path_beneath_rules(paths, write))?
            .add_rules(own.map(|fd| {
                Ok::<_, RulesetError>(PathBeneath::new(fd, write & AccessFs::from_file(KNOWN)))
            }))?
            .restrict_self()
            .map(drop)
    }

    /// Returns true if programs reopen the stream by `/dev/stdout`, as a file that lies outside.
    fn is_reopened(stream: BorrowedFd<'_>) -> bool {
        let kind = fstat(stream).map(|stat| FileType::from_raw_mode(stat.st_mode));
        matches!(kind, Ok(FileType::RegularFile | FileType::CharacterDevice))
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::ffi::OsString;
    use std::path::Path;

    use super::Landlock;

    pub(super) fn ask_kernel() -> Landlock {
        Landlock::decide(false, false)
    }

    pub(super) fn folder_identity(_: &Path) -> String {
        String::new()
    }

    pub(super) fn restrict(_: &[OsString]) -> Result<(), String> {
        Err("there is no Landlock".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_gets_what_it_has_and_what_it_lacks_is_told() {
        for (files, scopes, expected, told) in [
            (false, false, Landlock::Missing, "no Landlock to keep abstract sockets"),
            (false, true, Landlock::Missing, "no Landlock to keep abstract sockets"),
            (true, false, Landlock::Files, "keeps no abstract sockets here"),
            (true, true, Landlock::FilesAndSockets, " and Landlock"),
        ] {
            let found = Landlock::decide(files, scopes);
            assert_eq!(found, expected);
            assert!(found.summary(true).contains(told), "{found:?}");
            assert!(!found.summary(false).contains("sockets"), "without a network there are none");
            let words =
                found.entering_words("/bin/el".as_ref(), "/nowhere".as_ref(), vec!["/w".into()]);
            let expected: &[&str] = match found {
                Landlock::Missing => &[],
                _ => &["/bin/el", ENTER, "", "/w", "--"],
            };
            assert_eq!(words, expected, "{found:?}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_folder_is_known_by_its_number_and_a_link_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let (work, link) = (top.join("work"), top.join("link"));
        std::fs::create_dir(&work).unwrap();
        std::os::unix::fs::symlink(&work, &link).unwrap();
        let known = kernel::folder_identity(&work);
        assert!(!known.is_empty());
        std::fs::rename(&work, top.join("moved")).unwrap();
        assert_eq!(kernel::folder_identity(&top.join("moved")), known);
        assert_eq!(kernel::folder_identity(&link), "");
        std::os::unix::fs::symlink(&top, &work).unwrap();
        assert_eq!(kernel::folder_identity(&work.join("moved")), "", "a link above it");
    }
}
