//! The board in a real browser. `browser.mjs` says what is done there.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::orchestrate::plain;
use crate::support::{Running, TestEnv, wait_until};

/// The packages of `scripts/get-browser`, and the browser of this system.
pub(super) fn find_browser() -> Option<(PathBuf, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/browser");
    let has_packages = ["playwright-core", "axe-core"]
        .iter()
        .all(|name| folder.join("node_modules").join(name).is_dir());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = ["chromium-headless-shell", "chromium"].iter().find_map(|name| {
        std::env::split_paths(&path).map(|at| at.join(name)).find(|at| at.exists())
    });
    if let (true, Some(program)) = (has_packages, program) {
        return Some((folder.canonicalize().unwrap(), program));
    }
    assert!(
        std::env::var_os("EL_REQUIRE_BROWSER").is_none_or(|value| value != "1"),
        "there is no browser; run scripts/get-browser, and apt-get install chromium-headless-shell"
    );
    // Written past the capture of the test runner: a test that did not run must be seen.
    let _ = writeln!(std::io::stderr(), "SKIPPED, no browser: run scripts/get-browser");
    None
}

pub(super) fn serve(env: &TestEnv, port: &str) -> (Running, Value) {
    let server = env.start_el(&["serve", "--robot", "--port", port]);
    let link = server.wait_for("link");
    (server, link)
}

/// Starts the part of a test that is done in the browser. With `EL_UPDATE_PICTURES` it takes the
/// pictures of the documents.
pub(super) fn start_person(
    env: &TestEnv,
    script: &str,
    (packages, program): &(PathBuf, PathBuf),
    link: &Value,
) -> Running {
    let pictures = std::env::var("EL_UPDATE_PICTURES").map_or_else(
        |_| String::new(),
        |_| format!("{}/../docs/images", env!("CARGO_MANIFEST_DIR")),
    );
    let mut node = env.command("node");
    node.arg(format!("{}/../tests/serve/{script}", env!("CARGO_MANIFEST_DIR")));
    node.args([packages, program]).arg(link["url"].as_str().unwrap());
    node.arg(env.project("")).arg(pictures);
    env.start(&mut node)
}

/// Texts that would do harm in a page that believed them.
const HOSTILE: &str = "an image ![x](http://evil.example/x.png) <img src=x onerror=alert(1)>
<script>alert(2)</script> [press](javascript:alert(3)) [data](data:text/html,x)
<svg onload=alert(4)></svg> \u{202e}txt.exe \u{1b}[31mred [fine](http://example.org/a)
";

#[test]
fn a_person_files_reviews_rejects_approves_and_lands_in_a_browser() {
    let Some(browser) = find_browser() else { return };
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let script = TestEnv::script(&[
        "say I begin with the greeting.",
        &format!("wait-file {}", env.path("tmp/go").display()),
        "write greeting.txt Hallo\\n",
        "sh git add greeting.txt && git commit -q -m 'Say hallo'",
        "el update $EL_ATOM --status review",
        "on-attempt 2",
        &format!("record {}", env.path("tmp/second.json").display()),
        "write greeting.txt Hello\\n",
        "sh git add greeting.txt && git commit -q -m 'Say hello'",
        "el update $EL_ATOM --status review",
    ]);
    fs::write(env.project("description.md"), format!("Greet **politely**.\n\n{script}")).unwrap();
    let _worker = env.start_work(&[]);
    let (server, link) = serve(&env, "0");
    let person = start_person(&env, "browser.mjs", &browser, &link);

    let long = Duration::from_secs(180);
    let comes = |file: &str| {
        wait_until(&format!("{file}; {}", person.stdout()), long, || {
            (env.project(file).exists() || !person.stdout().is_empty()).then_some(())
        });
    };
    comes("landed");
    let hostile = env.create("<img src=x onerror=alert(5)>\u{202e}", &["-d", HOSTILE]);
    env.el(&["update", &hostile, "--status", "blocked", "--reason", "<b>bold</b>"]).ok();
    env.create("Waits for the other", &["--blocked-by", &hostile]);
    fs::write(env.project("hostile.new"), &hostile).unwrap();
    fs::rename(env.project("hostile.new"), env.project("hostile")).unwrap();
    comes("stop-server");
    drop(server);
    env.create("Filed while it was away", &["--blocked-by", &hostile]);
    std::thread::sleep(Duration::from_secs(3));
    let _server = serve(&env, &link["port"].to_string());

    let seen = person.wait(long).ok().json();
    assert_eq!(seen["failed"], Value::Null, "{seen:#}");
    assert_eq!(seen["wrong"], json!([]), "{seen:#}");
    assert_eq!(seen["outside"], json!([]), "something was asked for elsewhere: {seen:#}");
    assert_eq!(seen["barriers"], json!([]), "{seen:#}");
    assert!(!seen["address"].as_str().unwrap().contains("code="), "{seen:#}");
    assert_eq!((&seen["landed"], &seen["recovered"]), (&json!(true), &json!(true)));
    assert_eq!(seen["hostile"]["elements"], 0, "{seen:#}");
    assert_eq!(seen["hostile"]["links"], json!(["http://example.org/a"]));
    assert_eq!((&seen["filter"], &seen["chosen"]), (&json!("?q=no+such+words"), &json!(hostile)));
    let text = seen["hostile"]["text"].as_str().unwrap();
    assert!(!text.contains('\u{202e}') && !text.contains('\u{1b}'), "{text}");

    // The tracker has the changes that the browser made.
    let id = seen["id"].as_str().unwrap();
    assert_eq!(env.status(id), "closed");
    assert_eq!(env.git(&["show", "main:greeting.txt"]), "Hello");
    let prompt = env.recorded("../tmp/second.json")["prompt"].as_str().unwrap().to_owned();
    let told = prompt.split("## Rejected").nth(1).expect("the next attempt is told");
    for part in ["The language is wrong", "greeting.txt, line 1:", "> Hallo", "Say it in English"] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
}

#[test]
fn plans_and_figures_are_shown_with_their_tables() {
    let Some(browser) = find_browser() else { return };
    let env = TestEnv::with_plan(&[plain("one", &[]), plain("two", &["one"])]);
    env.el(&["orchestrate", "Write the manual", "--plan-only", "--isolate", "none"]).ok();
    let script = |steps: &[&str]| TestEnv::script(steps);
    let fine = env.create("Boil water", &["-d", &script(&["usage 12000 900 0.42", "close done"])]);
    let epic = env.epic();
    env.el(&["config", "set", "max_attempts", "1"]).ok();
    let bad = env.create("Burn it", &["-d", &script(&["exit 3"])]);
    let _worker = env.start_work(&[]);
    env.wait_for_status(&fine, "closed");
    env.wait_for_status(&bad, "blocked");
    let (_server, link) = serve(&env, "0");
    let person = start_person(&env, "figures.mjs", &browser, &link);
    let seen = person.wait(Duration::from_secs(120)).ok().json();
    for part in ["wrong", "outside", "barriers"] {
        assert_eq!(seen[part], json!([]), "{seen:#}");
    }
    assert_eq!(seen["failed"], Value::Null, "{seen:#}");
    let has = |part: &str, words: &str| {
        let texts = seen[part].as_array().unwrap();
        assert!(texts.iter().any(|text| text.to_string().contains(words)), "{words}: {seen:#}");
    };
    has("plans", "Write the manual");
    has("commands", &format!("el orchestrate resume {epic}"));
    has("phases", "list of tasks");
    assert_eq!(seen["layers"].as_array().unwrap().len(), 2, "{seen:#}");
    has("layers", "waits for");
    assert_eq!((&seen["tables"], seen["titles"].as_array().unwrap().len()), (&json!(10), 10));
    assert!(seen["bars"].as_u64() > Some(0), "{seen:#}");
    has("figures", "$0.42");
    has("figures", "failed");
}

#[test]
fn hostile_texts_in_every_field_stay_texts() {
    let Some(browser) = find_browser() else { return };
    let env = TestEnv::with_repository("isolate = \"worktree\"\nconcurrency = 4\n");
    let evil = "<img src=x onerror=alert(1)><svg onload=alert(2)></svg> \
                [press](javascript:alert(3)) ![i](http://evil.example/i.png)\u{202e}txt";
    let text = |steps: &[&str]| format!("{HOSTILE}\n{}", TestEnv::script(steps));
    let say = format!("say {evil}");
    let epic = env.create(evil, &["--type", "epic", "-d", HOSTILE]);
    let file = |steps: &[&str]| {
        let (label, who) = ("<img/src=x/onerror=alert(4)>", ["--parent", &epic]);
        let more = ["-d", &text(steps), "--acceptance", HOSTILE, "--label", label];
        env.create(evil, &[&more[..], &who].concat())
    };
    let named = "sh printf '<script>alert(5)</script>\\033[31m' \
                 > '<img src=x onerror=alert(6)>.md' \
                 && git add -A && git commit -q -m '<svg onload=alert(7)>'";
    let reviewed = file(&[&say, named, "update review"]);
    let comment = format!("el comment add $EL_ATOM '{evil}'");
    let asks = file(&[&say, &comment, "update deferred"]);
    let stuck = file(&[&comment, "update blocked"]);
    let running =
        file(&[&say, "sh echo '<img src=x onerror=alert(8)>'; printf '\\033[2J'", &say, "hang"]);
    let waiting = file(&[]);
    env.el(&["dep", "add", &running, &waiting]).ok();
    let done = env.create(evil, &["-d", HOSTILE]);
    env.el(&["close", &done, "--reason", evil]).ok();
    env.el(&["reopen", &done]).ok();
    env.el(&["update", &done, "--status", "review"]).ok();
    env.el(&["reject", &done, "--reason", HOSTILE]).ok();
    env.el(&["close", &done, "--reason", evil]).ok();
    let _worker = env.start_work(&["--assignee", "claude"]);
    for id in [&reviewed, &asks, &stuck, &running] {
        env.el(&["update", id, "--assignee", "claude"]).ok();
    }
    for (id, status) in [(&reviewed, "review"), (&asks, "deferred"), (&stuck, "blocked")] {
        env.wait_for_status(id, status);
    }
    env.wait_for_status(&running, "in_progress");
    let told = json!({
        "atoms": [epic, reviewed, asks, stuck, running, waiting, done], "running": running,
        "reviewed": reviewed,
    });
    fs::write(env.project("hostile.json"), told.to_string()).unwrap();
    let (_server, link) = serve(&env, "0");
    let person = start_person(&env, "hostile.mjs", &browser, &link);
    let seen = person.wait(Duration::from_secs(180)).ok().json();
    for part in ["wrong", "outside", "barriers"] {
        assert_eq!(seen[part], json!([]), "{seen:#}");
    }
    assert_eq!((&seen["failed"], &seen["palette"]), (&Value::Null, &json!(0)), "{seen:#}");
    let pages = seen["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 15, "{seen:#}");
    let allowed = json!("http://example.org/a");
    for page in pages {
        let links = page["links"].as_array().unwrap();
        assert!(links.iter().all(|link| *link == allowed), "{page:#}");
        assert_eq!((&page["elements"], &page["drawings"]), (&json!([]), &json!(0)), "{page:#}");
        assert_eq!(page["hidden"], Value::Null, "a character that hides or reorders: {page:#}");
    }
    let shown = pages.iter().filter(|page| page["shows"] == true).count();
    assert!(shown >= 10, "the texts are there, as texts: {seen:#}");
}

#[test]
fn what_is_new_is_marked_told_and_found() {
    let Some(browser) = find_browser() else { return };
    let env = TestEnv::with_tracker();
    let id = env.create("Ring a bell", &[]);
    let first = env.create("Boil water", &[]);
    env.create("Make tea", &["--blocked-by", &first]);
    let (_server, link) = serve(&env, "0");
    let person = start_person(&env, "news.mjs", &browser, &link);
    wait_until("a look", Duration::from_secs(60), || {
        (env.project("looked").exists() || !person.stdout().is_empty()).then_some(())
    });
    env.el(&["--actor", "bob", "update", &id, "--status", "blocked"]).ok();
    let seen = person.wait(Duration::from_secs(120)).ok().json();
    for part in ["wrong", "outside", "barriers"] {
        assert_eq!(seen[part], json!([]), "{seen:#}");
    }
    assert_eq!(seen["failed"], Value::Null, "{seen:#}");
    assert_eq!((&seen["isChosen"], &seen["noted"]), (&json!(true), &json!(200)));
    assert_eq!(seen["fresh"], json!([id]), "{seen:#}");
    assert_eq!(seen["signs"], json!([["○"], ["‖"]]), "as the terminal has them: {seen:#}");
    assert_eq!(seen["told"].as_array().unwrap().len(), 1, "one notice, then silence: {seen:#}");
    assert_eq!(seen["told"][0][1], "Ring a bell");
    assert!(seen["options"][0].as_str().unwrap().contains(&id), "{seen:#}");
    assert_eq!(seen["afterLate"], 0, "{seen:#}");
    assert_eq!((&seen["typed"], &seen["isBack"]), (&json!("tomorrow"), &json!(true)), "{seen:#}");
    // The terminal has the same mark.
    let board = env.robot(&["status"]);
    assert_eq!((&board["looked"], &board["fresh"]), (&board["seq"], &json!([])), "{board:#}");
}

#[test]
fn a_project_in_motion_is_shown_as_it_is() {
    let Some(browser) = find_browser() else { return };
    let env = TestEnv::with_repository("isolate = \"worktree\"\nconcurrency = 6\n");
    let commit = "sh git add -A && git commit -q -m";
    let script = |steps: &[&str]| format!("The work to be done.\n\n{}", TestEnv::script(steps));
    let timer = script(&[
        "write timer.sh #!/bin/sh\\n# Waits for the tea.\\nsleep 180\\necho Tea is ready\\n",
        &format!("{commit} 'Write the timer'"),
        "update review",
    ]);
    let busy = script(&["say I read about green tea.", "usage 12000 900 0.42", "hang"]);
    let asks = script(&["el comment add $EL_ATOM 'Which port?'", "update deferred"]);
    let fails =
        script(&["el comment add $EL_ATOM 'There is no sound card here.'", "update blocked"]);
    let file =
        |title: &str, text: &str, more: &[&str]| env.create(title, &[&["-d", text], more].concat());
    let reviewed = file("Write the timer", &timer, &["--label", "review", "-p", "1"]);
    let question = file("Tell the phone when the tea is ready", &asks, &[]);
    let blocked = file("Ring a bell", &fails, &[]);
    let recipes = file("Collect recipes", &busy, &["--label", "recipes"]);
    let kettle = file("Describe the kettle", &busy, &[]);
    let printed = file("Print labels", "", &["--blocked-by", &reviewed, "--label", "paper"]);
    file("Test the timer for an hour", "", &["--blocked-by", &reviewed]);
    file("Publish the recipes", "", &["--blocked-by", &recipes, "-p", "3"]);
    file("Sell the tea", "", &["--blocked-by", &printed]);
    let _worker = env.start_work(&[]);
    for (id, status) in [(&reviewed, "review"), (&question, "deferred"), (&blocked, "blocked")] {
        env.wait_for_status(id, status);
    }
    for id in [&recipes, &kettle] {
        env.wait_for_status(id, "in_progress");
    }
    // The same on a terminal, in the same order, with the changes to review beside it.
    let screen = env.screen(132, 20, "el top");
    screen.wait_for("Which port?");
    let shown = screen.wait_for(&blocked);
    let place = |id: &str| shown.find(id).unwrap_or_else(|| panic!("{id}:\n{shown}"));
    assert!(place(&question) < place(&reviewed) && place(&reviewed) < place(&blocked), "{shown}");
    screen.press("j");
    screen.press("d");
    screen.wait_for("+echo Tea is ready");
    screen.wait_for("j k scroll");
    fs::write(env.project("terminal"), screen.coloured()).unwrap();
    screen.press("q");
    screen.press("q");
    screen.wait_for("[exit 0]");
    let (_server, link) = serve(&env, "0");
    let person = start_person(&env, "look.mjs", &browser, &link);
    let seen = person.wait(Duration::from_secs(120)).ok().json();
    for part in ["wrong", "outside", "barriers"] {
        assert_eq!(seen[part], json!([]), "{seen:#}");
    }
    assert_eq!((&seen["failed"], &seen["folded"]), (&Value::Null, &json!(true)), "{seen:#}");
    // In the order of `el status`: who waits for an answer comes before who waits for a verdict.
    let kinds = [["question", &question], ["review", &reviewed], ["blocked", &blocked]];
    assert_eq!(seen["needs"], json!(kinds), "{seen:#}");
    assert_eq!(seen["focused"], question.as_str(), "a dialog gives the focus back: {seen:#}");
}
