use std::fs;

use super::import::sample;
use crate::support::TestEnv;

#[test]
fn an_export_makes_the_same_project_again() {
    let env = TestEnv::with_tracker();
    for file in ["bd.jsonl", "eluent.jsonl", "github.json", "plan.md"] {
        env.robot(&["import", &sample(file)]);
    }
    env.create(
        "Odd \u{1b}[31m \u{202e} title",
        &["-d", "line one\nline two", "--metadata", "{\"k\":[1,null]}"],
    );
    env.el(&["export", "-o", "out.jsonl"]).ok();
    let text = fs::read_to_string(env.project("out.jsonl")).unwrap();
    assert_eq!(env.el(&["export"]).ok().stdout, text);

    let other = TestEnv::with_tracker();
    let report = other.robot(&["import", env.project("out.jsonl").to_str().unwrap()]);
    assert_eq!((&report["created"], &report["notes"]), (&24.into(), &serde_json::json!([])));
    assert_eq!(other.el(&["export"]).ok().stdout, text);
    assert_eq!(other.show("demo-a1b")["title"], "Fix the parser of dates");
}

#[test]
fn filters_choose_what_goes_out() {
    let env = TestEnv::with_tracker();
    env.create("Keep \"this\"", &["-l", "api"]);
    let done = env.create("Done", &[]);
    env.el(&["close", &done]).ok();
    let thrown = env.create("Thrown away", &[]);
    env.el(&["discard", &thrown]).ok();
    let titles = |arguments: &[&str]| {
        let text = env.el(&[&["export"], arguments].concat()).ok().stdout;
        ["Keep", "Done", "Thrown away"].map(|title| text.contains(title))
    };
    assert_eq!(titles(&[]), [true, true, true]);
    assert_eq!(titles(&["--active"]), [true, false, false]);
    assert_eq!(titles(&["--status", "closed"]), [false, true, false]);
    assert_eq!(titles(&["--format", "csv"]), [true, true, false]);
    assert_eq!(titles(&["--format", "markdown", "--label", "api"]), [true, false, false]);
}

#[test]
fn every_format_holds_the_project() {
    let env = TestEnv::with_tracker();
    env.robot(&["import", &sample("plan.md")]);
    let queries = env.robot(&["show", "Storage / Queries"])["id"].as_str().unwrap().to_owned();
    let docs = env.robot(&["show", "Docs"])["id"].as_str().unwrap().to_owned();
    env.el(&["dep", "add", &queries, &docs]).ok();
    let markdown = env.el(&["export", "--format", "markdown"]).ok().stdout;
    assert!(
        markdown.contains("- [ ] Storage (`t-") && markdown.contains("\n  - [x] Schema (`t-"),
        "{markdown}"
    );
    assert!(markdown.contains(&format!("after {queries}")), "{markdown}");
    let csv = env.el(&["export", "--format", "csv"]).ok().stdout;
    assert_eq!(csv.lines().count(), 8);
    let dot = env.el(&["export", "--format", "dot"]).ok().stdout;
    assert!(
        dot.starts_with("digraph el {") && dot.contains(&format!("\"{queries}\" -> \"{docs}\";")),
        "{dot}"
    );
    let mermaid = env.el(&["dep", "tree", &queries, "--format", "mermaid"]).ok().stdout;
    assert!(mermaid.starts_with("flowchart LR\n") && mermaid.contains("n0 --> n1"), "{mermaid}");
    let tree = env.robot(&["dep", "tree", &queries, "--format", "dot"]);
    assert!(tree["content"].as_str().unwrap().starts_with("digraph"), "{tree}");
}

#[test]
fn a_file_is_written_as_a_whole_or_not_at_all() {
    let env = TestEnv::with_tracker();
    env.create("One", &[]);
    let report = env.robot(&["export", "-o", "out.jsonl"]);
    assert_eq!(
        (&report["path"], &report["atoms"], &report["content"]),
        (&"out.jsonl".into(), &1.into(), &serde_json::Value::Null)
    );
    env.el(&["export", "-o", "nowhere/out.jsonl"]).fails_with(3);
    let left: Vec<_> =
        fs::read_dir(env.project("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains(".tmp")), "{left:?}");
    let inline = env.robot(&["export"]);
    assert_eq!(
        inline["content"].as_str().unwrap(),
        fs::read_to_string(env.project("out.jsonl")).unwrap()
    );
}
