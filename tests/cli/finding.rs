//! Lists and searches: filters, orders, and cuts that are told.

use serde_json::{Value, json};

use crate::support::TestEnv;

fn titles(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|atom| atom["title"].as_str().unwrap()).collect()
}

fn project() -> TestEnv {
    let env = TestEnv::with_tracker();
    let epic = env.create("Epic", &["--type", "epic", "-p", "someday"]);
    env.create(
        "Parser bug",
        &["--type", "bug", "-p", "high", "-l", "parser,core", "-d", "Offsets of time zones"],
    );
    env.create("Write docs", &["-p", "low", "-a", "ada", "--parent", &epic]);
    let closed = env.create("Old work", &["-l", "core"]);
    env.el(&["close", &closed]).ok();
    let discarded = env.create("Mistake", &[]);
    env.el(&["discard", &discarded]).ok();
    let later = env.create("Later", &["--defer-until", "5d"]);
    assert_eq!(env.status(&later), "deferred");
    env
}

#[test]
fn lists_are_filtered_by_every_field() {
    let env = project();
    let filters: [(&[&str], &[&str]); 16] = [
        (&[], &["Parser bug", "Later", "Write docs", "Epic"]),
        (&["--all"], &["Parser bug", "Old work", "Later", "Write docs", "Epic"]),
        (&["--status", "closed"], &["Old work"]),
        (&["--status", "open,closed", "--type", "task"], &["Old work", "Write docs"]),
        (&["--status", "discard"], &["Mistake"]),
        (&["--type", "bug"], &["Parser bug"]),
        (&["--exclude-type", "bug,epic"], &["Later", "Write docs"]),
        (&["--priority", "high,3"], &["Parser bug", "Write docs"]),
        (&["--label", "core"], &["Parser bug"]),
        (&["--label", "core,parser", "--all"], &["Parser bug"]),
        (&["--assignee", "ada"], &["Write docs"]),
        (&["--text", "OFFSETS"], &["Parser bug"]),
        (&["--text", "no such"], &[]),
        (&["--parent", "t-none"], &[]),
        (&["--created-after", "1d", "--status", "open", "--type", "bug"], &["Parser bug"]),
        (&["--created-before", "1d"], &[]),
    ];
    for (words, expected) in filters {
        let words = [&["--robot", "list"], words].concat();
        let ran = env.run(env.command("el").args(&words));
        if words.contains(&"t-none") {
            assert_eq!(ran.status, 3, "{ran:#?}");
            continue;
        }
        assert_eq!(titles(&ran.ok().json()["data"]), expected, "{words:?}");
    }
}

#[test]
fn a_cut_is_always_told() {
    let env = project();
    let cut = env.robot(&["list", "--limit", "2"]);
    assert_eq!(
        (&cut["count"], &cut["total"], &cut["truncated"]),
        (&json!(2), &json!(4), &json!(true))
    );
    let rest = env.robot(&["list", "--limit", "2", "--offset", "2"]);
    assert_eq!(titles(&rest), ["Write docs", "Epic"]);
    assert_eq!(env.robot(&["list", "--limit", "0"])["truncated"], false);
    let human = env.el(&["list", "--limit", "2"]).ok();
    assert!(human.stdout.contains("2 of 4 atoms"), "{human:#?}");
}

#[test]
fn ready_is_what_can_be_worked_on_and_list_says_the_same_of_it() {
    let env = project();
    let ready = env.robot(&["ready"]);
    assert_eq!(titles(&ready), ["Parser bug", "Write docs"]);
    let listed = env.robot(&["list"]);
    for atom in ready["items"].as_array().unwrap() {
        assert!(listed["items"].as_array().unwrap().contains(atom), "one row shape in both");
    }
    assert_eq!(titles(&env.robot(&["ready", "--label", "core"])), ["Parser bug"]);
    assert_eq!(env.robot(&["stats"])["ready"], 2);
}

#[test]
fn a_search_finds_words_in_titles_and_texts_and_survives_any_syntax() {
    let env = project();
    assert_eq!(titles(&env.robot(&["search", "zones"])), ["Parser bug"]);
    assert_eq!(titles(&env.robot(&["search", "pars"])).len(), 1, "a beginning of a word is enough");
    for query in [
        "\"",
        "a AND",
        "NEAR(",
        "*",
        "col:x",
        "^",
        "-x",
        "()",
        "'; DROP TABLE atoms; --",
        "\u{1b}",
        "title:",
    ] {
        let ran = env.run(env.command("el").args(["--robot", "search", "--", query]));
        assert!([0, 2].contains(&ran.status), "{query:?}: {ran:#?}");
        ran.json();
    }
    let id = env.robot(&["list", "--type", "bug"])["items"][0]["id"].as_str().unwrap().to_owned();
    env.el(&["update", &id, "--title", "Renamed entirely"]).ok();
    assert_eq!(titles(&env.robot(&["search", "renamed"])), ["Renamed entirely"]);
    assert_eq!(
        titles(&env.robot(&["search", "parser"])).len(),
        0,
        "what was is not found any more"
    );
}

#[test]
fn orders_are_by_what_was_asked_for() {
    let env = TestEnv::with_tracker();
    let (first, second, third) =
        (env.create("b", &["-p", "low"]), env.create("a", &["-p", "high"]), env.create("c", &[]));
    env.el(&["update", &first, "--title", "b!"]).ok();
    let order = |sort: &str| -> Vec<String> {
        let list = env.robot(&["list", "--sort", sort]);
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|atom| atom["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(order("priority"), [second.clone(), third.clone(), first.clone()]);
    assert_eq!(order("oldest"), [first.clone(), second.clone(), third.clone()]);
    assert_eq!(order("newest"), [third, second, first.clone()]);
    assert_eq!(order("updated")[0], first);
}

#[test]
fn signs_that_are_no_letters_are_searched_for_as_they_stand() {
    let env = TestEnv::with_tracker();
    let plus = env.create("Port the parser to C++", &[]);
    env.create("Port the parser to C", &[]);
    let rocket = env.create("Ship it", &["-d", "Then 🚀 at once"]);
    let share = env.create("Take 100% of it", &[]);
    let cjk = env.create("Release 日本語の文字検索を直す", &["-d", "API仕様とテスト"]);
    env.create("日本の文字", &[]);
    env.create("Release 10 of 100", &[]);
    for (text, want) in [
        ("C++", &plus),
        ("parser c++", &plus),
        ("🚀", &rocket),
        ("ship 🚀", &rocket),
        ("%", &share),
        ("100% take", &share),
        ("本語", &cjk),
        ("文字検索", &cjk),
        ("検索 rel", &cjk),
        ("release 仕様 日本", &cjk),
        ("api仕様", &cjk),
    ] {
        let found = env.robot(&["search", text]);
        assert_eq!(
            (&found["count"], &found["items"][0]["id"]),
            (&1.into(), &want[..].into()),
            "{text}"
        );
    }
    assert_eq!(env.robot(&["search", "日本"])["count"], 2);
    for none in ["🛠", "語本", "%%"] {
        assert_eq!(env.robot(&["search", none])["count"], 0, "{none}");
    }
}

#[test]
fn a_list_marks_what_waits_and_for_what() {
    let env = TestEnv::with_tracker();
    let first = env.create("First", &[]);
    let epic = env.create("Epic", &["--type", "epic", "--blocked-by", &first]);
    let child = env.create("Child", &["--parent", &epic]);
    let later = env.create("Later", &["--defer-until", "5d"]);
    let waits = env.create("Waits", &["--blocked-by", &format!("{child},{later}")]);
    env.create("Free", &[]);
    let listed = env.el(&["list"]).ok().stdout;
    let row = |id: &str| listed.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
    assert!(listed.lines().next().unwrap().contains("WAITS FOR"), "{listed}");
    assert!(row(&child).contains(&format!("{first} (holds {epic})")), "{listed}");
    assert!(row(&later).contains("its date, in "), "{listed}");
    let (one, two) = (format!("{child}, {later}"), format!("{later}, {child}"));
    assert!(row(&waits).contains(&one) || row(&waits).contains(&two), "{listed}");
    let held = env.robot(&["list", "--waiting", "--sort", "title"]);
    assert_eq!(titles(&held), ["Child", "Epic", "Later", "Waits"]);
    assert_eq!(held["items"][0]["holds"][0]["by"], first.as_str());
    let page =
        env.robot(&["list", "--waiting", "--sort", "title", "--limit", "2", "--offset", "1"]);
    assert_eq!((titles(&page), &page["total"]), (vec!["Epic", "Later"], &json!(4)));
    env.el(&["list", "--waiting", "--all"]).fails_with(2);
    env.el(&["close", &first]).ok();
    assert_eq!(titles(&env.robot(&["list", "--waiting", "--label", "x"])), Vec::<&str>::new());
    assert_eq!(titles(&env.robot(&["list", "--waiting", "--sort", "title"])), ["Later", "Waits"]);
}

#[test]
fn a_long_list_marks_the_same_as_a_short_one() {
    let env = TestEnv::with_tracker();
    let lines: String = (0..250)
        .map(|at| match at {
            0 => "{\"key\":\"k0\",\"title\":\"T0\"}\n".to_owned(),
            at if at % 2 == 0 => format!("{{\"title\":\"T{at}\"}}\n"),
            at => format!("{{\"title\":\"T{at}\",\"blocked_by\":[\"k0\"]}}\n"),
        })
        .collect();
    std::fs::write(env.project("plan.jsonl"), lines).unwrap();
    env.el(&["create", "--file", "plan.jsonl"]).ok();
    let first = env.robot(&["next"])["id"].as_str().unwrap().to_owned();
    let all = env.el(&["list"]).ok().stdout;
    let marked =
        |text: &str| text.lines().filter(|line| line.contains(&format!("{first} "))).count();
    assert_eq!(marked(&all), 125 + 1, "{all}");
    assert_eq!(marked(&env.el(&["list", "--limit", "100"]).ok().stdout), 50 + 1);
}

#[test]
fn a_tree_shows_what_contains_what() {
    let env = TestEnv::with_tracker();
    let top = env.create("Top", &["--type", "epic", "-p", "low"]);
    let epic = env.create("Epic", &["--type", "epic", "--parent", &top]);
    let a = env.create("A", &["--parent", &epic, "-l", "x"]);
    let b = env.create("B", &["--parent", &epic, "--blocked-by", &a]);
    let alone = env.create("Alone", &["-p", "high"]);
    let tree = env.el(&["list", "--tree"]).ok().stdout;
    let want = format!(
        "○ {alone} Alone\n○ {top} Top\n└─ ○ {epic} Epic\n   ├─ ○ {a} A\n   └─ ○ {b} B ← {a}\n"
    );
    assert_eq!(tree, want);
    let part = env.el(&["list", "--tree", "-l", "x"]).ok().stdout;
    assert!(part.contains(&format!("{epic} Epic (not in this list)\n   └─ ○ {a} A\n")), "{part}");
    assert_eq!(env.robot(&["list", "--tree"])["count"], 5);
}

#[test]
fn several_atoms_are_shown_in_the_order_that_was_asked_for() {
    let env = TestEnv::with_tracker();
    let (first, second) = (env.create("The first", &[]), env.create("The second", &[]));
    let shown = env.robot(&["show", &second, &first]);
    let ids: Vec<_> = shown["items"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, [&second, &first]);
    let said = env.el(&["show", &second, &first]).ok().stdout;
    assert!(said.find("The second") < said.find("The first"), "{said}");
}

#[test]
fn the_configuration_tells_its_files_its_agents_and_what_was_changed() {
    let env = TestEnv::with_tracker();
    let path = env.el(&["config", "path"]).ok().stdout;
    assert_eq!(path.trim(), env.project(".eluent/config.toml").to_str().unwrap());
    let user = env.robot(&["config", "path", "--user"]);
    assert_eq!(user["path"], env.home().join(".config/el/config.toml").to_str().unwrap());
    assert_eq!(user["exists"], false);
    env.configure("model = \"opus\"\n[agents.gendry]\nexecutor = \"claude\"\n");
    let agents = env.robot(&["config", "agents"])["items"].take();
    let of = |name: &str| agents.as_array().unwrap().iter().find(|row| row["name"] == name);
    let gendry = of("gendry").unwrap();
    assert_eq!((&gendry["executor"], &gendry["model"]), (&"claude".into(), &"opus".into()));
    assert!(of("claude").is_some(), "{agents:#}");
    let changed = env.el(&["config", "show", "--changed"]).ok().stdout;
    assert!(changed.contains("opus") && !changed.contains("execution_timeout"), "{changed}");
    assert!(env.el(&["config", "show"]).ok().stdout.contains("execution_timeout"));
}
