//! The denials of the sandbox, found in what programs said of them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::settings::Network;

/// The bytes that are read from the end of an output.
const READ_MAX: u64 = 256 << 10;
/// The most denials that are reported for one call.
const TOLD_MAX: usize = 3;
/// The system's words for a write to a read-only path; in capitals or not.
const READ_ONLY: &str = "read-only file system";
/// Node's word for a write to a read-only path, on a line before the path.
const READ_ONLY_CODE: &str = "EROFS";
/// The system's words for a file that the sandbox hides.
const NOT_THERE: [&str; 2] = ["no such file or directory", "enoent"];
/// The words of programs without a network.
const UNREACHABLE: [&str; 4] = [
    "network is unreachable",
    "could not resolve host",
    "temporary failure in name resolution",
    "eai_again",
];
/// Lines around the system's words in which programs name the path.
const AROUND: usize = 4;

/// The things that a sandbox keeps from programs, besides the writes that it does not allow.
#[derive(Debug)]
pub(super) struct Denials {
    pub(super) hidden: Vec<PathBuf>,
    pub(super) home: Option<PathBuf>,
    pub(super) network: Network,
    /// Returns true if the path exists.
    pub(super) is_there: fn(&Path) -> bool,
}

impl Denials {
    /// Describes the first denials in these files, each with the setting that allows it.
    pub(super) fn find_in(&self, outputs: &[PathBuf]) -> Vec<String> {
        let mut told = Vec::new();
        for text in outputs.iter().filter_map(|path| read_end(path)) {
            self.add_found(&text, &mut told);
        }
        told
    }

    /// Finds the denials in one text, as [`Self::find_in`] does in files.
    pub(super) fn find_in_text(&self, text: &str) -> Vec<String> {
        let mut told = Vec::new();
        self.add_found(text, &mut told);
        told
    }

    fn add_found(&self, text: &str, told: &mut Vec<String>) {
        // In the stream of an agent, a line's end is two characters.
        let lines: Vec<&str> = text.lines().flat_map(|line| line.split("\\n")).collect();
        for sentence in (0..lines.len()).filter_map(|at| self.sentence_of(&lines, at)) {
            if told.len() < TOLD_MAX && !told.contains(&sentence) {
                told.push(sentence);
            }
        }
    }

    fn sentence_of(&self, lines: &[&str], at: usize) -> Option<String> {
        let line = lines[at].to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|words| line.contains(words));
        if says(&[READ_ONLY]) || lines[at].contains(READ_ONLY_CODE) {
            let path = path_around(lines, at)?;
            let folder = self.folder_to_open(Path::new(path));
            if self.is_kept_for_good(folder) {
                return Some(format!(
                    "the sandbox keeps {path} read-only, and no setting is advised: whoever writes \
                     there reaches the project itself, or what git and el run"
                ));
            }
            let mut command = open_command(folder);
            if !(self.is_there)(folder) {
                // Only an existing path can be opened.
                let folder = shell_escape::unix::escape(folder.to_string_lossy());
                command += &format!(" && mkdir -p {folder}");
            }
            return Some(format!(
                "the sandbox keeps {path} read-only; this opens its place: {command}"
            ));
        }
        if self.network == Network::Off && says(&UNREACHABLE) {
            return Some(
                "the sandbox has no network; this gives one: el config set sandbox_network on"
                    .to_owned(),
            );
        }
        if says(&NOT_THERE) {
            let is_below = |secret: &&PathBuf| {
                paths_in(lines[at]).any(|path| Path::new(path).starts_with(secret))
            };
            let secret = self.hidden.iter().find(is_below)?;
            return Some(format!(
                "the sandbox hides {}; this shows it: {}",
                secret.display(),
                open_command(secret)
            ));
        }
        None
    }

    /// Returns true for folders that no agent needs to write and that an attack would begin with:
    /// git's folder, the tracker, a checkout other than the run's own, and folders above the home.
    fn is_kept_for_good(&self, folder: &Path) -> bool {
        let ours = [".git", ".eluent"];
        folder.components().any(|part| ours.iter().any(|name| part.as_os_str() == *name))
            || ours.iter().any(|name| (self.is_there)(&folder.join(name)))
            || self.home.as_deref().is_some_and(|home| home.starts_with(folder))
    }

    /// The folder of a file, but never the home or one of the system's own.
    fn folder_to_open<'a>(&self, path: &'a Path) -> &'a Path {
        let is_narrow = |folder: &&Path| {
            folder.components().count() > 2 && self.home.as_deref() != Some(*folder)
        };
        path.parent().filter(is_narrow).unwrap_or(path)
    }
}

/// The command that lets an agent write there.
fn open_command(path: &Path) -> String {
    let path = path.to_string_lossy();
    format!("el config set --add sandbox_write {}", shell_escape::unix::escape(path))
}

fn read_end(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let len = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(READ_MAX))).ok()?;
    let mut bytes = Vec::new();
    file.take(READ_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The path that the system's words are about: before them or after, or else in a line nearby.
fn path_around<'a>(lines: &[&'a str], at: usize) -> Option<&'a str> {
    let line = lines[at];
    let words = line.to_ascii_lowercase().find(READ_ONLY).unwrap_or(0);
    let (before, after) = line.split_at_checked(words)?;
    let earlier = || lines[at.saturating_sub(AROUND)..at].iter().rev();
    let later = || lines[at + 1..].iter().take(AROUND);
    let own = paths_in(before).last().or_else(|| paths_in(after).next());
    own.or_else(|| match line.contains(READ_ONLY_CODE) {
        true => later().find_map(|line| paths_in(line).next()),
        false => earlier().find_map(|line| paths_in(line).last()),
    })
}

/// The absolute paths in a line.
fn paths_in(line: &str) -> impl Iterator<Item = &str> {
    let is_mark = |c: char| c.is_whitespace() || "'\"`‘’()[]\\,:;".contains(c);
    line.split(is_mark).filter(|word| word.len() > 1 && word.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denials(network: Network, text: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("stderr.log");
        std::fs::write(&file, text).unwrap();
        let hidden = vec!["/home/ann/.ssh".into()];
        let home = Some("/home/ann".into());
        let is_there =
            |path: &Path| ["new", ".git", ".eluent"].iter().all(|missing| !path.ends_with(missing));
        Denials { hidden, home, network, is_there }.find_in(&[file, dir.path().join("none")])
    }

    #[test]
    fn the_path_is_taken_from_what_programs_say() {
        for said in [
            "touch: cannot touch '/opt/x/y': Read-only file system",
            "sh: 1: cannot create /opt/x/y: Read-only file system",
            "fatal: Unable to create '/opt/x/y': Read-only file system",
            "Error: EROFS: read-only file system, mkdir '/opt/x/y'",
            "npm error code EROFS\nnpm error syscall mkdir\nnpm error path /opt/x/y",
            "open /opt/x/y: read-only file system",
            "OSError: [Errno 30] Read-only file system: '/opt/x/y'",
            "error: failed to open: /opt/x/y\n\nCaused by:\n  Read-only file system (os error 30)",
            r#"{"content":"failed to open `/opt/x/y`\n\nCaused by:\n  Read-only file system"}"#,
            "java.io.FileNotFoundException: /opt/x/y (Read-only file system)",
        ] {
            let told = denials(Network::On, said);
            assert_eq!(told.len(), 1, "{said}");
            let expected = "the sandbox keeps /opt/x/y read-only; this opens its place: \
                            el config set --add sandbox_write /opt/x";
            assert_eq!(told[0], expected);
        }
        for (path, opened) in [
            ("/home/ann/.tool", "/home/ann/.tool"),
            ("/home/ann/.tool/a", "/home/ann/.tool"),
            ("/usr/x", "/usr/x"),
            ("/opt/x/new/y", "/opt/x/new && mkdir -p /opt/x/new"),
        ] {
            let told = denials(Network::On, &format!("rm: '{path}': Read-only file system"));
            assert!(told[0].ends_with(&format!(" --add sandbox_write {opened}")), "{told:?}");
        }
        let without = "touch: cannot touch 'y': Read-only file system";
        assert_eq!(denials(Network::On, without), [""; 0]);
    }

    #[test]
    fn nothing_is_advised_that_would_open_the_project() {
        for path in ["/p/.git/hooks/x", "/p/.git/x", "/p/.eluent/el.db", "/shop/tea/x"] {
            let is_there = |path: &Path| path == Path::new("/shop/tea/.git");
            let home = Some("/home/ann".into());
            let denials = Denials { hidden: Vec::new(), home, network: Network::On, is_there };
            let told = denials.find_in_text(&format!("touch: '{path}': Read-only file system"));
            assert!(told.len() == 1 && !told[0].contains("config set"), "{told:?}");
        }
    }

    #[test]
    fn each_path_is_told_once() {
        let line = "touch: cannot touch '/opt/x': Read-only file system\n";
        assert_eq!(denials(Network::On, &line.repeat(9)).len(), 1);
    }

    #[test]
    fn a_hidden_secret_and_a_missing_network_are_told() {
        let said = "cat: /home/ann/.ssh/config: No such file or directory\n\
                    cat: /home/ann/other: No such file or directory\n\
                    curl: (6) Could not resolve host: example.com\n";
        let hidden = "the sandbox hides /home/ann/.ssh; this shows it: el config set --add";
        let told = denials(Network::On, said);
        assert!(told.len() == 1 && told[0].starts_with(hidden), "{told:?}");
        let told = denials(Network::Off, said);
        assert!(
            told.len() == 2 && told[1].ends_with("el config set sandbox_network on"),
            "{told:?}"
        );
    }
}
