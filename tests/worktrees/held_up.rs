//! A branch that cannot or must not land holds up no other, and takes along no work of others.

use super::atom_fate;
use super::landing::{begin, fates, finished};
use crate::support::TestEnv;

/// Runs a script in the worktree of an atom.
fn in_worktree(env: &TestEnv, id: &str, script: &str) {
    let at = env.path(format!("tmp/{id}"));
    env.run(env.command("sh").arg("-ec").arg(script).current_dir(at)).ok();
}

#[test]
fn work_that_is_not_closed_lands_with_no_other_atom_unless_a_person_names_both() {
    for status in ["review", "open", "wont_do"] {
        let env = TestEnv::with_repository("");
        let risky = env.create("Risky", &[]);
        begin(&env, &risky, "main");
        in_worktree(&env, &risky, "echo r >r.txt; git add .; git commit -qm risky");
        let based = env.create("Based", &[]);
        begin(&env, &based, &format!("el/{risky}"));
        in_worktree(&env, &based, "echo b >b.txt; git add .; git commit -qm based");
        let merged = finished(&env, "m.txt", "m");
        in_worktree(&env, &merged, &format!("git merge -q --no-edit el/{risky}"));
        let apart = finished(&env, "a.txt", "a");
        // It goes on with what is closed, as a next attempt does: that is no work of its own.
        in_worktree(&env, &risky, &format!("git merge -q --no-edit el/{apart}"));
        env.el(&["close", &based]).ok();
        if status != "open" {
            env.el(&["update", &risky, "--status", status, "--reason", "so"]).ok();
        }

        let said = fates(&env, 4, &["--all"]);
        let waits =
            [atom_fate(&merged, "waits"), atom_fate(&apart, "landed"), atom_fate(&based, "waits")];
        assert_eq!(said, waits, "{status}");
        assert!(!env.project("r.txt").exists());
        let why = env.el(&["why", &based]).ok().stdout;
        assert!(why.contains(&format!("whose status is {status}")), "{why}");
        assert!(
            fates(&env, 4, &[&based, &risky]).contains(&atom_fate(&based, "landed")),
            "{status}"
        );
        assert!(env.project("r.txt").exists(), "{status}");
    }
}

#[test]
fn what_landed_before_its_atom_was_reopened_holds_up_nobody() {
    let env = TestEnv::with_repository("");
    let below = finished(&env, "a.txt", "a");
    let above = env.create("Above", &[]);
    begin(&env, &above, &format!("el/{below}"));
    in_worktree(&env, &above, "echo b >b.txt; git add .; git commit -qm above");
    // A commit that lands before it gives the commit below another name.
    let first = finished(&env, "f.txt", "f");
    assert_eq!(fates(&env, 0, &[&first]), [atom_fate(&first, "landed")]);
    assert_eq!(fates(&env, 0, &[&below]), [atom_fate(&below, "landed")]);
    env.el(&["reopen", &below]).ok();
    in_worktree(&env, &below, "echo more >a.txt; git commit -qam more");
    env.el(&["close", &above]).ok();
    assert_eq!(fates(&env, 0, &["--all"]), [atom_fate(&above, "landed")]);
    assert_eq!(std::fs::read_to_string(env.project("a.txt")).unwrap(), "a\n");
}

#[test]
fn a_branch_that_git_refuses_holds_up_no_other() {
    let long = "x".repeat(300);
    let long = format!(
        "h=$(echo z | git hash-object -w --stdin); git update-index --add --cacheinfo \
         100644,$h,{long}; git update-index --skip-worktree {long}; git commit -qm long"
    );
    let blob = "echo only here >u.txt; git add .; git commit -qm u; h=$(git rev-parse HEAD:u.txt)
        rm -f $(git rev-parse --git-common-dir)/objects/$(echo $h | cut -c1-2)/*";
    let tree = "mkdir d; echo only here >d/u.txt; git add .; git commit -qm u
        h=$(git rev-parse HEAD:d)
        cd $(git rev-parse --git-common-dir)/objects; rm -f $(echo $h | cut -c1-2)/*";
    let root = "git checkout -q --orphan o; git commit -qm root; git branch -qM o x
        git update-ref refs/heads/$B HEAD; git checkout -q $B";
    let commit = "h=$(git rev-parse HEAD); o=$(git rev-parse --git-common-dir)/objects
        rm -f $o/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-)";
    for (script, mode) in [
        (&*long, "rebase"),
        (&*long, "merge"),
        (blob, "rebase"),
        (tree, "rebase"),
        (root, "rebase"),
        (commit, "rebase"),
    ] {
        let env = TestEnv::with_repository(&format!("land_mode = \"{mode}\"\n"));
        let bad = finished(&env, "bad.txt", "bad");
        in_worktree(&env, &bad, &format!("B=el/{bad}\n{script}"));
        let good = [finished(&env, "g.txt", "g"), finished(&env, "h.txt", "h")];
        env.el(&["land", "--all", "--dry-run"]);
        let said = fates(&env, 4, &["--all"]);
        let held = &said.iter().find(|(id, _)| *id == bad).unwrap().1;
        assert!(["held", "astray"].contains(&held.as_str()), "{script}: {said:?}");
        for id in &good {
            assert!(said.contains(&atom_fate(id, "landed")), "{script}: {said:?}");
        }
        assert_eq!(env.git(&["status", "--porcelain", "-uno"]), "", "{script}");
        env.el(&["worktrees", "prune", "--ignored"]).ok();
        env.git(&["rev-parse", "--verify", &format!("refs/heads/el/{bad}")]);
    }
}

#[test]
fn a_branch_that_a_shallow_fetch_cut_off_is_told_with_the_way_back() {
    let env = TestEnv::with_repository("");
    let id = finished(&env, "a.txt", "a");
    env.git(&["clone", "--quiet", "--bare", ".", "../origin.git"]);
    let url = format!("file://{}", env.path("origin.git").display());
    env.git(&["remote", "add", "origin", &url]);
    env.git(&["commit", "--quiet", "--allow-empty", "-m", "more"]);
    env.git(&["push", "--quiet", "origin", "main"]);
    env.git(&["fetch", "--quiet", "--depth=1", "origin", "main"]);
    let held = env.el(&["land", &id]).fails_with(4).stdout;
    assert!(held.contains("no common history") && held.contains("git fetch --unshallow"), "{held}");
    env.git(&["fetch", "--quiet", "--unshallow", "origin"]);
    assert_eq!(fates(&env, 0, &["--all"]), [atom_fate(&id, "landed")]);
}

#[test]
fn a_locked_worktree_whose_folder_is_away_blocks_its_atom_and_ends_no_worker() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let tree = |id: &str| env.project(format!(".eluent/worktrees/{id}")).display().to_string();
    let away = ["a.txt", "b.txt", "c.txt"].map(|file| {
        let id = env.writer(file, "away");
        let branch = format!("el/{id}");
        env.git(&["worktree", "add", "--quiet", "-b", &branch, &tree(&id)]);
        env.git(&["worktree", "lock", "--reason", "on a disk", &tree(&id)]);
        std::fs::remove_dir_all(tree(&id)).unwrap();
        id
    });
    let good = env.writer("g.txt", "g");
    env.el(&["work", "--drain"]).fails_with(9);
    assert_eq!(env.status(&good), "closed");
    for id in &away {
        assert_eq!((env.status(id).as_str(), env.outcomes(id).len()), ("blocked", 1));
        let way = format!("git worktree unlock {}", tree(id));
        let told =
            env.el(&["show", id]).ok().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&way), "{told}");
    }
    // As the message says.
    env.git(&["worktree", "unlock", &tree(&away[0])]);
    env.el(&["retry", &away[0]]).ok();
    env.el(&["work", &away[0], "--drain"]).ok();
    assert_eq!(env.status(&away[0]), "closed");
}

#[test]
fn atoms_whose_own_base_is_gone_are_blocked_and_end_no_worker() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let bad = ["a", "b", "c"].map(|name| {
        env.create("Based", &["--base", &format!("el/nowhere-{name}"), "--priority", "0"])
    });
    let good = env.writer("g.txt", "g");
    env.el(&["work", "--drain"]).fails_with(9);
    assert_eq!(env.status(&good), "closed");
    for id in &bad {
        assert_eq!((env.status(id).as_str(), env.outcomes(id).len()), ("blocked", 1));
        assert!(env.el(&["why", id]).ok().stdout.contains("nowhere"));
    }
}

#[test]
fn atoms_that_build_on_a_damaged_branch_are_blocked_and_end_no_worker() {
    let objects = |object: &str| {
        format!("h=$(git rev-parse {object}); cd .git/objects; : >$(echo $h | sed 's,^..,&/,')")
    };
    for damage in [objects("$B"), objects("$B^{tree}"), ": >.git/refs/heads/$B".to_owned()] {
        let env = TestEnv::with_repository("isolate = \"worktree\"\n");
        let below = finished(&env, "b.txt", "b");
        let above = ["a", "b", "c"].map(|name| {
            let id = env.create(name, &["--priority", "0"]);
            env.el(&["dep", "add", &below, &id]).ok();
            id
        });
        let good = env.writer("g.txt", "g");
        let damage = format!("B=el/{below}; chmod -R u+w .git; {damage}");
        env.run(env.command("sh").args(["-ec", &damage])).ok();
        let said = env.el(&["work", "--drain"]).fails_with(9);
        assert_eq!(env.status(&good), "closed", "{damage}: {said:#?}");
        for id in &above {
            let ended = (env.status(id), env.outcomes(id).len());
            assert_eq!(ended, ("blocked".to_owned(), 1), "{damage}: {said:#?}");
            let why = env.el(&["why", id]).ok().stdout;
            assert!(why.contains(&format!("the branch el/{below} cannot be read")), "{why}");
        }
    }
}

#[test]
fn a_project_that_was_renamed_keeps_its_worktrees() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let left = env.script_atom(&[
        "sh echo a > a.txt; git add a.txt; git commit -qm a; echo left > left.txt",
        "close done",
        "close done",
    ]);
    let again = env.script_atom(&["sh echo b > b.txt", "exit 3"]);
    env.configure("isolate = \"worktree\"\nretry_backoff = \"0s\"\nmax_attempts = 9\n");
    env.el(&["work", &left, &again, "--max", "2"]);
    assert_eq!((env.status(&left), env.status(&again)), ("closed".into(), "open".into()));
    // The links between repository and worktree are as after a rename from this folder.
    for id in [&left, &again] {
        let gone = env.path("renamed");
        let link = format!("{}/.eluent/worktrees/{id}/.git\n", gone.display());
        std::fs::write(env.project(format!(".git/worktrees/{id}/gitdir")), link).unwrap();
        let link = format!("gitdir: {}/.git/worktrees/{id}\n", gone.display());
        std::fs::write(env.project(format!(".eluent/worktrees/{id}/.git")), link).unwrap();
    }

    assert_eq!(fates(&env, 4, &["--all"]), [atom_fate(&left, "uncommitted")]);
    assert!(env.project(format!(".eluent/worktrees/{left}/left.txt")).exists());
    env.el(&["worktrees", "prune"]).ok();
    assert!(env.project(format!(".eluent/worktrees/{left}/left.txt")).exists());
    env.el(&["work", &again, "--max", "1"]);
    let outcomes = env.outcomes(&again);
    assert_eq!(outcomes.last().unwrap(), &outcomes[0], "{outcomes:?}");
}

#[test]
fn a_symbolic_reference_stands_for_the_branch_that_it_names() {
    let env = TestEnv::with_repository("");
    env.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    let id = finished(&env, "s.txt", "s");
    assert_eq!(fates(&env, 0, &[&id, "--onto", "alias"]), [atom_fate(&id, "landed")]);
    assert!(env.project("s.txt").exists());
    assert_eq!(env.git(&["status", "--porcelain", "-uno"]), "");
}

#[test]
fn references_that_the_sandbox_cannot_open_are_told_before_any_run() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let migrated = env.run(env.command("git").args(["refs", "migrate", "--ref-format=reftable"]));
    if migrated.status != 0 {
        // Git 2.46 is the first that knows.
        return;
    }
    let id = env.writer("w.txt", "w");
    let refused = env.el(&["work", "--drain"]).fails_with(6).stderr;
    assert!(refused.contains("reftable") && refused.contains("git refs migrate"), "{refused}");
    assert!(env.outcomes(&id).is_empty());
    env.el(&["doctor"]).fails_with(6);
    env.configure("isolate = \"worktree\"\nsandbox = \"off\"\n");
    env.work(&["--drain"]);
    assert_eq!(env.status(&id), "closed");
}

#[test]
fn a_persons_settings_for_rebases_change_no_landing() {
    let env = TestEnv::with_repository("land_check = \"test ! -e b.txt\"\n");
    for (key, value) in
        [("rebase.updateRefs", "true"), ("rerere.enabled", "true"), ("rerere.autoUpdate", "true")]
    {
        env.git(&["config", key, value]);
    }
    let good = finished(&env, "a.txt", "a");
    in_worktree(&env, &good, "git branch half; echo b >b.txt; git add .; git commit -qm b");
    let refused = finished(&env, "base.txt", "branch");
    std::fs::write(env.project("base.txt"), "main\n").unwrap();
    env.git(&["commit", "-qam", "main goes on"]);
    // A person has settled that conflict once.
    env.git(&["checkout", "-q", "--detach", &format!("el/{refused}")]);
    let settle = "git rebase -q main 2>&1 || true; echo both >base.txt; git add base.txt
        GIT_EDITOR=true git rebase --continue; git checkout -q main";
    env.run(env.command("sh").args(["-ec", settle])).ok();

    let branches = || env.git(&["for-each-ref", "refs/heads"]);
    let before = branches();
    assert_eq!(fates(&env, 4, &[&good]), [atom_fate(&good, "check_failed")]);
    assert_eq!(branches(), before);
    env.configure("");
    assert_eq!(fates(&env, 4, &[&refused]), [atom_fate(&refused, "conflict")]);
    assert_eq!(fates(&env, 0, &[&good]), [atom_fate(&good, "landed")]);
}
