//! A bd export of ten thousand issues, imported without loss.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::support::TestEnv;

const ISSUES: usize = 10_000;

/// The parent issue: every tenth issue is an epic of the next nine.
fn epic_of(n: usize) -> Option<usize> {
    (!n.is_multiple_of(10)).then_some(n - n % 10)
}

/// The blockers: the elder sibling, and a distant issue.
fn blockers_of(n: usize) -> Vec<usize> {
    let near = (n % 10 > 1).then(|| n - 1);
    let far = (n % 7 == 3 && n % 10 == 1 && n > 500).then(|| n - 500);
    near.into_iter().chain(far).collect()
}

fn file() -> String {
    let mut text = String::new();
    for n in 0..ISSUES {
        let on = |other: usize, kind: &str| {
            format!(
                "{{\"issue_id\":\"x-{n}\",\"depends_on_id\":\"x-{other}\",\"type\":\"{kind}\",\
                 \"created_at\":\"2026-01-01T00:00:00Z\"}}"
            )
        };
        let families = epic_of(n).into_iter().map(|epic| on(epic, "parent-child"));
        let bonds: Vec<String> =
            families.chain(blockers_of(n).into_iter().map(|other| on(other, "blocks"))).collect();
        let status = if n % 3 == 0 { "closed" } else { "open" };
        let remark = format!(
            "{{\"id\":{n},\"issue_id\":\"x-{n}\",\"author\":\"ann\",\"text\":\"remark \
             {n}\",\"created_at\":\"2026-01-01T00:00:00Z\"}}"
        );
        let remark = if n % 4 == 0 { remark } else { String::new() };
        writeln!(
            text,
            "{{\"id\":\"x-{n}\",\"title\":\"Issue \
             {n}\",\"status\":\"{status}\",\"priority\":{},\"issue_type\":\"task\",\
             \"labels\":[\"l{}\"],\"created_at\":\"2026-01-01T00:00:00Z\",\
             \"updated_at\":\"2026-01-02T00:00:00Z\",\"dependencies\":[{}],\
             \"comments\":[{remark}]}}",
            n % 5,
            n % 7,
            bonds.join(",")
        )
        .unwrap();
    }
    text
}

#[test]
fn ten_thousand_issues_come_in_with_every_count_and_edge() {
    let env = TestEnv::with_tracker();
    fs::write(env.project("x.jsonl"), file()).unwrap();
    let report = env.robot(&["import", "x.jsonl"]);
    let edges: usize = (0..ISSUES).map(|n| blockers_of(n).len()).sum();
    let count = |key: &str| usize::try_from(report[key].as_i64().unwrap()).unwrap();
    assert_eq!(
        (count("created"), count("bonds_added"), count("comments_added")),
        (ISSUES, edges, ISSUES / 4)
    );
    assert_eq!(report["notes"], serde_json::json!([]));

    let text = env.el(&["export"]).ok().stdout;
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &'static str| rows.iter().filter(move |row| row["_type"] == kind);
    let number = |id: &Value, names: &BTreeMap<&str, usize>| names[id.as_str().unwrap()];
    let names: BTreeMap<&str, usize> = of("atom")
        .map(|atom| {
            let alias = atom["aliases"][0]["alias"].as_str().unwrap();
            (atom["id"].as_str().unwrap(), alias.strip_prefix("x-").unwrap().parse().unwrap())
        })
        .collect();
    assert_eq!(names.values().copied().collect::<BTreeSet<_>>(), (0..ISSUES).collect());
    for atom in of("atom") {
        let n = number(&atom["id"], &names);
        let parent = atom["parent_id"].as_str().map(|parent| names[parent]);
        let status = if n % 3 == 0 { "closed" } else { "open" };
        assert_eq!(atom["title"], format!("Issue {n}"));
        assert_eq!((&atom["status"], &atom["priority"]), (&status.into(), &(n % 5).into()));
        assert_eq!((parent, &atom["labels"][0]), (epic_of(n), &format!("l{}", n % 7).into()));
    }
    let found: BTreeSet<_> = of("bond")
        .map(|bond| (number(&bond["source_id"], &names), number(&bond["target_id"], &names)))
        .collect();
    let wanted: BTreeSet<_> =
        (0..ISSUES).flat_map(|n| blockers_of(n).into_iter().map(move |other| (other, n))).collect();
    assert_eq!(found, wanted);
    for comment in of("comment") {
        assert_eq!(comment["content"], format!("remark {}", number(&comment["parent_id"], &names)));
    }
    // The texts of so many new atoms are indexed together.
    let check = "INSERT INTO search (search, rank) VALUES ('integrity-check', 1)";
    env.database().execute(check, []).unwrap();
    env.create("Issue 7777, once more", &[]);
    assert_eq!(env.robot(&["search", "7777"])["total"], 2);

    let again = env.robot(&["import", "x.jsonl"]);
    assert_eq!(
        (&again["unchanged"], &again["bonds_added"], &again["comments_added"]),
        (&ISSUES.into(), &0.into(), &0.into())
    );
}

#[test]
fn two_imports_at_once_make_one_project() {
    let env = TestEnv::with_tracker();
    let text: String = file().lines().take(300).flat_map(|line| [line, "\n"]).collect();
    fs::write(env.project("x.jsonl"), text).unwrap();
    let started: Vec<_> = (0..3)
        .map(|_| {
            let mut command = env.command("el");
            command
                .args(["import", "x.jsonl", "--robot"])
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let created = |child: std::process::Child| {
        let answer: Value =
            serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
        answer["data"]["created"].as_i64().unwrap()
    };
    let mut all: Vec<i64> = started.into_iter().map(created).collect();
    all.sort_unstable();
    assert_eq!(all, [0, 0, 300]);
    assert_eq!(env.robot(&["list", "--all"])["total"], 300);
}

#[test]
fn a_folder_and_an_empty_file_are_named_as_such() {
    let env = TestEnv::with_tracker();
    fs::write(env.project("empty.jsonl"), " \n").unwrap();
    let empty = env.el(&["import", "empty.jsonl"]).fails_with(2).stderr;
    assert!(empty.contains("empty.jsonl has nothing to import in it"), "{empty}");
    let folder = env.el(&["import", "."]).fails_with(2).stderr;
    assert!(folder.contains("is a folder"), "{folder}");
}
