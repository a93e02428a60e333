//! The schemas against the real output of the commands.

use el_core::model::Timestamp;
use serde_json::{Map, Value, json};

use super::schema_checker::fitting_answer;
use crate::exchange::import::sample;
use crate::support::TestEnv;

/// The keywords of JSON Schema that the schemas use; the checker knows no others.
const KNOWN: [&str; 17] = [
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "const",
    "enum",
    "format",
    "minimum",
    "maximum",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "oneOf",
    "anyOf",
];

/// Returns the mismatches of a value as paths and words; empty if the value fits.
///
/// Stricter than JSON Schema: one part of an `anyOf` has to fit, as an answer is of one kind.
pub(super) fn problems(
    root: &Value,
    schema: &Value,
    value: &Value,
    path: &str,
    out: &mut Vec<String>,
) {
    let schema = match schema {
        Value::Bool(true) => return,
        Value::Object(schema) => schema,
        other => panic!("{path}: {other} is no schema of ours"),
    };
    let unknown: Vec<_> = schema.keys().filter(|key| !KNOWN.contains(&key.as_str())).collect();
    assert!(unknown.is_empty(), "{path}: the checker does not know {unknown:?}");
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = &root["$defs"][name.strip_prefix("#/$defs/").unwrap()];
        assert!(target.is_object(), "{name} is not defined");
        problems(root, target, value, path, out);
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(options) = schema.get(key).and_then(Value::as_array) {
            let tries: Vec<Vec<String>> = options
                .iter()
                .map(|option| {
                    let mut found = Vec::new();
                    problems(root, option, value, path, &mut found);
                    found
                })
                .collect();
            let fitting = tries.iter().filter(|found| found.is_empty()).count();
            if fitting != 1 {
                out.push(format!("{path}: fits {fitting} of {key}: {tries:?}"));
            }
        }
    }
    plain(schema, value, path, out);
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        values
            .iter()
            .enumerate()
            .for_each(|(at, item)| problems(root, items, item, &format!("{path}[{at}]"), out));
    }
    let Some(object) = value.as_object() else { return };
    for key in schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        if !object.contains_key(key) {
            out.push(format!("{path}: '{key}' is missing"));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, value) in object {
        match properties.and_then(|named| named.get(key)).or(schema.get("additionalProperties")) {
            Some(Value::Bool(false)) => out.push(format!("{path}: '{key}' is not in the schema")),
            Some(schema) => problems(root, schema, value, &format!("{path}.{key}"), out),
            None => {}
        }
    }
}

/// Returns the mismatches of a value itself, without its content.
fn plain(schema: &Map<String, Value>, value: &Value, path: &str, out: &mut Vec<String>) {
    if let Some(constant) = schema.get("const").filter(|constant| *constant != value) {
        out.push(format!("{path}: {value} is not {constant}"));
    }
    if let Some(words) =
        schema.get("enum").and_then(Value::as_array).filter(|words| !words.contains(value))
    {
        out.push(format!("{path}: {value} is none of {words:?}"));
    }
    let is = |kind: &str| match kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type {other}"),
    };
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(kind)) {
        out.push(format!("{path}: {value} is no {kinds:?}"));
    }
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    if let Some(number) = value.as_f64().filter(|number| {
        bound("minimum").is_some_and(|least| *number < least)
            || bound("maximum").is_some_and(|most| *number > most)
    }) {
        out.push(format!("{path}: {number} is out of bounds"));
    }
    match (schema.get("format").and_then(Value::as_str), value.as_str()) {
        (Some("date-time"), Some(text)) if Timestamp::parse(text).is_err() => {
            out.push(format!("{path}: '{text}' is no time"))
        }
        (None | Some("date-time"), _) => {}
        (Some(other), _) => panic!("unknown format {other}"),
    }
}

/// Runs commands and checks each document. Returns the commands that were run.
struct Checker<'a> {
    env: &'a TestEnv,
    seen: Vec<String>,
}

impl Checker<'_> {
    #[track_caller]
    fn run(&mut self, name: &str, arguments: &[&str]) -> Value {
        self.seen.push(name.to_owned());
        fitting_answer(self.env, name, arguments)
    }
}

#[test]
fn every_document_fits_its_schema() {
    let mut env = TestEnv::new();
    env.set("EDITOR", "true");
    let mut check = Checker { env: &env, seen: Vec::new() };
    let c = &mut check;
    assert_eq!(c.run("prime", &[]), Value::Null);
    c.run("list", &[]);
    c.run("init", &["--name", "t"]);
    env.configure("");
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let epic = id(&c.run("create", &["Epic", "--type", "epic"]));
    let one = id(&c.run(
        "create",
        &["One", "--parent", &epic, "-l", "api", "-d", "text", "--acceptance", "done"],
    ));
    let two = id(&c.run(
        "create",
        &["Two", "--blocked-by", &one, "--defer-until", "3d", "--metadata", "{\"k\":1}"],
    ));
    c.run("create", &["--file", &sample("plan.md")]);
    c.run("create", &[]);
    c.run("comment add", &[&one, "hello"]);
    c.run("comment list", &[&one]);
    c.run("dep add", &[&epic, &two, "--type", "related"]);
    c.run("dep list", &[&two]);
    c.run("dep tree", &[&epic]);
    c.run("dep tree", &[&epic, "--format", "mermaid"]);
    c.run("dep check", &[]);
    c.run("dep remove", &[&epic, &two]);
    c.run("dep remove", &[&epic, &two]);
    c.run("list", &["--all"]);
    c.run("list", &["--limit", "1"]);
    c.run("ready", &[]);
    c.run("search", &["one"]);
    c.run("why", &[&two]);
    c.run("why", &[&epic]);
    c.run("show", &["banana"]);
    c.run("update", &[&one, "--priority", "high"]);
    c.run("update", &[&one, &two, "--add-label", "x"]);
    c.run("next", &[]);
    c.run("claim", &[&one]);
    c.run("release", &[&one]);
    c.run("close", &[&one, "-r", "done"]);
    c.run("close", &[&one, &two]);
    c.run("reopen", &[&one]);
    c.run("discard", &[&two]);
    c.run("discard list", &[]);
    c.run("discard restore", &[&two]);
    c.run("discard", &[&two]);
    c.run("discard prune", &["--days", "0", "--force"]);
    c.run("history", &[&one]);
    c.run("history", &[]);
    c.run("import", &[&sample("bd.jsonl")]);
    c.run("import", &["nowhere"]);
    c.run("export", &[]);
    c.run("export", &["-o", "out.jsonl", "--format", "csv"]);
    for name in ["base", "ours", "theirs"] {
        std::fs::write(
            env.project(name),
            format!("{{\"_type\":\"atom\",\"id\":\"t-aaaa\",\"title\":\"{name}\"}}\n"),
        )
        .unwrap();
    }
    c.run("merge-driver", &["base", "ours", "theirs"]);
    env.run(env.command("git").args(["init", "-q"])).ok();
    c.run("merge-driver", &["--print", "out.jsonl"]);
    c.run("prime", &[]);
    c.run("stats", &[]);
    c.run("doctor", &[]);
    ["backup now", "backup", "backup list"].iter().for_each(|words| drop(c.run(words, &[])));
    ["db", "db status", "db migrate"].iter().for_each(|words| drop(c.run(words, &[])));
    c.run("db move", &["--to", "elsewhere.db", "--dry-run"]);
    c.run("db dump", &["copy.db"]);
    c.run("db grant", &["member", "ann"]);
    c.run("undo", &["--list"]);
    c.run("restore", &["--dry-run"]);
    c.run("config show", &[]);
    c.run("config path", &[]);
    c.run("trust", &["--show"]);
    c.run("trust", &["--yes"]);
    c.run("config agents", &[]);
    c.run("config show", &["--changed"]);
    c.run("config get", &["model"]);
    c.run("config set", &["model", "opus"]);
    c.run("config unset", &["model"]);
    c.run("config get", &["banana"]);
    c.run("completions", &["bash"]);
    c.run("schema", &[]);
    c.run("schema", &["show"]);
    c.run("man", &["dep", "add"]);
    c.run("man", &["--dir", "man1"]);
    for words in [&["topics"][..], &["bonds"], &["create"], &["banana"]] {
        c.run("help", words);
    }
    let task = env.script_atom(&["close"]);
    env.work(&["--once"]);
    c.run("runs", &[]);
    c.run("runs list", &["--atom", &task]);
    c.run("runs show", &[&task]);
    c.run("show", &[&task]);
    c.run("show", &["demo-a1b"]);
    c.run("why", &[&task]);
    c.run("cancel", &[&task]);
    c.run("retry", &[&one]);
    c.run("retry", &[&task]);
    let review = id(&c.run("create", &["Reviewed"]));
    c.run("review", &[]);
    let report = env.robot(&["submit", &review, "--template"]);
    c.run("submit", &[&review, "--template"]);
    std::fs::write(
        env.project("report.json"),
        report.to_string().replacen("\"summary\":\"\"", "\"summary\":\"done\"", 1),
    )
    .unwrap();
    c.run("submit", &[&review, "--report", "report.json"]);
    c.run("review", &[]);
    c.run("reject", &[&review, "--reason", "no"]);
    c.run("reject", &[&review, "--reason", "no"]);
    c.run("submit", &[&review, "--report", "report.json"]);
    c.run("approve", &[&review]);
    c.run("chat post", &["general", "@test hello"]);
    c.run("chat list", &[]);
    c.run("chat show", &["general"]);
    c.run("inbox", &["--agent", "test"]);
    c.run("mailbox sync", &[]);
    c.run("mailbox post", &["to-developer", "report.json"]);
    let prompt = TestEnv::script(&["write made.txt made", "close done"]);
    let handed = id(&c.run("run", &[&prompt, "--verify", "true"]));
    c.run("run", &[&prompt, "--wait"]);
    for verb in ["queue", "tasks", "tasks list", "queue list", "workers", "workers list"] {
        c.run(verb, &[]);
    }
    c.run("queue show", &["claude"]);
    for verb in ["chat", "artifacts", "artifacts list"] {
        c.run(verb, &[]);
    }
    c.run("show", &[&one, &task]);
    c.run("tasks show", &[&handed]);
    c.run("tasks cancel", &[&handed]);
    c.run("artifacts show", &[&handed]);
    c.run("artifacts get", &[&handed, "summary"]);
    c.run("show", &[&review]);
    c.run("runs show", &[&handed]);

    worktrees(c, &env);
    orchestration(c, &env);
    env.program("gh", crate::sync::EMPTY_GH);
    c.run("sync github", &["-R", "acme/shop"]);
    c.run("edit", &[&review]);
    c.run("config edit", &[]);
    c.run("list", &["--waiting"]);
    for verb in ["status", "service install", "service status", "service uninstall", "setup agents"]
    {
        c.run(verb, &[]);
    }
    c.run("setup claude", &["--print"]);
    env.start_work(&["--name", "forge"]).wait_for("started");
    c.run("workers show", &["forge"]);
    let named = env.robot(&["schema"])["commands"].take();
    let unseen: Vec<_> = named
        .as_array()
        .unwrap()
        .iter()
        .filter(|name| !check.seen.iter().any(|seen| json!(seen) == **name))
        // `pull_requests` checks these, against a GitHub.
        .filter(|name| !name.as_str().is_some_and(|name| name == "pr" || name.starts_with("pr ")))
        .collect();
    assert!(unseen.is_empty(), "no document was checked for {unseen:?}");
}

fn worktrees(c: &mut Checker<'_>, env: &TestEnv) {
    let commit = |at: &str| {
        std::fs::write(std::path::Path::new(at).join("file.txt"), at).unwrap();
        env.git(&["-C", at, "add", "file.txt"]);
        env.git(&["-C", at, "commit", "-q", "-m", "file"]);
    };
    commit(env.project("").to_str().unwrap());
    for name in ["first", "second"] {
        let atom = env.create(name, &[]);
        // As made by el.
        let tree = env.project(".eluent/worktrees").join(&atom);
        env.git(&["worktree", "add", "-q", "-b", &format!("el/{atom}"), tree.to_str().unwrap()]);
        env.git(&["update-ref", &format!("refs/el/base/{atom}"), "HEAD"]);
        commit(tree.to_str().unwrap());
        c.run("diff", &[&atom]);
        c.run("diff", &[&atom, "--stat"]);
        env.el(&["close", &atom]).ok();
    }
    c.run("worktrees", &[]);
    let first = c.run("worktrees list", &[])["items"][0]["atom_id"].take();
    c.run("worktrees show", &[first.as_str().unwrap()]);
    c.run("diff", &["banana"]);
    c.run("land", &["--all", "--dry-run"]);
    c.run("land", &["--all"]);
    c.run("land", &["--all"]);
    c.run("worktrees prune", &["--dry-run"]);
    c.run("worktrees prune", &[]);
    let left = c.run("worktrees", &[]);
    assert_eq!(left["count"], 1, "what is in conflict stays");
    c.run("worktrees remove", &[left["items"][0]["atom_id"].as_str().unwrap(), "--force"]);
}

fn orchestration(c: &mut Checker<'_>, env: &TestEnv) {
    c.run("orchestrate list", &[]);
    let answers = env.path("tmp/answers");
    std::fs::create_dir_all(&answers).unwrap();
    let analysis = r#"{"summary":"Two parts","recommended_splits":2,"key_files":["a"]}"#;
    let list = "{\"tasks\":[{\"id\":\"a\",\"title\":\"A\",\"description\":\"d\"},\
        {\"id\":\"b\",\"title\":\"B\",\"description\":\"d\",\"dependencies\":[\"a\"]}]}";
    for (phase, data) in [("analysis", analysis), ("task_list", list)] {
        std::fs::write(answers.join(phase), format!("answer {phase} {data}\n")).unwrap();
    }
    let mut begin = env.command("el");
    begin
        .args(["orchestrate", "Document the API", "--plan-only", "--isolate", "none", "-q"])
        .env("FAKE_AGENT_ANSWERS", &answers);
    let epic = env.run(&mut begin).ok().stdout.trim().to_owned();
    c.run("orchestrate list", &[]);
    c.run("orchestrate show", &[]);
    c.run("orchestrate show", &[&epic]);
    c.run("orchestrate show", &["banana"]);
    let form = "## Objective\nIt\n\n## Accomplishments\n- Did\n\n## Status\n✅ COMPLETED\n";
    std::fs::write(env.project("summary.md"), form).unwrap();
    c.run("check-text", &["summary", "summary.md"]);
    std::fs::write(env.project("unclear.md"), form.replace("✅ COMPLETED", "Unable to complete"))
        .unwrap();
    c.run("check-text", &["summary", "unclear.md"]);
    c.run("phase show", &[&epic, "--phase", "analysis"]);
    c.run("phase show", &[&epic, "--phase", "aggregation"]);
    std::fs::write(env.project("list.json"), list).unwrap();
    c.run("phase set", &[&epic, "--phase", "task_list", "--file", "list.json"]);
    c.run("phase set", &[&epic, "--phase", "analysis", "--file", "list.json"]);
    c.run("orchestrate show", &[&epic]);
}

#[test]
fn a_schema_is_refused_where_there_is_none() {
    let env = TestEnv::new();
    let refused = env.el(&["schema", "work"]).fails_with(3).stderr;
    assert!(refused.contains("it streams"), "{refused}");
    env.el(&["schema", "banana"]).fails_with(3);
    assert!(env.el(&["schema", "show"]).ok().stdout.starts_with("{\n  \"$schema\""));
}
