//! A file written by br itself (see tests/data/import/README.md): every count, edge and id is
//! compared with the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use super::import::sample;
use crate::support::TestEnv;

const FILE: &str = "br-0.1.12.jsonl";

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn list<'a>(issue: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    issue[key].as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// An edge in el's terms: source, target and kind.
fn edge(issue: &Value, dependency: &Value) -> (String, String, &'static str) {
    let (own, other) = (text(&issue["id"]), text(&dependency["depends_on_id"]));
    match dependency["type"].as_str().unwrap() {
        "blocks" => (other, own, "blocks"),
        "waits-for" => (other, own, "waits_for"),
        "conditional-blocks" => (other, own, "conditional_blocks"),
        "discovered-from" => (other, own, "discovered_from"),
        "related" | "relates-to" => (other, own, "related"),
        "duplicates" => (own, other, "duplicates"),
        "replies-to" => (own, other, "replies_to"),
        _ => (own, other, "related"),
    }
}

#[test]
fn an_export_of_br_comes_in_with_every_count_edge_and_id() {
    let env = TestEnv::with_tracker();
    let issues = rows(&fs::read_to_string(sample(FILE)).unwrap());
    let report = env.robot(&["import", &sample(FILE)]);
    assert_eq!((&report["format"], &report["created"]), (&"bd".into(), &issues.len().into()));

    let export = rows(&env.el(&["export"]).ok().stdout);
    let of = |kind: &'static str| export.iter().filter(move |row| row["_type"] == kind);
    let theirs: BTreeMap<String, String> =
        of("atom").map(|atom| (text(&atom["id"]), source_id(atom))).collect();
    let atoms: BTreeMap<String, &Value> = of("atom").map(|atom| (source_id(atom), atom)).collect();
    assert_eq!(atoms.keys().cloned().collect::<Vec<_>>(), ids(&issues));
    for issue in &issues {
        let atom = atoms[issue["id"].as_str().unwrap()];
        for key in ["title", "priority", "assignee", "created_by", "labels"] {
            let there = if issue[key].is_null() && key == "labels" {
                &Value::Array(Vec::new())
            } else {
                &issue[key]
            };
            assert_eq!(&atom[key], there, "{key} of {issue:#}");
        }
        assert_eq!(
            env.show(issue["id"].as_str().unwrap())["id"],
            atom["id"],
            "the old id is a name"
        );
        let parent = list(issue, "dependencies")
            .find(|d| d["type"] == "parent-child")
            .map(|d| text(&d["depends_on_id"]));
        assert_eq!(atom["parent_id"].as_str().map(|id| theirs[id].clone()), parent);
        for key in
            ["estimated_minutes", "due_at", "owner", "source_repo", "original_type", "deleted_by"]
        {
            assert_eq!(atom["metadata"]["source"][key], issue[key], "{key} is kept");
        }
    }

    let known = ids(&issues);
    let wanted: BTreeSet<_> = issues
        .iter()
        .flat_map(|issue| list(issue, "dependencies").map(move |d| (issue, d)))
        .filter(|(_, d)| d["type"] != "parent-child" && known.contains(&text(&d["depends_on_id"])))
        .map(|(issue, dependency)| edge(issue, dependency))
        .collect();
    let end = |bond: &Value, key: &str| theirs[bond[key].as_str().unwrap()].clone();
    let found: BTreeSet<_> = of("bond")
        .map(|bond| {
            (end(bond, "source_id"), end(bond, "target_id"), text(&bond["dependency_type"]))
        })
        .collect();
    assert_eq!(
        found,
        wanted
            .into_iter()
            .map(|(source, target, kind)| (source, target, kind.to_owned()))
            .collect()
    );
    assert_eq!((found.len(), report["bonds_added"].as_u64()), (10, Some(10)));

    let said =
        |row: &Value, id: String, content: &str| (id, text(&row["author"]), text(&row[content]));
    let remarks: BTreeSet<_> = issues
        .iter()
        .flat_map(|issue| list(issue, "comments").map(|c| said(c, text(&issue["id"]), "text")))
        .collect();
    assert_eq!(
        of("comment").map(|c| said(c, end(c, "parent_id"), "content")).collect::<BTreeSet<_>>(),
        remarks
    );
    assert_eq!(remarks.len(), 2);
}

#[test]
fn what_br_says_in_other_words_is_told_and_means_the_same() {
    let env = TestEnv::with_tracker();
    let report = env.robot(&["import", &sample(FILE)]);
    let notes: BTreeSet<_> = list(&report, "notes").map(|note| text(&note["what"])).collect();
    for want in [
        "a bond 'blocks' whose other end is nowhere",
        "dependency 'caused-by' became related",
        "dependency 'supersedes' became related",
        "status 'pinned' became deferred",
        "type 'chore' became task",
        "type 'docs' became task",
        "type 'question' became discovery",
        "who made a dependency",
    ] {
        assert!(notes.contains(want), "{want} is missing in {notes:#?}");
    }
    let all = env.robot(&["list", "--all", "--include-discarded"]);
    let by_title: BTreeMap<_, _> =
        list(&all, "items").map(|atom| (text(&atom["title"]), atom)).collect();
    for (title, status, reason) in [
        ("Pay by card", "open", None),
        ("Round as the bank does", "in_progress", None),
        ("Pay by invoice", "blocked", None),
        ("Loyalty points", "deferred", None),
        ("Bring the libraries up to date", "deferred", None),
        ("Read this first", "deferred", None),
        ("Draw a logo", "closed", Some("drawn")),
        ("Send bills by pigeon", "closed", Some("failed: they are slow")),
        ("Draw the logo again", "discard", Some("a double")),
    ] {
        assert_eq!(
            (&by_title[title]["status"], by_title[title]["close_reason"].as_str()),
            (&status.into(), reason),
            "{title}"
        );
    }
    let parse = env.show("JIRA-12");
    assert_eq!(
        parse["description"],
        "1.000,00 becomes 1.\n\n## Design\n\nOne parser, per locale.\n\n## Notes\n\n\
         See the log of 3 May."
    );
    assert_eq!(parse["acceptance"], "- [ ] German prices\n- [ ] Swiss prices");
    // The parser is ready; its dependents, their dependents and the epic are not.
    let ready: BTreeSet<_> =
        list(&env.robot(&["ready"]), "items").map(|atom| text(&atom["title"])).collect();
    assert_eq!(
        ready,
        BTreeSet::from(["Prices are read wrong".to_owned(), "Which currencies?".to_owned()])
    );
}

#[test]
fn an_export_of_br_changes_nothing_when_it_comes_again() {
    let env = TestEnv::with_tracker();
    env.robot(&["import", &sample(FILE)]);
    let before = env.el(&["export"]).ok().stdout;
    let again = env.robot(&["import", &sample(FILE)]);
    for key in ["created", "updated", "bonds_added", "bonds_removed", "comments_added"] {
        assert_eq!(again[key], 0, "{key}");
    }
    assert_eq!((&again["unchanged"], env.el(&["export"]).ok().stdout), (&14.into(), before));
}

fn source_id(atom: &Value) -> String {
    text(&atom["metadata"]["source"]["id"])
}

fn ids(issues: &[Value]) -> Vec<String> {
    let mut ids: Vec<String> = issues.iter().map(|issue| text(&issue["id"])).collect();
    ids.sort();
    ids
}
