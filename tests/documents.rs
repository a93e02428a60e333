//! The documents: line and file lengths, how sentences begin, and the README's transcript against
//! the output of `el`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::TestEnv;

const COLUMNS: usize = 100;
const FILE_LINES: usize = 400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns true for files written by hand: no recordings, snapshots or build results.
fn is_ours(path: &Path) -> bool {
    let text = path.to_str().unwrap();
    !["/target/", "/.git/", "/tests/data/", "/snapshots/", "/samples/", "/fuzz/corpus/"]
        .iter()
        .any(|part| text.contains(part))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            if is_ours(&path.join("")) {
                files(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

/// Returns the name and the text of each file with one of these endings, and of each script.
fn texts(endings: &[&str]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    files(&root(), &mut all);
    all.sort();
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let is_script = name.starts_with("scripts/") || name.starts_with(".ci/");
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_wanted = is_script || endings.contains(&ending);
        Some((name, is_wanted.then(|| fs::read_to_string(path).ok())??))
    };
    all.iter().filter_map(read).collect()
}

#[test]
fn no_line_and_no_file_is_too_long() {
    let mut wrong = Vec::new();
    for (name, text) in texts(&["rs", "md", "sql", "sh", "toml", "mjs"]) {
        for (number, line) in text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > COLUMNS {
                wrong.push(format!("{name}:{}: {columns} columns", number + 1));
            }
        }
        let lines = text.lines().count();
        if name.ends_with(".rs") && lines >= FILE_LINES {
            wrong.push(format!("{name}: {lines} lines"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the lines where a sentence begins with a clause for its noun. Questions and headings may
/// begin so.
fn clauses_for_nouns(name: &str, text: &str) -> Vec<String> {
    let words = ["What", "Whose", "Whether"];
    let starts = [". ", "? ", "! ", ": ", "| ", "**", "(", "\""];
    let is_mark = |c: char| c.is_whitespace() || "/!#*->".contains(c);
    let mut wrong = Vec::new();
    for (at, word) in words.iter().flat_map(|word| text.match_indices(word)) {
        let (before, rest) = text.split_at(at);
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = before[line..].trim_start_matches(is_mark);
        let is_start = before.is_empty() || starts.iter().any(|start| before.ends_with(start));
        let is_heading = name.ends_with(".md") && text[line..].starts_with('#')
            || text[line..].trim_start().starts_with("## ");
        let is_question = rest
            .split_once(['.', '?', '!'])
            .is_some_and(|(sentence, _)| rest[sentence.len()..].starts_with('?'));
        let is_word = rest[word.len()..].starts_with(char::is_whitespace);
        if is_word && is_start && !is_heading && !is_question {
            let number = text[..line].lines().count() + 1;
            wrong.push(format!("{name}:{number}: {}", text[line..].lines().next().unwrap()));
        }
    }
    wrong
}

#[test]
fn no_sentence_begins_with_a_clause_for_its_noun() {
    let found = |text: &str| clauses_for_nouns("page.md", text).len();
    assert_eq!(found("/// Whether it is.\n- *What is new* stays. Whose\nit is, it stays."), 3);
    assert_eq!(found("# What it is\n\nIt asks: What is\nnew? Whatever is, what is new stays."), 0);
    let all = texts(&["rs", "md", "sh", "toml", "mjs", "ts", "tsx", "json"]);
    let ours = all.iter().filter(|(name, _)| !name.starts_with("el-cli/web/dist"));
    let wrong: Vec<_> = ours.flat_map(|(name, text)| clauses_for_nouns(name, text)).collect();
    assert!(wrong.is_empty(), "name the thing:\n{}", wrong.join("\n"));
}

/// The scripts of the transcript's agents, by the file named in each task's description.
const TASKS: [(&str, &str); 3] = [
    (
        "greeting",
        "script: write greeting.txt Tea is ready!\nscript: close greeting.txt is written\n",
    ),
    (
        "program",
        "script: sh test -f greeting.txt\nscript: write hello.sh cat greeting.txt\n\
         script: close hello.sh prints greeting.txt\n",
    ),
    (
        "licence",
        "script: say I cannot choose for you.\n\
         script: sh el comment add $EL_ATOM \"MIT or GPL? A person has to decide.\"\n\
         script: update deferred\n",
    ),
];
/// The README's ids, in order of appearance.
const ATOMS: [&str; 3] = ["tea-a0mz", "tea-zqnj", "tea-njgs"];
const RUNS: [&str; 3] = ["run-gwj20fxy", "run-nm7ztejw", "run-em7sk29n"];

#[test]
fn the_transcript_in_the_readme_is_what_el_prints() {
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once("```console\n").unwrap();
    let (block, after) = rest.split_once("```\n").unwrap();
    let env = TestEnv::new();
    fs::create_dir(env.project("tasks")).unwrap();
    for (name, script) in TASKS {
        fs::write(env.project(format!("tasks/{name}.md")), script).unwrap();
    }
    let mut names = Names::default();
    let mut printed = String::new();
    for command in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let line = names.actual(command);
        let ran = env.run(env.command("sh").args(["-c", &line])).ok();
        let output = ran.stdout.replace(env.project("").to_str().unwrap(), "/home/you/tea/");
        printed.push_str(&format!("$ {command}\n{}", names.shown(&output)));
    }
    if std::env::var_os("EL_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}```console\n{printed}```\n{after}")).unwrap();
    }
    assert!(
        printed == block,
        "the README shows\n{block}\nand el prints\n{printed}\nEL_UPDATE_DOCS=1 writes it"
    );
}

/// Maps the ids of this run to the README's ids.
#[derive(Default)]
struct Names {
    shown: HashMap<String, &'static str>,
}

impl Names {
    fn actual(&self, command: &str) -> String {
        let pairs = self.shown.iter();
        pairs.fold(command.to_owned(), |line, (actual, shown)| line.replace(shown, actual))
    }

    /// Returns the output with the README's ids, and a constant duration.
    fn shown(&mut self, output: &str) -> String {
        let output = output.replace("<1s", "1s");
        let mut text = output.clone();
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
        for word in output.split(|c| !is_word(c)) {
            if word.strip_suffix('s').is_some_and(|digits| digits.parse::<f64>().is_ok()) {
                // On a busy machine a table may be some seconds old.
                text = text.replace(&format!("{word} ago"), "now").replace(word, "1s");
                continue;
            }
            for (prefix, shown) in [("tea-", ATOMS), ("run-", RUNS)] {
                if word.starts_with(prefix) && word.len() == shown[0].len() {
                    let known = self.shown.keys().filter(|id| id.starts_with(prefix)).count();
                    let name = *self.shown.entry(word.to_owned()).or_insert_with(|| shown[known]);
                    text = text.replace(word, name);
                }
            }
        }
        text
    }
}

/// `docs/sandbox.md` names the test of each attack, and where it is tried if not everywhere.
#[test]
fn each_attack_is_tried_where_the_document_says() {
    let text = fs::read_to_string(root().join("docs/sandbox.md")).unwrap();
    let attacks = text.split("## Attacks").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut all = Vec::new();
    files(&root().join("tests/sandbox"), &mut all);
    files(&root().join("el-agents/src/sandbox"), &mut all);
    let code: Vec<String> = all.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let mut count = 0;
    for attack in attacks.split("\n- ").skip(1) {
        let words = attack.split_whitespace().collect::<Vec<_>>().join(" ");
        let tests = words.split("Test: ").nth(1).or_else(|| words.split("Tests: ").nth(1));
        for test in tests.unwrap_or_else(|| panic!("no test: {words}")).split(", ") {
            let name = test.split('`').nth(1).unwrap();
            let start = format!("fn {name}() {{");
            let body = code.iter().find_map(|text| text.split(&start).nth(1));
            let body = body.unwrap_or_else(|| panic!("there is no test {name}"));
            let body = body.split("\n}\n").next().unwrap();
            let place = test.split('(').nth(1).and_then(|rest| rest.split(')').next());
            let tried: &[&str] = match place {
                None => &["EVERYWHERE", "attack_everywhere"],
                Some("in a worktree") => &["WORKTREES"],
                Some("in a shared folder") => &["SHARED"],
                Some("in a container") => &["in_a_container"],
                Some("on any machine" | "by itself") => &[""],
                Some(other) => panic!("{other} is no place"),
            };
            assert!(tried.iter().any(|word| body.contains(word)), "{name} is not tried there");
            count += 1;
        }
    }
    assert!(count > 25, "{count}");
}
