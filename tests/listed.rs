//! Every test file is named by a `mod` line. A file without one would never be compiled.

use std::path::{Path, PathBuf};

#[test]
fn every_test_file_is_listed() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let missing: Vec<String> = rust_files(&tests)
        .into_iter()
        .filter(|file| !is_listed(file))
        .map(|file| file.display().to_string())
        .collect();
    assert!(missing.is_empty(), "no `mod` line names {missing:?}");
}

/// A folder with a `main.rs` is a program and lists its files there; the files of other folders are
/// listed in the file with the folder's name.
fn is_listed(file: &Path) -> bool {
    let name = file.file_stem().unwrap().to_str().unwrap();
    let folder = file.parent().unwrap();
    let main = folder.join("main.rs");
    if *file == main {
        return true;
    }
    let list = if main.exists() { main } else { folder.with_extension("rs") };
    let list = std::fs::read_to_string(list).unwrap_or_default();
    list.lines().any(|line| {
        let line = line.trim().trim_start_matches("pub(crate) ");
        line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) == Some(name)
    })
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.extension() {
            _ if path.is_dir() => rust_files(&path),
            Some(extension) if extension == "rs" => vec![path],
            _ => Vec::new(),
        })
        .collect()
}
