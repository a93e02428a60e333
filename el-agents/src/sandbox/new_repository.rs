//! A repository that an agent makes where there was none. The sandbox cannot keep a new `.git`
//! read-only, and every git outside would run the programs that it names. So el puts those parts
//! aside once the run is over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::git::Git;
use crate::rundir::{RunDir, write_private};

/// The suffix of files that are put aside.
const ASIDE: &str = ".made-by-an-agent";
/// Settings that name no program and no other file, in lower case. A `*` stands for any name.
const HARMLESS: [&str; 18] = [
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "extensions.objectformat",
    "extensions.refstorage",
    "init.defaultbranch",
    "user.name",
    "user.email",
    "branch.*.remote",
    "branch.*.merge",
    "remote.*.fetch",
    "remote.*.url",
];

/// Notes that there was no repository around the folder of a run's work.
pub(super) fn note_missing(run: &RunDir) -> io::Result<()> {
    write_private(&note(run), b"").map_err(io::Error::other)
}

/// Puts aside the files that name programs in a repository that a run has made, once no process of
/// the run is left. Returns a sentence for each.
pub(super) fn remove_traps(run: &RunDir, workdir: &Path) -> Vec<String> {
    if !note(run).exists() {
        return Vec::new();
    }
    let git = workdir.join(".git");
    let Ok(found) = fs::symlink_metadata(&git) else { return Vec::new() };
    let mut told = Vec::new();
    if found.is_dir() {
        let config = git.join("config");
        match harmless_settings(&config) {
            Some((text, left_out)) if left_out.is_empty() => drop(text),
            Some((text, left_out)) => {
                put_aside(&config, &left_out.join(", "), &mut told);
                // Without a configuration, git uses the defaults of a new repository.
                let _ = fs::write(&config, text);
            }
            None => put_aside(&config, "", &mut told),
        }
        for name in ["config.worktree", "commondir", "gitdir", "modules"] {
            put_aside(&git.join(name), "", &mut told);
        }
        let hooks = git.join("hooks");
        if has_hooks(&hooks) {
            put_aside(&hooks, "", &mut told);
        }
    } else {
        // A link, or a file that names a repository elsewhere.
        put_aside(&git, "", &mut told);
    }
    told
}

fn note(run: &RunDir) -> PathBuf {
    run.path().join("no-repository")
}

fn put_aside(path: &Path, what: &str, told: &mut Vec<String>) {
    if fs::symlink_metadata(path).is_err() {
        return;
    }
    let mut aside = path.as_os_str().to_owned();
    aside.push(ASIDE);
    let aside = free_name(PathBuf::from(aside));
    let named = if what.is_empty() { String::new() } else { format!(" ({what})") };
    told.push(match fs::rename(path, &aside) {
        Ok(()) => format!(
            "the agent made a repository, and git would obey its {}{named}; it is now {}",
            path.display(),
            aside.display()
        ),
        Err(error) => format!(
            "the agent made a repository, and git obeys its {}{named}: look at it before you use \
             git there ({error})",
            path.display()
        ),
    });
}

/// Finds a free name, since an earlier run may have put a file aside under this one.
fn free_name(wanted: PathBuf) -> PathBuf {
    let numbered = |number: u32| PathBuf::from(format!("{}-{number}", wanted.display()));
    match fs::symlink_metadata(&wanted) {
        Err(_) => wanted,
        Ok(_) => {
            (2..).map(numbered).find(|path| fs::symlink_metadata(path).is_err()).unwrap_or(wanted)
        }
    }
}

/// The harmless part of a configuration as a text, and the names of the other settings; `None` if
/// it cannot be read. A missing configuration counts as empty.
fn harmless_settings(config: &Path) -> Option<(String, Vec<String>)> {
    match fs::symlink_metadata(config) {
        Err(_) => return Some(Default::default()),
        Ok(found) if !found.is_file() => return None,
        Ok(_) => {}
    }
    let file = config.as_os_str();
    // Outside of any repository, git reads this file alone and follows no `include`.
    let git = Git::at_git_folder(Path::new("/"));
    let words = ["config", "--no-includes", "--null", "--list", "--file"].map(std::ffi::OsStr::new);
    let said = git.ask(&[&words[..], &[file]].concat()).ok()?;
    let (mut kept, mut left_out) = (String::new(), Vec::new());
    for entry in said.split('\0').filter(|entry| !entry.is_empty()) {
        let (name, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        // `ext::` and the like start programs.
        if is_harmless(name) && !value.contains("::") && !value.contains(['\n', '"', '\\']) {
            let (section, key) = name.rsplit_once('.').unwrap_or((name, ""));
            let section = match section.split_once('.') {
                Some((section, of)) => format!("{section} \"{of}\""),
                None => section.to_owned(),
            };
            kept += &format!("[{section}]\n\t{key} = \"{value}\"\n");
        } else if !left_out.contains(&name.to_owned()) {
            left_out.push(name.to_owned());
        }
    }
    Some((kept, left_out))
}

fn is_harmless(name: &str) -> bool {
    HARMLESS.iter().any(|harmless| match harmless.split_once('*') {
        Some((start, end)) => {
            let middle = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
            middle.is_some_and(|middle| !middle.contains(['"', '\\', ']', '\n']))
        }
        None => name.eq_ignore_ascii_case(harmless),
    })
}

/// Returns true if a folder has hooks. Git's own examples do not count.
fn has_hooks(folder: &Path) -> bool {
    let is_example = |path: &Path| path.extension().is_some_and(|end| end == "sample");
    let is_link = fs::symlink_metadata(folder).is_ok_and(|found| !found.is_dir());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    is_link || entries.into_iter().any(|entry| !is_example(&entry.path()))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn folder() -> (tempfile::TempDir, RunDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        fs::create_dir(&work).unwrap();
        let run = RunDir::new(&dir.path().join("runs"), "run-1");
        run.create().unwrap();
        note_missing(&run).unwrap();
        (dir, run, work)
    }

    fn git(folder: &Path, words: &[&str]) {
        assert!(Command::new("git").args(words).current_dir(folder).status().unwrap().success());
    }

    #[test]
    fn an_ordinary_new_repository_stays_as_it_is() {
        let (_dir, run, work) = folder();
        assert_eq!(remove_traps(&run, &work), [""; 0]);
        git(&work, &["init", "-q"]);
        git(&work, &["config", "user.name", "Ann B"]);
        let before = fs::read_to_string(work.join(".git/config")).unwrap();
        assert_eq!(remove_traps(&run, &work), [""; 0]);
        assert_eq!(fs::read_to_string(work.join(".git/config")).unwrap(), before);
    }

    #[test]
    fn what_names_programs_is_put_aside_and_the_rest_stays() {
        let (_dir, run, work) = folder();
        git(&work, &["init", "-q"]);
        for (key, value) in [
            ("user.name", "Ann B"),
            ("branch.main.remote", "origin"),
            ("filter.x.clean", "touch ran"),
            ("core.fsmonitor", "touch ran"),
            ("core.hooksPath", "hooks"),
            ("include.path", "/tmp/more"),
            ("remote.origin.url", "ext::touch ran"),
        ] {
            git(&work, &["config", key, value]);
        }
        fs::write(work.join(".git/hooks/pre-commit"), "").unwrap();
        let told = remove_traps(&run, &work);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("core.fsmonitor, core.hookspath, filter.x.clean"), "{told:?}");
        let config = fs::read_to_string(work.join(".git/config")).unwrap();
        assert!(config.contains("\"Ann B\"") && config.contains("[branch \"main\"]"), "{config}");
        assert!(!config.contains("touch") && !config.contains("include"), "{config}");
        assert!(work.join(".git/config.made-by-an-agent").exists());
        assert!(!work.join(".git/hooks").exists());
        git(&work, &["status", "--short"]);
        assert_eq!(remove_traps(&run, &work), [""; 0]);
    }

    #[test]
    fn a_link_to_a_repository_elsewhere_is_put_aside_and_older_repositories_are_not_touched() {
        let (_dir, run, work) = folder();
        std::os::unix::fs::symlink("/tmp", work.join(".git")).unwrap();
        assert_eq!(remove_traps(&run, &work).len(), 1);
        assert!(fs::symlink_metadata(work.join(".git")).is_err());
        fs::write(work.join(".git"), "gitdir: /tmp/evil\n").unwrap();
        assert_eq!(remove_traps(&run, &work).len(), 1);
        fs::remove_file(note(&run)).unwrap();
        git(&work, &["init", "-q"]);
        git(&work, &["config", "core.fsmonitor", "touch ran"]);
        assert_eq!(remove_traps(&run, &work), [""; 0]);
    }
}
