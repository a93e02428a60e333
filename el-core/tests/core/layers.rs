//! The layers of the three crates, read from their imports: dependencies point one way, SQL stays
//! in `store/`, and no modules import each other in a circle.

mod imports;

use std::collections::{BTreeMap, BTreeSet};

use imports::{Crate, root};

/// The siblings that each module of `el-core` may import. All modules share `error`, `ctx` and
/// `counted`, which import `model` and `text` alone.
const CORE: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("counted", &[]),
    ("model", &["text", "error", "counted"]),
    ("error", &["text", "model"]),
    ("ctx", &["model"]),
    ("rules", &["text", "counted", "model", "error", "ctx"]),
    ("protocol", &["text", "counted", "model", "error", "ctx"]),
    ("store", &["text", "counted", "model", "error", "ctx"]),
    ("exchange", &["text", "counted", "model", "error", "ctx", "rules", "protocol"]),
    (
        "ops",
        &["text", "counted", "model", "error", "ctx", "rules", "protocol", "store", "exchange"],
    ),
];

/// `error` and `model` are one floor: every noun can be refused, and errors name nouns. Add none.
const KNOWN_CIRCLES: &[(&str, &[&str])] = &[("el-core/", &["error", "model"])];

#[test]
fn each_module_of_the_core_imports_only_lower_ones() {
    let core = Crate::read("el-core");
    for (from, to, file) in core.imports() {
        let (Some(from), Some(to)) = (from.first(), to.first()) else { continue };
        if from == to {
            continue;
        }
        let allowed = CORE.iter().find(|(name, _)| name == from).map(|(_, allowed)| *allowed);
        let allowed = allowed.unwrap_or_else(|| panic!("give {from} its place in CORE"));
        assert!(allowed.contains(&to.as_str()), "{file} ({from}) must not import {to}");
    }
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let mut circles = Vec::new();
    for name in ["el-core", "el-agents", "el-cli"] {
        // Which sibling imports which, in each folder. A folder counts as one, with the file that
        // has its name.
        let mut folders: BTreeMap<Vec<String>, BTreeMap<String, BTreeSet<String>>> =
            BTreeMap::new();
        for (from, to, _) in Crate::read(name).imports() {
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(common), to.get(common)) {
                let siblings = folders.entry(from[..common].to_vec()).or_default();
                siblings.entry(a.clone()).or_default().insert(b.clone());
            }
        }
        for (folder, siblings) in folders {
            circles.extend(circle(&siblings).map(|c| format!("{name}/{}: {c}", folder.join("/"))));
        }
    }
    circles.retain(|circle| {
        let is_within = |(folder, members): (&str, &str)| {
            KNOWN_CIRCLES.iter().any(|(at, known)| {
                *at == folder && members.split(", ").all(|member| known.contains(&member))
            })
        };
        !circle.split_once(": ").is_some_and(is_within)
    });
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn sql_is_in_the_store_alone() {
    const SQL: [&str; 5] = ["SELECT ", "INSERT INTO ", "DELETE FROM ", "CREATE TABLE ", "PRAGMA "];
    for name in ["el-core", "el-agents", "el-cli"] {
        for module in Crate::read(name).modules.values() {
            let path = module.path.display();
            if name == "el-core" && module.at.first().is_some_and(|at| at == "store") {
                // Statements run on any engine; these are about SQLite's files.
                let of_sqlite = ["engine", "open", "migrate", "backup", "integrity"];
                let is_of_sqlite = module.at.get(1).is_none_or(|at| of_sqlite.contains(&&**at));
                assert!(is_of_sqlite || !module.has_word("rusqlite"), "{path}: rusqlite");
                continue;
            }
            for sql in SQL {
                assert!(
                    !module.texts.iter().any(|text| text.trim_start().starts_with(sql)),
                    "{path}: {sql}"
                );
            }
            let may_name_its_errors = name == "el-core" && module.at == ["error"];
            assert!(may_name_its_errors || !module.has_word("rusqlite"), "{path}: rusqlite");
        }
    }
}

#[test]
fn the_core_has_no_world_and_the_crates_point_one_way() {
    let manifest = |name: &str| std::fs::read_to_string(root().join(name).join("Cargo.toml"));
    let depends = |name: &str, on: &str| {
        let text = manifest(name).unwrap();
        let normal = text.split("[dev-dependencies]").next().unwrap();
        normal.lines().any(|line| line.split(['.', ' ', '=']).next() == Some(on))
    };
    for (name, never) in [
        ("el-core", &["tokio", "clap", "el-agents", "el-cli"][..]),
        ("el-agents", &["clap", "rusqlite", "el-cli"]),
        ("el-cli", &["rusqlite"]),
    ] {
        for on in never {
            assert!(!depends(name, on), "{name} must not depend on {on}");
        }
    }
    assert!(depends("el-agents", "el-core") && depends("el-cli", "el-agents"));
    for module in Crate::read("el-core").modules.values() {
        let path = module.path.display();
        for word in ["tokio", "clap"] {
            assert!(!module.has_word(word), "{path}: {word}");
        }
        for word in ["println", "eprintln", "print", "eprint"] {
            assert!(!module.has_macro(word), "{path}: {word}!");
        }
    }
}

/// Modules that reach each other, if there are any.
fn circle(imports: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    let reach = |start: &String| {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![start]);
        while let Some(next) = todo.pop() {
            for to in imports.get(next).into_iter().flatten() {
                if seen.insert(to) {
                    todo.push(to);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        imports.keys().map(|name| (name, reach(name))).collect();
    let within = |a: &&String, b: &&String| {
        reached[*a].contains(*b) && reached.get(*b).is_some_and(|back| back.contains(*a))
    };
    let first = reached.keys().find(|name| within(name, name))?;
    let members: Vec<&str> =
        reached.keys().filter(|name| within(first, name)).map(|name| name.as_str()).collect();
    Some(members.join(", "))
}
