//! The sandbox on macOS: a profile for `sandbox-exec`. Written from Apple's profiles and not tried
//! on a Mac (docs/sandbox.md).
//!
//! A profile allows and denies, but cannot show another file in a file's place. So a private folder
//! is read-only. Files of which a run has its own copy on Linux are written in their real place.

use std::fmt::Write as _;
use std::path::Path;

use super::mounts::{Access, Mounts};
use super::plan::Folders;
use crate::settings::Network;

/// The program, which every macOS has.
pub(super) const PROGRAM: &str = "/usr/bin/sandbox-exec";
/// Folders of temporary files, which all programs of a user share.
const TEMPORARY: [&str; 4] = ["/dev", "/private/tmp", "/private/var/tmp", "/private/var/folders"];
/// Sockets of services.
const SERVICES: [&str; 2] = ["/private/var/run", "/private/tmp/com.apple.launchd"];

/// Lets files be written in their real place, instead of the run's own copies.
pub(super) fn without_replacements(folders: &mut Folders) {
    let pairs = [&mut folders.client_file, &mut folders.summaries, &mut folders.branches];
    for (shown, own) in pairs.into_iter().flatten() {
        own.clone_from(shown);
    }
}

/// Renders the profile. Of two rules about a file, the later one holds.
pub(super) fn profile(mounts: &Mounts, client: Option<&Path>, network: Network) -> String {
    let mut text = "(version 1)\n(allow default)\n(deny file-write*)\n\
                    (deny signal)\n(allow signal (target same-sandbox))\n\
                    (deny process-info*)\n(allow process-info* (target same-sandbox))\n"
        .to_owned();
    for folder in TEMPORARY {
        add(&mut text, "allow file-write*", folder.as_ref());
    }
    for (path, access) in mounts.iter() {
        let is_of_client = client.is_some_and(|client| path.parent() == Some(client));
        match access {
            Access::Write | Access::Scratch | Access::Other(_) => {
                add(&mut text, "allow file-read* file-write*", path);
            }
            Access::Private if is_of_client => {
                add(&mut text, "allow file-read* file-write*", path);
            }
            Access::Read | Access::Private => {
                add(&mut text, "allow file-read*", path);
                add(&mut text, "deny file-write*", path);
            }
            Access::Hidden | Access::Empty => add(&mut text, "deny file-read* file-write*", path),
            Access::Link(_) => {}
        }
    }
    if network == Network::Off {
        text += "(deny network*)\n(allow network* (local ip \"localhost:*\"))\n\
                 (allow network* (remote ip \"localhost:*\"))\n\
                 (allow network* (remote unix-socket))\n";
    }
    for folder in SERVICES {
        // Writing to a String cannot fail.
        let _ =
            writeln!(text, "(deny network-outbound (remote unix-socket (subpath \"{folder}\")))");
    }
    text
}

fn add(text: &mut String, rule: &str, path: &Path) {
    let path = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let _ = writeln!(text, "({rule} (subpath \"{path}\"))");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_stand_in_the_order_of_the_paths_and_names_are_quoted() {
        let mut mounts = Mounts::default();
        mounts.set("/Users/ann", Access::Private);
        mounts.set("/Users/ann/.ssh", Access::Hidden);
        mounts.set("/Users/ann/.claude", Access::Private);
        mounts.set("/Users/ann/.claude/todos", Access::Private);
        mounts.set("/Users/ann/a \"b\"", Access::Write);
        mounts.set("/Users/ann/a \"b\"/.git", Access::Read);
        mounts.set("/Users/ann/link", Access::Link("/".into()));
        let text = profile(&mounts, Some("/Users/ann/.claude".as_ref()), Network::Off);
        let rules: Vec<&str> = text.lines().filter(|line| line.contains("/Users")).collect();
        assert_eq!(
            rules,
            [
                r#"(allow file-read* (subpath "/Users/ann"))"#,
                r#"(deny file-write* (subpath "/Users/ann"))"#,
                r#"(allow file-read* (subpath "/Users/ann/.claude"))"#,
                r#"(deny file-write* (subpath "/Users/ann/.claude"))"#,
                r#"(allow file-read* file-write* (subpath "/Users/ann/.claude/todos"))"#,
                r#"(deny file-read* file-write* (subpath "/Users/ann/.ssh"))"#,
                r#"(allow file-read* file-write* (subpath "/Users/ann/a \"b\""))"#,
                r#"(allow file-read* (subpath "/Users/ann/a \"b\"/.git"))"#,
                r#"(deny file-write* (subpath "/Users/ann/a \"b\"/.git"))"#,
            ]
        );
        assert!(text.starts_with("(version 1)\n(allow default)\n(deny file-write*)\n"));
        assert!(text.contains("(deny network*)\n"));
        let open = text.matches('(').count();
        assert_eq!(open, text.matches(')').count(), "{text}");
        let text = profile(&mounts, None, Network::On);
        assert!(!text.contains("(deny network*)"));
    }

    #[test]
    fn nothing_is_shown_in_anothers_place() {
        let pair = |shown: &str| Some((shown.into(), "/run/own".into()));
        let mut folders = Folders {
            client_file: pair("/a"),
            summaries: pair("/b"),
            branches: None,
            ..Folders::default()
        };
        without_replacements(&mut folders);
        assert_eq!(folders.client_file, Some(("/a".into(), "/a".into())));
        assert_eq!(folders.summaries, Some(("/b".into(), "/b".into())));
    }
}
