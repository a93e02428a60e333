//! The needs of atoms and agents, and the offers of workers.

use serde_json::{Value, json};

use crate::serve::Board;
use crate::support::{SOON, TestEnv};

/// An atom that needs this, and that any agent closes.
fn needy(env: &TestEnv, needs: &str) -> String {
    env.create("Train it", &["--needs", needs, "-d", &TestEnv::script(&["close done"])])
}

#[test]
fn what_an_atom_needs_is_set_shown_emptied_and_taken_along() {
    let env = TestEnv::with_tracker();
    let id = needy(&env, "macos,gpu");
    assert_eq!(env.show(&id)["needs"], json!(["gpu", "macos"]));
    let shown = env.el(&["show", &id]).ok().stdout;
    assert!(shown.contains("gpu, macos"), "{shown}");
    let changed = env.robot(&["update", &id, "--needs", "gpu", "--needs", "gpu"]);
    assert_eq!(changed["changes"]["needs"], json!({ "from": ["gpu", "macos"], "to": ["gpu"] }));
    assert!(
        env.robot(&["update", &id, "--needs", "gpu"])["changes"].as_object().unwrap().is_empty()
    );
    env.el(&["update", &id, "--needs", "a b"]).fails_with(2);
    env.el(&["create", "x", "--needs", "\u{1b}"]).fails_with(2);
    env.el(&["update", &id, "--needs", "gpu", "--clear-needs"]).fails_with(2);
    env.el(&["undo"]).ok();
    assert_eq!(env.show(&id)["needs"], json!(["gpu", "macos"]));

    // An export takes it along, and lines of other atoms stay as they were.
    let plain = env.create("Plain", &[]);
    let exported = env.el(&["export"]).ok().stdout;
    let line = |id: &str| exported.lines().find(|line| line.contains(id)).unwrap().to_owned();
    assert!(line(&id).contains("\"needs\":[\"gpu\",\"macos\"]"), "{exported}");
    assert!(!line(&plain).contains("needs"), "{exported}");
    let markdown = env.el(&["export", "--format", "markdown"]).ok().stdout;
    assert!(markdown.contains("needs gpu, macos"), "{markdown}");
    let csv = env.el(&["export", "--format", "csv"]).ok().stdout;
    let ends = |end: &str| csv.lines().any(|line| line.ends_with(end));
    assert!(csv.contains(",acceptance,needs\r\n") && ends(",gpu macos") && ends(","), "{csv}");
    let other = TestEnv::with_tracker();
    std::fs::write(other.project("all.jsonl"), &exported).unwrap();
    other.el(&["import", "all.jsonl"]).ok();
    assert_eq!(other.show(&id)["needs"], json!(["gpu", "macos"]));
    other.el(&["update", &id, "--clear-needs"]).ok();
    assert_eq!(other.show(&id)["needs"], json!([]));
    other.el(&["import", "all.jsonl"]).ok();
    assert_eq!(other.show(&id)["needs"], json!([]), "what changed here alone stays");

    std::fs::write(env.project("many.jsonl"), "{\"title\":\"a\",\"needs\":[\"tpu\"]}\n").unwrap();
    let made = env.robot(&["create", "--file", "many.jsonl", "--needs", "gpu"]);
    assert_eq!(made["items"][0]["needs"], json!(["gpu", "tpu"]));
    let plan = "## Fix it\n### Needs\ngpu\n### Priority\n1\n";
    std::fs::write(env.project("plan.md"), plan).unwrap();
    env.el(&["import", "plan.md"]).ok();
    let found = env.robot(&["list", "--text", "Fix it"]);
    assert_eq!(found["items"][0]["needs"], json!(["gpu"]));
}

#[test]
fn a_session_does_not_take_away_what_its_atom_needs() {
    let env = TestEnv::with_tracker();
    let steps = ["el update $EL_ATOM --clear-needs", "el update $EL_ATOM --needs gpu,tpu"];
    let ran = steps.map(|step| format!("sh {step} > out 2>&1; echo $? >> codes"));
    let atom = env.script_atom(&[&ran[0], &ran[1], "close done"]);
    env.el(&["update", &atom, "--needs", "gpu"]).ok();
    env.work(&["--once", "--offers", "gpu"]);
    assert_eq!(std::fs::read_to_string(env.project("codes")).unwrap(), "8\n0\n");
    assert_eq!(env.show(&atom)["needs"], json!(["gpu", "tpu"]));
}

fn event<'e>(events: &'e [Value], name: &str) -> Option<&'e Value> {
    events.iter().find(|event| event["event"] == name)
}

#[test]
fn a_worker_claims_only_what_it_offers() {
    let env = TestEnv::with_tracker();
    let (both, gpu) = (needy(&env, "gpu,macos"), needy(&env, "gpu"));
    let plain = env.script_atom(&["close done"]);
    // In the order of the queue, the others would come first.
    let events = env.work(&["--drain"]);
    assert_eq!([&both, &gpu, &plain].map(|id| env.status(id)), ["open", "open", "closed"]);
    let told = event(&events, "beyond_offers").unwrap_or_else(|| panic!("{events:?}"));
    assert_eq!((&told["atoms"], &told["needs"]), (&json!(2), &json!(["gpu", "macos"])));
    assert_eq!(events.iter().filter(|event| event["event"] == "beyond_offers").count(), 1);
    assert_eq!(event(&events, "finished").unwrap()["summary"]["beyond_offers"], 2);

    // To end with nothing to do is no failure, and it is said.
    let said = env.el(&["work", "--once"]).ok().stdout;
    assert!(said.contains("2 ready atoms") && said.contains("--offers gpu,macos"), "{said}");
    assert!(said.contains("Nothing else was ready"), "{said}");
    let dry = env.robot(&["work", "--dry-run"]);
    assert_eq!(dry["ready"], 0);

    env.configure("worker_offers = [\"gpu\"]\n");
    assert!(event(&env.work(&["--drain"]), "beyond_offers").is_some());
    assert_eq!([&both, &gpu].map(|id| env.status(id)), ["open", "closed"]);
    env.work(&["--drain", "--offers", "gpu,macos"]);
    assert_eq!(env.outcomes(&both), ["closed"]);
    // A person takes anything.
    let more = needy(&env, "gpu");
    assert_eq!(env.robot(&["next", "--claim"])["id"], more.as_str());
}

#[test]
fn a_retry_needs_what_the_first_attempt_needed() {
    let env = TestEnv::with_tracker();
    let atom = env.script_atom(&["exit 3"]);
    env.el(&["update", &atom, "--needs", "gpu"]).ok();
    env.work(&["--once", "--offers", "gpu"]);
    let first = env.outcomes(&atom);
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(event(&env.work(&["--drain"]), "beyond_offers").is_some());
    assert_eq!(env.outcomes(&atom), first);
}

#[test]
fn what_no_worker_can_take_is_told_with_what_would() {
    let env = TestEnv::with_tracker();
    let atom = needy(&env, "gpu");
    let plain = env.create("Plain", &[]);
    let why = env.robot(&["why", &atom]);
    assert_eq!(why["holds"], json!([{ "hold": "needs", "needs": ["gpu"] }]));
    assert_eq!(why["ready"], true, "for a person");
    let told = env.el(&["why", &atom]).ok().stdout;
    assert!(told.contains("No worker that is there offers gpu: el work --offers gpu"), "{told}");
    assert!(!env.el(&["why", &plain]).ok().stdout.contains("offers"));
    let waiting = env.robot(&["list", "--waiting"]);
    assert_eq!((&waiting["count"], &waiting["items"][0]["id"]), (&json!(1), &json!(atom)));
    let listed = env.el(&["list"]).ok().stdout;
    assert!(listed.contains("a worker that offers gpu"), "{listed}");
    let board = env.robot(&["status"]);
    assert_eq!(board["waiting"]["items"][0]["holds"][0]["hold"], "needs", "{board}");
    assert_eq!(board["ready"]["items"][0]["id"], plain.as_str());
    let need = &board["needs"]["items"][0];
    assert_eq!(
        (&need["kind"], &need["title"]),
        (&json!("no_worker"), &json!("No worker offers gpu"))
    );
    assert_eq!(need["ways"][0]["command"], "el work --background --offers gpu");
    let screen = env.screen(140, 30, "el top");
    screen.wait_for("No worker offers gpu");
    screen.wait_for("for a worker that offers gpu");
    screen.press("q");
    screen.wait_for("[exit 0]");
    let shown = Board::start(&env, &[]).get("/api/snapshot").data();
    assert_eq!(shown["needs"]["items"][0]["title"], "No worker offers gpu", "{shown}");
    assert_eq!(shown["waiting"]["items"][0]["holds"], why["holds"], "{shown}");
    env.el(&["update", &atom, "--assignee", "claude"]).ok();
    let queue = env.robot(&["queue", "show", "claude"]);
    let held = serde_json::to_string(&queue["items"][0]["held"]).unwrap();
    assert!(held.contains(&atom), "{queue}");

    // Somebody who does is there.
    let hang = env.create("Hang", &["-p", "0", "-d", &TestEnv::script(&["hang"])]);
    let worker = env.start_work(&["--offers", "gpu", "--name", "forge"]);
    worker.wait_for("launched");
    assert_eq!(env.robot(&["why", &atom])["holds"], json!([]));
    assert_eq!(env.robot(&["status"])["waiting"]["count"], 0);
    assert_eq!(env.robot(&["workers"])["items"][0]["offers"], json!(["gpu"]));
    assert!(env.el(&["workers"]).ok().stdout.contains("gpu"));
    assert!(env.el(&["workers", "show", "forge"]).ok().stdout.contains("offers gpu"));
    assert!(env.el(&["work", "--status"]).ok().stdout.contains("offers gpu"));
    env.el(&["cancel", &hang]).ok();
    env.wait_for_status(&atom, "closed");
    env.el(&["work", "--stop"]).ok();
    worker.wait(SOON).ok();
}

#[test]
fn an_agent_works_where_its_table_says() {
    let env = TestEnv::with_tracker();
    let agents = "agent = \"claude, smith\"\n[agents.smith]\nhosts = [\"no-such-*\"]\n";
    env.configure(agents);
    let (mine, other) = (env.script_atom(&["close done"]), env.script_atom(&["close done"]));
    env.el(&["update", &mine, "--assignee", "smith"]).ok();
    let said = env.el(&["work", "--drain"]).ok();
    assert!(said.stderr.contains("smith works on no-such-* only"), "{}", said.stderr);
    assert_eq!([&mine, &other].map(|id| env.status(id)), ["open", "closed"]);
    let why = env.robot(&["why", &mine]);
    assert_eq!(why["agent_place"]["hosts"], json!(["no-such-*"]), "{why}");
    let told = env.el(&["why", &mine]).ok().stdout;
    assert!(told.contains("hosts called no-such-*"), "{told}");
    let refused = env.el(&["work", "--drain", "--agent", "smith"]).fails_with(6).stderr;
    assert!(refused.contains("smith works on no-such-* only"), "{refused}");

    env.configure("[agents.smith]\nneeds = [\"gpu\"]\n");
    let refused = env.el(&["work", "--drain", "--agent", "smith"]).fails_with(6).stderr;
    assert!(refused.contains("smith needs gpu: el work --offers gpu"), "{refused}");
    assert!(env.el(&["why", &mine]).ok().stdout.contains("el work --offers gpu"));
    env.work(&["--drain", "--agent", "smith", "--offers", "gpu"]);
    assert_eq!(env.status(&mine), "closed");
}

#[test]
fn a_task_that_no_worker_here_could_do_is_filed_and_told() {
    let env = TestEnv::with_tracker();
    let prompt = TestEnv::script(&["close done"]);
    let filed = env.robot(&["run", &prompt, "--needs", "gpu"]);
    assert_eq!(filed["started_worker"], Value::Null);
    assert_eq!(
        (&filed["queue"]["is_served"], &filed["queue"]["position"]),
        (&json!(false), &Value::Null)
    );
    let warning = filed["warnings"].to_string();
    assert!(warning.contains("el work --offers gpu"), "{warning}");
    env.work(&["--drain", "--offers", "gpu"]);
    assert_eq!(env.status(filed["id"].as_str().unwrap()), "closed");
    // The setting of this machine counts for the worker that is started.
    env.configure("worker_offers = [\"gpu\"]\n");
    env.el(&["run", &prompt, "--needs", "gpu", "--wait"]).ok();
}

/// A worker that had the tracker open before it was brought up says nothing of offers.
#[test]
fn a_worker_of_an_older_el_gets_nothing_that_needs_something() {
    let env = TestEnv::with_tracker();
    let hang = env.script_atom(&["hang"]);
    let worker = env.start_work(&["--offers", "gpu"]);
    worker.wait_for("launched");
    env.database().execute("UPDATE workers SET offers = NULL", []).unwrap();
    let atom = needy(&env, "gpu");
    env.el(&["cancel", &hang]).ok();
    worker.wait_for("warning");
    assert_eq!(env.status(&atom), "open");
    assert!(env.runs(&atom).is_empty());
    env.el(&["work", "--stop"]).ok();
    drop(worker.wait(SOON));
}
