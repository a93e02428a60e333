//! Finds what a repository tells Claude Code to do: settings, hooks, servers, agents, skills.
//!
//! The client loads these files without asking in `-p`. They start programs and set variables, so
//! a person has to trust them. Plain text for the model (`CLAUDE.md`, rules) is not among them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::artifacts::sha256_hex;
use crate::git::main_worktree;
use crate::settings::ProjectFile;

const FOLDER: &str = ".claude";
const SERVERS: &str = ".mcp.json";
/// Names in `.claude` that start nothing: text for the model, and the client's own worktrees.
const TEXTS: [&str; 3] = ["CLAUDE.md", "rules", "worktrees"];
/// More files, larger files or deeper folders are not what people keep there.
const FILES_MAX: usize = 2000;
const FILE_MAX: u64 = 8 << 20;
const DEPTH_MAX: usize = 16;

/// Returns the files that the client would load for a session in this folder: from the folder up
/// to the top of its worktree, and from the top of the main worktree.
///
/// # Errors
/// If a file cannot be read, or there are too many. Such files cannot be trusted.
pub fn project_files(folder: &Path) -> io::Result<BTreeSet<ProjectFile>> {
    let folder = fs::canonicalize(folder)?;
    let mut files = BTreeSet::new();
    let top = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder);
    for above in folder.ancestors().take_while(|above| above.starts_with(top)) {
        collect_files(top, above, &mut files)?;
    }
    if let Some(main) = main_worktree(top) {
        collect_files(&main, &main, &mut files)?;
    }
    Ok(files)
}

fn collect_files(top: &Path, folder: &Path, files: &mut BTreeSet<ProjectFile>) -> io::Result<()> {
    add(top, &folder.join(SERVERS), files, 0)?;
    let of_client = folder.join(FOLDER);
    let entries = match fs::read_dir(&of_client) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let name = entry?.file_name();
        if !TEXTS.iter().any(|text| name == *text) {
            add(top, &of_client.join(name), files, 0)?;
        }
    }
    Ok(())
}

/// Adds a file, or what is in a folder. Links are followed: the client does so too.
fn add(top: &Path, path: &Path, files: &mut BTreeSet<ProjectFile>, depth: usize) -> io::Result<()> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        // Nothing, or a link that leads nowhere: the client finds nothing there either.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let too_much = || io::Error::other(format!("{} is more than can be trusted", path.display()));
    if depth > DEPTH_MAX || files.len() >= FILES_MAX {
        return Err(too_much());
    }
    if meta.is_dir() {
        for entry in fs::read_dir(path)? {
            add(top, &entry?.path(), files, depth + 1)?;
        }
        return Ok(());
    }
    if !meta.is_file() || meta.len() > FILE_MAX {
        return Err(too_much());
    }
    let name = path.strip_prefix(top).unwrap_or(path);
    let sha256 = sha256_hex(&fs::read(path)?);
    files.insert(ProjectFile { path: name.to_string_lossy().into_owned(), sha256 });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        project_files(folder).unwrap().into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn what_the_client_obeys_is_found_and_text_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("repository");
        fs::create_dir_all(top.join(".git")).unwrap();
        for file in [
            ".claude/settings.json",
            ".claude/skills/x/SKILL.md",
            ".claude/CLAUDE.md",
            ".claude/rules/style.md",
            ".mcp.json",
            "CLAUDE.md",
            "sub/.claude/settings.local.json",
            "other/.mcp.json",
        ] {
            write(&top.join(file), file);
        }
        write(&dir.path().join(".mcp.json"), "above the repository");
        assert_eq!(
            names(&top),
            [".claude/settings.json", ".claude/skills/x/SKILL.md", ".mcp.json"]
        );
        let all = names(&top.join("sub"));
        assert_eq!(all.len(), 4);
        assert!(all.contains(&"sub/.claude/settings.local.json".to_owned()));
    }

    #[test]
    fn the_main_worktree_counts_too() {
        let dir = tempfile::tempdir().unwrap();
        let (main, linked) = (dir.path().join("main"), dir.path().join("linked"));
        write(&main.join(".git/worktrees/linked/commondir"), "../..\n");
        write(&main.join(".claude/settings.local.json"), "of main");
        write(&linked.join(".claude/settings.json"), "of linked");
        let at = main.join(".git/worktrees/linked");
        write(&linked.join(".git"), &format!("gitdir: {}\n", at.display()));
        assert_eq!(names(&linked), [".claude/settings.json", ".claude/settings.local.json"]);
    }

    #[test]
    fn a_link_stands_for_what_it_leads_to_and_a_circle_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        write(&top.join(".git/HEAD"), "");
        write(&top.join("kept/settings.json"), "one");
        symlink("kept", top.join(".claude")).unwrap();
        let before = project_files(top).unwrap();
        write(&top.join("kept/settings.json"), "two");
        assert_ne!(project_files(top).unwrap(), before);
        symlink("..", top.join("kept/round")).unwrap();
        assert!(project_files(top).is_err());
    }
}
