//! Two hosts with a server between them: each has a clone of its own, and a name.

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;
use serde_json::Value;

use super::on_server;
use crate::support::{SOON, TestEnv, send, wait_until};

/// Runs a program on a host of another name.
const NAMED: &str = "echo \"$0\" > /proc/sys/kernel/hostname && exec \"$@\"";

/// A host with this name, as root in a namespace of its own. `None`: this machine cannot have one.
pub(super) fn host(name: &str, url: &str) -> Option<TestEnv> {
    let mut env = TestEnv::new();
    let rights: &[&str] = match rustix::process::geteuid().is_root() {
        true => &["unshare", "--uts"],
        false => &["unshare", "--uts", "--user", "--map-root-user"],
    };
    env.run_through(&[rights, &["sh", "-c", NAMED, name]].concat());
    if env.run(&mut env.command("true")).status != 0 {
        let is_wanted = std::env::var_os("EL_REQUIRE_SANDBOX").is_some();
        assert!(!is_wanted, "no host of another name can be had here");
        eprintln!("skipped: no host of another name can be had here");
        return None;
    }
    env.set("EL_DATABASE_URL", url);
    Some(env)
}

/// Two hosts with clones of one repository, whose agents work in worktrees.
fn two_hosts(configuration: &str) -> Option<(TestEnv, TestEnv)> {
    let (_, url) = on_server()?;
    let (first, second) = (host("first", &url)?, host("second", &url)?);
    let origin = first.path("origin.git");
    let origin = origin.to_str().unwrap();
    first.git(&["init", "--quiet", "--bare", origin]);
    for env in [&first, &second] {
        env.git(&["clone", "--quiet", origin, "."]);
        if env.git(&["branch", "--list", "--remotes"]).is_empty() {
            env.git(&["commit", "--quiet", "--allow-empty", "-m", "base"]);
            env.git(&["push", "--quiet", "origin", "HEAD"]);
        }
    }
    first.el(&["init", "--name", "t"]).ok();
    std::fs::create_dir_all(second.project(".eluent")).unwrap();
    for env in [&first, &second] {
        env.configure(&format!("isolate = \"worktree\"\n{configuration}"));
    }
    Some((first, second))
}

/// A host that was cut off after a commit, and whose atom another one went on with.
#[test]
fn commits_of_a_lost_run_are_set_aside_where_they_were_made() {
    let Some((first, second)) = two_hosts("remote = \"origin\"\n") else { return };
    let below = first.writer("base.txt", "one");
    first.work(&["--once"]);
    let lost = first.last_run(&below)["id"].as_str().unwrap().to_owned();
    let rest = "sh echo two > more.txt && git add more.txt && git commit -q -m more";
    first.el(&["update", &below, "-d", &TestEnv::script(&[rest, "close done"])]).ok();
    first.el(&["reopen", &below]).ok();
    second.work(&["--once"]);
    let tree = first.project(".eluent/worktrees").join(&below);
    let in_tree =
        |words: &[&str]| first.git(&[&["-C", tree.to_str().unwrap()][..], words].concat());
    in_tree(&["commit", "--quiet", "--allow-empty", "-m", "stale"]);
    let stale = in_tree(&["rev-parse", "HEAD"]);
    let now = first.run(first.command("date").arg("+%s000000")).ok().stdout;
    let sql = format!("UPDATE runs SET outcome = 'lost', ended_at = {now} WHERE id = '{lost}'");
    super::elsewhere::change_rows(&first, &sql);
    let above = follower(&first, "next.txt", (&below, "base.txt"));
    first.work(&["--once"]);
    assert_eq!(first.outcomes(&above), ["closed"]);
    let kept = format!("refs/el/lost/{below}/{lost}");
    assert_eq!(first.git(&["rev-parse", &kept]), stale);
    assert_eq!(in_tree(&["log", "-1", "--format=%s"]), "more");
    let told = first.read_run_file(&first.last_run(&above), "pane.log");
    assert!(told.contains("set aside"), "{told}");
}

fn host_of(run: &Value) -> String {
    let boot = run["supervisor"]["boot"].as_str().unwrap();
    boot.split_once('|').unwrap().0.to_owned()
}

/// An atom whose agent writes a file, once another atom's file is there.
fn follower(env: &TestEnv, file: &str, after: (&str, &str)) -> String {
    let write =
        format!("sh cat {} > {file} && git add {file} && git commit -q -m '{file}'", after.1);
    env.create(
        "Build on it",
        &["--blocked-by", after.0, "-d", &TestEnv::script(&[&write, "close done"])],
    )
}

#[test]
fn work_goes_on_where_another_host_left_it_and_lands_on_either() {
    let Some((first, second)) = two_hosts("remote = \"origin\"\n") else { return };
    let below = first.writer("base.txt", "one");
    let above = follower(&first, "next.txt", (&below, "base.txt"));
    first.work(&["--once"]);
    second.work(&["--once"]);
    let hosts = [&below, &above].map(|id| host_of(&first.last_run(id)));
    assert_eq!(hosts, ["first", "second"]);
    assert_eq!(first.outcomes(&above), ["closed"]);
    // The deeds of either are read on the other, from the server.
    let run = first.last_run(&below);
    let raw = |env: &TestEnv| env.el(&["logs", &below, "--raw"]).ok().stdout;
    assert_eq!(raw(&second), first.read_run_file(&run, "transcript.jsonl"));
    assert!(second.el(&["logs", &below, "-f"]).ok().stdout.contains("echo one"));
    let summary = |env: &TestEnv| env.el(&["artifacts", "get", &below, "summary"]).ok().stdout;
    assert_eq!(summary(&second), summary(&first));
    assert_eq!(
        second.read_run_file(&run, "RESULTS.json"),
        first.read_run_file(&run, "RESULTS.json")
    );
    // The branch that this host never had.
    assert_eq!(first.robot(&["diff", &above])["files"], serde_json::json!(["next.txt"]));
    assert_eq!(first.robot(&["land", "--all"])["landed"], 2);
    assert_eq!(std::fs::read_to_string(first.project("next.txt")).unwrap(), "one\n");
    // Nothing but the atoms' branches was pushed.
    let there = first.git(&["ls-remote", "--heads", "origin"]);
    let mut names: Vec<&str> =
        there.lines().filter_map(|line| Some(line.split_once('\t')?.1)).collect();
    names.sort_unstable();
    let mut wanted = [below, above].map(|id| format!("refs/heads/el/{id}")).to_vec();
    wanted.push("refs/heads/main".to_owned());
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    assert_eq!(first.git(&["rev-list", "--count", "origin/main"]), "1");
}

#[test]
fn a_remote_that_the_clone_does_not_have_is_told_before_a_run() {
    let Some((first, _)) = two_hosts("remote = \"nosuch\"\n") else { return };
    let doctor = first.el(&["doctor"]);
    assert!((doctor.stdout + &doctor.stderr).contains("no such remote"));
    let told = first.el(&["work", "--drain"]).ok().stderr;
    assert!(told.contains("no such remote (it has origin)"), "{told}");
    let set = first.el(&["config", "set", "remote", "other"]).ok().stderr;
    assert!(set.contains("git remote add other URL"), "{set}");
    assert!(!first.el(&["config", "set", "remote", "origin"]).ok().stderr.contains("no such"));
}

#[test]
fn a_branch_at_the_remote_goes_once_its_work_has_landed_there() {
    let Some((first, second)) = two_hosts("remote = \"origin\"\n") else { return };
    let (done, moved, open) =
        (first.writer("a.txt", "a"), first.writer("b.txt", "b"), first.writer("c.txt", "c"));
    first.work(&["--drain"]);
    first.el(&["reopen", &open]).ok();
    let at_remote = || first.git(&["ls-remote", "--heads", "origin"]);
    assert_eq!(first.robot(&["land", &done, &moved])["landed"], 2);
    // Other machines need it as long as the remote's own main lacks it.
    first.el(&["worktrees", "prune"]).ok();
    assert!(at_remote().contains(&done), "{}", at_remote());
    first.git(&["push", "--quiet", "origin", "HEAD"]);
    // Somebody goes on with one of them.
    let tip = format!("origin/el/{moved}");
    second.git(&["fetch", "--quiet", "origin"]);
    second.git(&["switch", "--quiet", "--detach", &tip]);
    std::fs::write(second.project("more.txt"), "more").unwrap();
    second.git(&["add", "more.txt"]);
    second.git(&["commit", "--quiet", "-m", "more"]);
    second.git(&["push", "--quiet", "origin", &format!("HEAD:el/{moved}")]);
    second.git(&["switch", "--quiet", "main"]);
    let dry = second.robot(&["worktrees", "prune", "--dry-run"]);
    assert_eq!(dry["remote_branches"], serde_json::json!([format!("el/{done}")]));
    assert!(at_remote().contains(&done));
    second.el(&["worktrees", "prune"]).ok();
    let left = at_remote();
    assert!(!left.contains(&done) && left.contains(&moved) && left.contains(&open), "{left}");
    assert!(left.contains("refs/heads/main"), "{left}");
}

/// A host that is gone leaves its commits: they are pushed while the agent works.
#[test]
fn the_next_attempt_has_the_commits_of_another_host() {
    let Some((first, second)) = two_hosts("remote = \"origin\"\n") else { return };
    let half = "sh echo half > a.txt && git add a.txt && git commit -q -m half";
    let rest = "sh cat a.txt > b.txt && git add b.txt && git commit -q -m rest";
    let atom = first.script_atom(&[half, "hang"]);
    let worker = first.start_work(&[]);
    wait_until("the branch at the remote", SOON, || {
        let there = first.git(&["ls-remote", "--heads", "origin", &format!("el/{atom}")]);
        (!there.is_empty()).then_some(())
    });
    // Up to the last heartbeat.
    wait_until("the transcript on the other host", SOON, || {
        let shown = second.el(&["logs", &atom]);
        shown.stdout.contains("echo half").then_some(())
    });
    first.el(&["work", "--stop"]).ok();
    worker.wait(SOON).ok();
    first.el(&["update", &atom, "-d", &TestEnv::script(&[rest, "close done"])]).ok();
    second.work(&["--once"]);
    assert_eq!(host_of(&first.last_run(&atom)), "second");
    assert_eq!(second.robot(&["diff", &atom])["files"], serde_json::json!(["a.txt", "b.txt"]));
}

#[test]
fn work_that_lies_on_another_host_is_waited_for_without_a_remote() {
    let Some((first, second)) = two_hosts("") else { return };
    let below = first.writer("base.txt", "one");
    let above = follower(&first, "next.txt", (&below, "base.txt"));
    first.work(&["--once"]);
    second.el(&["work", "--once"]);
    let run = first.last_run(&above);
    assert_eq!((host_of(&run), &run["outcome"]), ("second".to_owned(), &"interrupted".into()));
    let why = second.el(&["why", &above]).ok().stdout;
    assert!(why.contains(&format!("the work of {below} was done on first")), "{why}");
    assert!(why.contains("remote"), "{why}");
    assert_eq!(first.status(&above), "open");
    let needs = first.robot(&["status"])["needs"]["items"].take();
    let row = needs.as_array().unwrap().iter().find(|need| need["atom_id"] == above.as_str());
    let row = row.unwrap_or_else(|| panic!("{needs}"));
    assert!(row["why"].as_str().unwrap().contains("was done on first"), "{row}");
    // Nothing was charged, and the host that has the work does it.
    first.el(&["retry", &above]);
    first.work(&["--once"]);
    assert_eq!(first.status(&above), "closed");
}

/// Lands all branches, expects the exit code, and returns the outcomes.
fn land(env: &TestEnv, code: i32) -> Value {
    let ran = env.run(env.command("el").args(["--robot", "land", "--all"]));
    assert_eq!(ran.status, code, "{ran:?}");
    let json = ran.json();
    let of = if code == 0 { &json["data"]["items"] } else { &json["error"]["details"]["items"] };
    of.clone()
}

/// Has the remote refuse every push, or not.
fn refuse_pushes(env: &TestEnv, refuses: bool) {
    let hook = env.path("origin.git/hooks/pre-receive");
    std::fs::write(&hook, format!("#!/bin/sh\necho no room here\nexit {}\n", refuses as u8))
        .unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn no_host_lands_half_of_what_another_handed_in() {
    let Some((first, second)) = two_hosts("remote = \"origin\"\n") else { return };
    let commit =
        |file: &str| format!("sh echo x > {file} && git add {file} && git commit -q -m {file}");
    let go = first.project("go");
    let wait = format!("wait-file {}", go.display());
    let atom = first.script_atom(&[&commit("a.txt"), &wait, &commit("b.txt"), "close done"]);
    let worker = first.start_work(&["--once"]);
    wait_until("the first commit at the remote", SOON, || {
        let there = first.git(&["ls-remote", "--heads", "origin", &format!("el/{atom}")]);
        (!there.is_empty()).then_some(())
    });
    refuse_pushes(&first, true);
    std::fs::write(go, "").unwrap();
    worker.wait(SOON).ok();
    let left = land(&second, 4);
    assert_eq!(left[0]["fate"], "astray");
    let why = left[0]["detail"].as_str().unwrap();
    assert!(why.contains("on first, which the branch here lacks"), "{why}");
    assert!(!second.project("a.txt").exists());
    // The next run there brings the rest.
    refuse_pushes(&first, false);
    first.writer("c.txt", "x");
    first.work(&["--once"]);
    assert_eq!(land(&second, 0).as_array().unwrap().len(), 2);
    assert!(second.project("a.txt").exists() && second.project("b.txt").exists());
}

/// A trigger that lets no run end whose commits the other hosts cannot know.
const TIP_FIRST: &str = "CREATE FUNCTION tip_first() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
         IF NOT EXISTS (SELECT 1 FROM run_files WHERE run_id = NEW.id AND name = 'tip') THEN
             RAISE EXCEPTION 'nobody knows the commits of %', NEW.id;
         END IF;
         RETURN NEW;
     END $$;
     CREATE TRIGGER tip_first BEFORE UPDATE ON runs FOR EACH ROW
     WHEN (OLD.outcome IS NULL AND NEW.outcome IS NOT NULL) EXECUTE FUNCTION tip_first()";

#[test]
fn a_run_whose_supervisor_was_killed_tells_its_commits_before_it_counts_as_over() {
    let configuration = "remote = \"origin\"\nclose_grace = \"10m\"\n";
    let Some((first, second)) = two_hosts(configuration) else { return };
    super::elsewhere::change_rows(&first, TIP_FIRST);
    let commit = "sh echo x > a.txt && git add a.txt && git commit -q -m a";
    let atom = first.script_atom(&[commit, "close done", "hang"]);
    let worker = first.start_work(&["--once"]);
    first.wait_for_status(&atom, "closed");
    let pid = first.last_run(&atom)["supervisor"]["pid"].as_u64().unwrap();
    send(u32::try_from(pid).unwrap(), Signal::KILL);
    worker.wait(SOON).ok();
    assert_eq!(first.outcomes(&atom), ["closed"]);
    assert_eq!(land(&second, 0)[0]["fate"], "landed");
}

#[test]
fn what_a_host_that_is_gone_for_good_closed_lands_elsewhere_once_it_is_reopened() {
    let configuration = "remote = \"origin\"\nclose_grace = \"10m\"\nlease = \"5s\"\n";
    let Some((first, second)) = two_hosts(configuration) else { return };
    let commit = "sh echo x > a.txt && git add a.txt && git commit -q -m a";
    let atom = first.script_atom(&[commit, "close done", "hang"]);
    let worker = first.start_work(&["--once"]);
    first.wait_for_status(&atom, "closed");
    wait_until("the commit at the remote", SOON, || {
        let there = first.git(&["ls-remote", "--heads", "origin", &format!("el/{atom}")]);
        (!there.is_empty()).then_some(())
    });
    worker.signal(Signal::KILL);
    let pid = first.last_run(&atom)["supervisor"]["pid"].as_u64().unwrap();
    send(u32::try_from(pid).unwrap(), Signal::KILL);
    let _ = worker.wait(SOON);
    wait_until("the end of its lease", SOON, || {
        second.el(&["work", "--once"]);
        (!second.last_run(&atom)["outcome"].is_null()).then_some(())
    });
    let left = land(&second, 4);
    let why = left[0]["detail"].as_str().unwrap();
    assert!(why.contains(&format!("el reopen {atom} here")), "{why}");
    second.el(&["update", &atom, "-d", &TestEnv::script(&["close done"])]).ok();
    second.el(&["reopen", &atom]).ok();
    second.work(&["--once"]);
    assert_eq!(land(&second, 0)[0]["fate"], "landed");
    assert!(second.project("a.txt").exists());
}

/// Amends an atom's branch at the remote, as a reviewer does. Returns the branch.
fn rewrite_there(env: &TestEnv, atom: &str) -> String {
    let branch = format!("el/{atom}");
    env.git(&["fetch", "--quiet", "origin"]);
    env.git(&["checkout", "--quiet", &branch]);
    env.git(&["commit", "--quiet", "--amend", "-m", "reviewed"]);
    env.git(&["push", "--quiet", "--force", "origin", &branch]);
    env.git(&["checkout", "--quiet", "main"]);
    branch
}

#[test]
fn no_host_lands_a_branch_whose_remote_has_other_commits() {
    let Some((first, second)) = two_hosts("remote = \"origin\"\n") else { return };
    let atom = first.writer("a.txt", "x");
    first.work(&["--once"]);
    let branch = rewrite_there(&second, &atom);
    // A host with nothing of its own takes what the reviewer made of it.
    assert_eq!(land(&second, 0)[0]["fate"], "landed");
    assert_eq!(second.git(&["log", "-1", "--format=%s"]), "reviewed");
    let tree = first.project(".eluent/worktrees").join(&atom);
    let in_tree = |words: &[&str]| {
        let at = ["-C", tree.to_str().unwrap()];
        first.git(&[&at[..], words].concat())
    };
    std::fs::write(tree.join("b.txt"), "mine\n").unwrap();
    in_tree(&["add", "b.txt"]);
    in_tree(&["commit", "--quiet", "-m", "mine"]);
    let left = land(&first, 4);
    assert_eq!(left[0]["fate"], "astray");
    let why = left[0]["detail"].as_str().unwrap();
    assert!(why.contains("the remote has commits that the branch here lacks"), "{why}");
    in_tree(&["merge", "--quiet", "-m", "both", &format!("refs/el/shared/{branch}")]);
    assert_eq!(land(&first, 0)[0]["fate"], "landed");
}

#[test]
fn a_branch_that_cannot_be_pushed_is_told_with_the_results() {
    let Some((first, _)) = two_hosts("remote = \"origin\"\n") else { return };
    refuse_pushes(&first, true);
    let atom = first.writer("a.txt", "x");
    first.work(&["--once"]);
    assert_eq!(first.outcomes(&atom), ["closed"], "the agent did its work all the same");
    let shown = first.robot(&["artifacts", "show", &atom]).to_string();
    assert!(shown.contains(&format!("el/{atom} could not be pushed to origin")), "{shown}");
    assert!(shown.contains("no room here"), "{shown}");
    assert!(first.comments(&atom).concat().contains("no room here"), "people see it");
    // A wait is no attempt.
    std::fs::rename(first.path("origin.git"), first.path("away.git")).unwrap();
    let next = first.create("Next", &["-d", &TestEnv::script(&["close done"])]);
    first.el(&["work", "--once"]);
    assert_eq!(first.outcomes(&next), ["interrupted"]);
    assert!(first.el(&["why", &next]).ok().stdout.contains("could not be fetched"));
}

#[test]
fn a_host_whose_branch_went_another_way_leaves_what_builds_on_it_to_others() {
    let Some((first, second)) = two_hosts("remote = \"origin\"\n") else { return };
    let below = first.writer("base.txt", "one");
    first.work(&["--once"]);
    rewrite_there(&second, &below);
    // As a run leaves it that was cut off after a commit, and lost.
    let tree = first.project(".eluent/worktrees").join(&below);
    first.git(&["-C", tree.to_str().unwrap(), "commit", "--quiet", "--allow-empty", "-m", "stale"]);
    let above = follower(&first, "next.txt", (&below, "base.txt"));
    first.el(&["work", "--once"]);
    assert_eq!(first.outcomes(&above), ["interrupted"]);
    second.work(&["--once"]);
    assert_eq!(first.outcomes(&above), ["interrupted", "closed"]);
}
