//! Texts that a person changes in an editor: `el edit`, `el create --edit`, `el config edit`.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::support::TestEnv;

/// An editor that does `script` with the file `$1`.
fn with_editor(script: &str) -> TestEnv {
    let mut env = TestEnv::with_tracker();
    env.program("editor", &format!("cp \"$1\" \"$HOME/seen\"\n{script}"));
    env.set("EDITOR", "editor").unset("VISUAL").unset("GIT_EDITOR").set("TERM", "xterm");
    env
}

fn drafts(env: &TestEnv) -> Vec<PathBuf> {
    let found = fs::read_dir(env.path("tmp")).unwrap().map(|entry| entry.unwrap().path());
    found.filter(|path| path.to_string_lossy().contains("el-edit-")).collect()
}

#[test]
fn an_atom_is_changed_in_the_editor_and_only_what_differs() {
    let env = with_editor(
        "sed -i -e 's/^title: .*/title: New/' -e 's/^priority: .*/priority: 1/' \
         -e 's/^labels:.*/labels: b, c/' -e 's/Offsets/Zones/' \"$1\"",
    );
    let id = env.create("Old", &["-d", "# Offsets\n\n---- description", "-l", "a,b"]);
    let updated = env.robot(&["edit", &id]);
    let changes = updated["changes"].as_object().unwrap();
    assert_eq!(changes.keys().collect::<Vec<_>>(), ["title", "description", "priority", "labels"]);
    let atom = env.show(&id);
    assert_eq!((&atom["title"], &atom["priority"]), (&json!("New"), &json!(1)));
    assert_eq!(atom["labels"], json!(["b", "c"]));
    assert_eq!(atom["description"], "# Zones\n\n---- description");
    let seen = fs::read_to_string(env.home().join("seen")).unwrap();
    assert!(seen.starts_with("title: Old\ntype: task\npriority: medium\n"), "{seen}");
    assert!(drafts(&env).is_empty());
}

#[test]
fn a_text_that_is_saved_as_it_was_or_emptied_changes_nothing() {
    for script in [
        "true",
        "touch \"$1\"",
        ": > \"$1\"",
        "printf '\\n \\n' > \"$1\"",
        "sed -i '/>8/,$!d' \"$1\"",
    ] {
        let env = with_editor(script);
        let id = env.create("It", &["-d", "Text", "--acceptance", "Tests"]);
        let events = env.events(&id);
        let edited = env.el(&["edit", &id]).ok();
        assert!(edited.stdout.starts_with("Unchanged"), "{script}: {edited:#?}");
        assert_eq!(env.events(&id), events, "{script}");
        assert_eq!(env.robot(&["create", "New", "--edit"])["count"], 0, "{script}");
        assert_eq!(env.robot(&["list", "--all"])["total"], 1, "{script}");
        assert!(drafts(&env).is_empty(), "{script}");
    }
}

#[test]
fn a_text_that_is_refused_is_kept_and_its_place_is_told() {
    for (script, words) in [
        ("sed -i 's/^type: .*/type: banana/' \"$1\"", "banana"),
        ("sed -i 's/^title: .*/title:/' \"$1\"", "title"),
        ("sed -i 's/^title: .*/tilte: x/' \"$1\"", "tilte"),
        ("sed -i 's/^parent:.*/parent: nowhere/' \"$1\"", "nowhere"),
    ] {
        let env = with_editor(script);
        let id = env.create("It", &[]);
        for words_of_el in [&["edit", &id][..], &["create", "New", "--edit"]] {
            let ran = env.run(env.command("el").arg("--robot").args(words_of_el));
            let error = ran.json()["error"].take();
            assert!(error["message"].as_str().unwrap().contains(words), "{error}");
            let draft = PathBuf::from(error["details"]["draft"].as_str().unwrap());
            assert!(error["hint"].as_str().unwrap().contains(draft.to_str().unwrap()), "{error}");
            assert!(fs::read_to_string(&draft).unwrap().contains(words), "{draft:?}");
        }
        assert_eq!(env.show(&id)["title"], "It");
        assert_eq!(env.robot(&["list"])["total"], 1);
    }
}

#[test]
fn what_somebody_else_changed_meanwhile_is_not_overwritten() {
    let mut env = with_editor("true");
    let id = env.create("It", &["-d", "Text"]);
    env.program(
        "editor",
        &format!(
            "el update {id} -t Theirs -p low >/dev/null\nsed -i 's/^title: .*/title: Ours/' \"$1\""
        ),
    );
    let ran = env.el(&["edit", &id]).fails_with(4);
    assert!(ran.stderr.contains("the title of") && ran.stderr.contains("kept in"), "{ran:#?}");
    assert_eq!(env.show(&id)["title"], "Theirs");
    // Another field is another matter.
    env.program(
        "editor",
        &format!("el update {id} -p high >/dev/null\nsed -i 's/^title: .*/title: Ours/' \"$1\""),
    );
    env.set("EDITOR", "editor").el(&["edit", &id]).ok();
    let atom = env.show(&id);
    assert_eq!((&atom["title"], &atom["priority"]), (&json!("Ours"), &json!(1)));
}

#[test]
fn the_editor_is_chosen_as_git_chooses_it() {
    let mut env = with_editor("true");
    let id = env.create("It", &[]);
    for name in ["first", "second", "third", "fourth"] {
        env.program(name, &format!("echo {name} \"$1\" >> \"$HOME/used\""));
    }
    env.git(&["init", "-q"]);
    let used = |env: &TestEnv| {
        env.el(&["edit", &id]).ok();
        let all = fs::read_to_string(env.home().join("used")).unwrap();
        all.lines().last().unwrap().split(' ').take(2).collect::<Vec<_>>().join(" ")
    };
    env.set("EDITOR", "fourth --wait");
    assert_eq!(used(&env), "fourth --wait", "a command line, as git takes it");
    env.set("VISUAL", "third -x");
    assert_eq!(used(&env), "third -x");
    env.git(&["config", "core.editor", "second -y"]);
    assert_eq!(used(&env), "second -y");
    env.set("GIT_EDITOR", "first -z");
    assert_eq!(used(&env), "first -z");
}

#[test]
fn an_editor_that_is_missing_or_fails_is_told_and_changes_nothing() {
    let mut env = with_editor("sed -i 's/^title: .*/title: New/' \"$1\"\nexit 1");
    let id = env.create("It", &[]);
    let failed = env.el(&["edit", &id]).fails_with(4);
    assert!(failed.stderr.contains("nothing was changed"), "{failed:#?}");
    assert!(failed.stderr.contains("kept in"), "what was typed is not lost: {failed:#?}");
    env.set("EDITOR", "no-such-editor");
    let missing = env.el(&["edit", &id]).fails_with(6);
    assert!(missing.stderr.contains("core.editor"), "{missing:#?}");
    assert_eq!(env.show(&id)["title"], "It");
}

#[test]
fn an_atom_is_written_in_the_editor() {
    let env = with_editor(
        "sed -i -e 's/^title: .*/title: Written/' -e '/description$/a Some\\nlines' \"$1\"",
    );
    let blocker = env.create("First", &[]);
    let made = env.robot(&["create", "--edit", "-p", "high", "--blocked-by", &blocker]);
    assert_eq!((&made["title"], &made["priority"]), (&json!("Written"), &json!(1)));
    assert_eq!(made["description"], "Some\nlines");
    assert_eq!(env.robot(&["list", "--waiting"])["items"][0]["holds"][0]["by"], blocker.as_str());
}

#[test]
fn a_configuration_is_checked_before_it_takes_the_place_of_the_old_one() {
    let mut env = with_editor("printf 'model = \"opus\"\\nmax_turns = \"ten\"\\n' > \"$1\"");
    let path = env.project(".eluent/config.toml");
    let before = fs::read_to_string(&path).unwrap();
    let refused = env.el(&["config", "edit"]).fails_with(6);
    assert!(refused.stderr.contains(":2: max_turns"), "{refused:#?}");
    assert!(refused.stderr.contains("kept in"), "{refused:#?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    env.program("editor", "echo 'model = \"opus\" # big' > \"$1\"");
    assert_eq!(env.robot(&["config", "edit"])["changed"], true);
    assert_eq!(env.robot(&["config", "get", "model"])["value"], "opus");
    assert_eq!(env.robot(&["config", "edit"])["changed"], false);
    // The user's file is made where there is none.
    env.set("XDG_CONFIG_HOME", env.path("conf").to_str().unwrap());
    let made = env.robot(&["config", "edit", "--user"]);
    assert_eq!(made["changed"], true);
    assert_eq!(
        fs::read_to_string(made["path"].as_str().unwrap()).unwrap(),
        "model = \"opus\" # big\n"
    );
}

#[test]
fn a_byte_order_mark_and_carriage_returns_of_an_editor_change_nothing() {
    let env = with_editor(
        "sed -i -e 's/^title: .*/title: New/' -e 's/$/\\r/' -e '1s/^/\\xef\\xbb\\xbf/' \"$1\"",
    );
    let id = env.create("Old", &["-d", "Some text"]);
    let updated = env.robot(&["edit", &id]);
    let changes = updated["changes"].as_object().unwrap();
    assert_eq!(changes.keys().collect::<Vec<_>>(), ["title"]);
}
