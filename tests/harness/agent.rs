//! The scripted agent behaves as described in `fakes/fake_agent/script.rs`. `el` is a stub here.

use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Process, Ran, SOON, TestEnv, wait_until};

const ID: &str = "5d1c9f0a-1111-4222-8333-0123456789ab";

/// An environment whose `el` only records its arguments.
fn stubbed() -> TestEnv {
    let mut env = TestEnv::new();
    env.program("el", "#!/bin/sh\necho \"$*\" >> el.log\necho \"did $1\"\n");
    env.set("EL_ATOM", "t-1a2b").set("EL_SESSION", "runs/run-1/session/socket");
    env
}

fn claude(env: &TestEnv, prompt: &str, more: &[&str]) -> Command {
    std::fs::write(env.project("prompt.md"), prompt).unwrap();
    // `start` gives every command an empty stdin; the shell puts the prompt there.
    let mut command = env.command("sh");
    command.args([
        "-c",
        "exec claude \"$@\" < prompt.md",
        "sh",
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
    ]);
    command.args(more);
    command
}

fn play(env: &TestEnv, steps: &[&str], more: &[&str]) -> Ran {
    let prompt = format!("# The work item\n\n{}\nThe end.\n", TestEnv::script(steps));
    env.run(&mut claude(env, &prompt, more))
}

fn events(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn result(ran: &Ran) -> Value {
    events(ran)
        .pop()
        .filter(|event| event["type"] == "result")
        .expect("the last event is the result")
}

fn el_log(env: &TestEnv) -> String {
    std::fs::read_to_string(env.project("el.log")).unwrap_or_default()
}

#[test]
fn without_a_script_it_closes_its_atom() {
    let env = stubbed();
    let ran = env
        .run(&mut claude(&env, "do it", &["--allowedTools", "Bash(el *)", "--session-id", ID]))
        .ok();
    assert_eq!(el_log(&env), "close t-1a2b --reason done\n");
    let events = events(&ran);
    let kinds: Vec<&str> = events.iter().map(|e| e["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "assistant", "assistant", "user", "result"]);
    assert!(events.iter().all(|e| e["session_id"] == ID), "{events:#?}");
    assert_eq!(events[3]["message"]["content"][0]["content"], "did close");
    assert_eq!(result(&ran)["is_error"], false);
}

#[test]
fn a_call_without_a_rule_is_denied_and_the_run_ends_well() {
    let env = stubbed();
    let ran = play(&env, &["close because", "sh echo free > free.txt"], &[]).ok();
    assert_eq!(el_log(&env), "");
    assert!(env.project("free.txt").exists());
    assert_eq!(
        result(&ran)["permission_denials"][0]["tool_input"]["command"],
        "el close \"$EL_ATOM\" --reason 'because'"
    );
}

#[test]
fn a_rule_of_the_settings_allows_too() {
    let env = stubbed();
    let settings = r#"{"permissions":{"allow":["Bash(el *)"]}}"#;
    play(&env, &["update deferred", "el comment add $EL_ATOM why"], &["--settings", settings]).ok();
    assert_eq!(el_log(&env), "update t-1a2b --status deferred\ncomment add t-1a2b why\n");
}

#[test]
fn a_stop_hook_sends_it_back_once() {
    let env = stubbed();
    env.program(
        "gate",
        "#!/bin/sh\ncat > stop-$(ls stop-* 2>/dev/null | wc -l).json\n\
         [ -s el.log ] || printf '{\"decision\":\"block\",\"reason\":\"close it\"}'\n",
    );
    let settings =
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"gate","timeout":20}]}]}}"#;
    std::fs::write(env.project("settings.json"), settings).unwrap();
    let steps = ["say I think that is all", "on-block", "close after all"];
    let ran =
        play(&env, &steps, &["--settings", "settings.json", "--allowedTools", "Bash(el *)"]).ok();
    assert_eq!(el_log(&env), "close t-1a2b --reason after all\n");
    assert!(ran.stdout.contains(r"Stop hook feedback:\nclose it"), "{ran:#?}");
    let asked = |n: u32| -> Value {
        serde_json::from_str(
            &std::fs::read_to_string(env.project(format!("stop-{n}.json"))).unwrap(),
        )
        .unwrap()
    };
    assert_eq!(asked(0)["stop_hook_active"], false);
    assert_eq!(asked(0)["last_assistant_message"], "I think that is all");
    assert_eq!(asked(1)["stop_hook_active"], true);
}

#[test]
fn a_resumed_conversation_knows_its_script_and_its_cost() {
    let env = stubbed();
    let steps = ["say one", "on-resume", "close now", "say two"];
    let first = play(&env, &steps, &["--session-id", ID]).ok();
    let more = ["--resume", ID, "--allowedTools", "Bash(el *)"];
    let second = env.run(&mut claude(&env, "please close it", &more)).ok();
    assert_eq!(el_log(&env), "close t-1a2b --reason now\n");
    assert_eq!(result(&first)["total_cost_usd"], 0.001);
    assert_eq!(result(&second)["usage"]["input_tokens"], 200);
    assert_eq!(result(&second)["total_cost_usd"], 0.003);
}

#[test]
fn session_ids_are_taken_once_and_resumed_only_if_known() {
    let env = stubbed();
    play(&env, &["say one"], &["--session-id", ID]).ok();
    let again = play(&env, &["say one"], &["--session-id", ID]).fails_with(1);
    assert!(again.stderr.contains("is already in use"), "{again:#?}");
    let unknown = play(&env, &["say one"], &["--resume", "5d1c9f0a-1111-4222-8333-000000000000"])
        .fails_with(1);
    assert!(unknown.stderr.contains("No conversation found"), "{unknown:#?}");
    play(&env, &["say one"], &["--session-id", "no-uuid"]).fails_with(1);
}

#[test]
fn attempts_at_an_atom_are_counted() {
    let env = stubbed();
    let steps = ["exit 7", "on-attempt 2", "api-error 500", "on-attempt 3", "say third"];
    play(&env, &steps, &[]).fails_with(7);
    let second = play(&env, &steps, &[]).fails_with(1);
    assert_eq!(result(&second)["api_error_status"], 500);
    assert_eq!(result(&second)["subtype"], "success");
    assert_eq!(result(&play(&env, &steps, &[]).ok())["result"], "third");
}

#[test]
fn limits_look_as_in_the_client() {
    let env = stubbed();
    let ran = play(&env, &["rate-limit 1795831700"], &[]).fails_with(1);
    let event = events(&ran).into_iter().find(|e| e["type"] == "rate_limit_event").unwrap();
    assert_eq!(event["rate_limit_info"]["status"], "rejected");
    assert_eq!(event["rate_limit_info"]["resetsAt"], 1_795_831_700);
    assert_eq!(result(&ran)["api_error_status"], 429);
    let ran = play(&env, &["say 1", "say 2", "say 3"], &["--max-turns", "2"]).fails_with(1);
    assert_eq!(result(&ran)["subtype"], "error_max_turns");
}

#[test]
fn it_can_print_what_no_reader_expects() {
    let env = stubbed();
    let steps = [
        "raw not json",
        "bad-utf8",
        "control-codes",
        "long-line 300000",
        "spam 20000",
        "partial {\"type\":",
    ];
    let ran = play(&env, &[&steps[..], &["no-result", "exit 0"]].concat(), &[]).ok();
    assert!(ran.stdout.lines().any(|l| l == "not json"));
    assert!(
        ran.stdout.contains('\u{fffd}'),
        "the bytes that are no UTF-8 are replaced only by this test's reader"
    );
    assert!(ran.stdout.lines().any(|l| l.len() > 300_000));
    assert!(ran.stdout.ends_with("{\"type\":"));
}

#[test]
fn it_says_which_line_is_not_a_step() {
    let ran = play(&stubbed(), &["say hello", "slep 12"], &[]).fails_with(1);
    assert!(ran.stderr.contains("not a step: slep 12"), "{ran:#?}");
}

#[test]
fn sigint_kills_its_tool_and_ends_it_as_the_client_ends() {
    let env = stubbed();
    let prompt = TestEnv::script(&["sh touch running; sleep 300"]);
    let agent = env.start(&mut claude(&env, &prompt, &[]));
    env.wait_for_file("running");
    agent.signal(Signal::INT);
    let ran = agent.wait(SOON).ok();
    assert_eq!(result(&ran)["subtype"], "error_during_execution");
    // A killed process is listed until somebody has waited for it.
    wait_until("no process", SOON, || env.processes().is_empty().then_some(()));
}

#[test]
fn a_deaf_agent_hears_only_sigkill() {
    let env = stubbed();
    let prompt =
        TestEnv::script(&["ignore-signals", "touch deaf", "wait-file go", "touch went-on", "hang"]);
    let agent = env.start(&mut claude(&env, &prompt, &[]));
    env.wait_for_file("deaf");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        agent.signal(signal);
    }
    std::fs::write(env.project("go"), "").unwrap();
    env.wait_for_file("went-on");
    agent.signal(Signal::KILL);
    agent.wait(SOON).fails_with(137);
}

#[test]
fn children_outlive_it_as_their_flags_say() {
    let mut env = stubbed();
    let steps = [
        "child 300 setsid double-fork pid=marked",
        "child 300 setsid clean-env ignore-signals pid=stray",
        "child 1 setsid close hold-stdout",
    ];
    play(&env, &steps, &[]).ok();
    let marked: u32 = env.wait_for_file("marked").parse().unwrap();
    let stray = env.stray("stray");
    assert!(Process::runs(marked) && Process::runs(stray));
    let pids: Vec<u32> = env.processes_of_run("run-1").iter().map(|p| p.pid).collect();
    assert!(pids.contains(&marked) && !pids.contains(&stray), "{pids:?}");
    wait_until("the late close", SOON, || {
        (el_log(&env) == "close t-1a2b --reason late\n").then_some(())
    });
    drop(env);
    wait_until("their end with the environment", SOON, || {
        (!Process::runs(marked) && !Process::runs(stray)).then_some(())
    });
}

#[test]
fn what_it_was_given_is_on_record() {
    let mut env = stubbed();
    env.set("SECRET", "x");
    play(&env, &["record got.json", "usage 1000 50 0.25", "say paid"], &["--model", "haiku"]).ok();
    let got: Value = serde_json::from_str(&env.wait_for_file("got.json")).unwrap();
    assert_eq!(got["env"]["SECRET"], "x");
    assert_eq!(got["attempt"], 1);
    assert!(got["prompt"].as_str().unwrap().starts_with("# The work item"));
    assert!(got["argv"].as_array().unwrap().iter().any(|w| w == "haiku"));
}

#[test]
fn on_a_screen_it_asks_and_stays() {
    let env = stubbed();
    let mut command = env.command("claude");
    let mut agent = command
        .arg(TestEnv::script(&["close done"]))
        .stdin(Stdio::piped())
        .stdout(std::fs::File::create(env.project("screen")).unwrap())
        .spawn()
        .unwrap();
    let screen = || std::fs::read_to_string(env.project("screen")).unwrap();
    wait_until("the question", SOON, || screen().contains("Do you want to proceed?").then_some(()));
    assert_eq!(el_log(&env), "");
    let stdin = agent.stdin.as_mut().unwrap();
    std::io::Write::write_all(stdin, b"1\n").unwrap();
    wait_until("the close", Duration::from_secs(20), || {
        el_log(&env).starts_with("close").then_some(())
    });
    wait_until("the prompt", SOON, || screen().contains("\n> ").then_some(()));
    std::io::Write::write_all(stdin, b"/exit\n").unwrap();
    wait_until("its end", SOON, || agent.try_wait().unwrap());
}

#[test]
fn bad_flags_are_refused_as_by_the_client() {
    let env = stubbed();
    assert!(
        env.run(env.command("claude").args(["-p", "--nonsense"]))
            .fails_with(1)
            .stderr
            .contains("unknown option")
    );
    let ran = env
        .run(env.command("claude").args(["-p", "hi", "--output-format", "stream-json"]))
        .fails_with(1);
    assert!(ran.stderr.contains("requires --verbose"), "{ran:#?}");
    // The following words belong to --allowedTools, so there is no prompt.
    let ran = env
        .run(env.command("claude").args(["-p", "--allowedTools", "Bash(el *)", "hi"]))
        .fails_with(1);
    assert!(ran.stderr.contains("Input must be provided"), "{ran:#?}");
    assert!(env.run(env.command("claude").arg("--version")).ok().stdout.contains("(Claude Code)"));
    assert_eq!(Process::carrying("EL_TEST_ENV=none"), []);
}
