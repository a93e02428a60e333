//! Attacks with programs: other homes, programs of the agent's own, the memory of others.

use std::path::PathBuf;
use std::process::Command;

use super::places::EVERYWHERE;
use crate::support::{Process, TestEnv};

/// A library that says, in every program that loads it, who is loading it.
fn build_library(env: &TestEnv) -> Option<PathBuf> {
    let (source, built) = (env.path("bin/load.c"), env.path("bin/load.so"));
    let text = format!(
        "#include <stdio.h>\n__attribute__((constructor)) static void load(void) {{\n\
         FILE *f = fopen(\"{}\", \"w\"); if (f) fclose(f); }}\n",
        env.path("ran").display()
    );
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&built).arg(&source);
    compiler.status().is_ok_and(|done| done.success()).then_some(built)
}

#[test]
fn other_homes_and_programs_of_its_own_reach_nothing() {
    let script = |env: &TestEnv| {
        format!(
            "mkdir own away
             for name in el git tmux bwrap sh agent.sh; do
               printf '#!/bin/sh\\ntouch {root}/ran\\n' > own/$name; chmod +x own/$name
               cp own/$name {root}/bin/$name; mv own/$name {root}/bin/
               ln -sf $PWD/own/$name {root}/bin/
               cp own/$name .
             done
             cp own/git own/el ~/.local/bin; mkdir -p ~/.local/bin; cp own/git ~/.local/bin
             elsewhere=\"HOME=$PWD/away XDG_STATE_HOME=$PWD/away XDG_CONFIG_HOME=$PWD/away\"
             env $elsewhere el trust --yes; echo trust=$?
             env $elsewhere el config set notify 'touch {root}/ran' --user; echo config=$?
             env $elsewhere EL_ACTOR=ann el --actor ann comment add $EL_ATOM 'from elsewhere'
             env $elsewhere git config --global core.hooksPath $PWD/own
             env -u EL_SESSION el list; echo alone=$?
             env -i PATH=\"$PATH\" HOME=$PWD/away el --db {tracker}/el.db list; echo direct=$?
             (cd {project} && env -u EL_SESSION el init); echo init=$?
             PATH=$PWD/own:$PATH ls > /dev/null; PATH=$PWD/own git status; rm -rf own away
             rm -f el git tmux bwrap sh agent.sh",
            root = env.path("").display(),
            project = env.project("").display(),
            tracker = env.project(".eluent").display(),
        )
    };
    TestEnv::attack_everywhere("", script, |env, said| {
        assert!(said.contains("trust=8\n") && said.contains("config=8\n"), "{said}");
        assert!(["alone=0", "direct=0", "init=0"].iter().all(|way| !said.contains(way)), "{said}");
        let id = env.robot(&["list", "--all"])["items"][0]["id"].take();
        let shown = env.show(id.as_str().unwrap());
        assert_eq!(shown["comments"][0]["author"], "claude", "{shown:#}");
    });
}

#[test]
fn a_program_in_the_folder_of_the_work_is_never_els() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        // Of a person whose PATH begins with the present folder.
        let path = format!(".::{}:{}", env.path("bin").display(), std::env::var("PATH").unwrap());
        let script = format!(
            "for name in git tmux bwrap sh agent.sh; do
               printf '#!/bin/sh\\ntouch {root}/ran\\n' > $name; chmod +x $name
             done
             git add . && git commit -q -m programs",
            root = env.path("").display(),
        );
        env.set("PATH", path);
        if !place.hand_over(&mut env) {
            continue;
        }
        env.attack(&script);
        let id = env.robot(&["list", "--all"])["items"][0]["id"].take();
        env.el(&["show", id.as_str().unwrap()]).ok();
        assert!(!env.path("ran").exists(), "{place:?}");
    }
}

#[test]
fn a_library_of_its_own_is_loaded_by_its_own_programs_alone() {
    let Some(env) = TestEnv::with_sandbox("") else { return };
    let Some(built) = build_library(&env) else {
        eprintln!("skipped: there is no C compiler");
        return;
    };
    let ran = env.path("ran");
    env.run(env.command("true").env("LD_PRELOAD", &built)).ok();
    std::fs::remove_file(&ran).expect("the library says who loads it");
    drop(env);
    let script = |env: &TestEnv| {
        let library = build_library(env).unwrap();
        format!(
            "cp {library} load.so; export LD_PRELOAD=$PWD/load.so LD_AUDIT=$PWD/load.so
             export LD_LIBRARY_PATH=$PWD GIT_EXEC_PATH=$PWD BASH_ENV=$PWD/load.sh ENV=$PWD/load.sh
             export PAGER='touch {ran}' EDITOR='touch {ran}' GIT_SSH_COMMAND='touch {ran}'
             export TZ=:$PWD/load.so LANGUAGE=$PWD LC_ALL=$PWD
             echo 'touch {ran}' > load.sh
             el show $EL_ATOM; el comment add $EL_ATOM loaded; el diff; el --robot doctor
             echo $PWD/load.so > /etc/ld.so.preload; rm load.so load.sh
             unset LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH GIT_EXEC_PATH BASH_ENV ENV TZ LC_ALL",
            library = library.display(),
            ran = env.path("ran").display(),
        )
    };
    TestEnv::attack_everywhere("", script, |env, said| {
        let id = env.robot(&["list", "--all"])["items"][0]["id"].take();
        assert_eq!(env.comments(id.as_str().unwrap()), ["loaded"], "{said}");
        assert!(!std::path::Path::new("/etc/ld.so.preload").exists());
    });
}

#[test]
fn the_memory_and_the_folders_of_other_processes_are_out_of_reach() {
    let script = |env: &TestEnv| {
        format!(
            "for one in /proc/[0-9]*; do
               tr '\\0' ' ' < $one/cmdline; echo; tr '\\0' '\\n' < $one/environ
               ls $one/root/{home}/.ssh $one/cwd/{home}/.ssh; cat $one/root/{home}/.ssh/key
               case $one in /proc/1 | /proc/$$) ;;
               *) timeout 1 gdb -p ${{one#/proc/}} -batch \\
                 -ex 'call (int) system(\"touch {root}/ran\")' < /dev/null ;;
               esac
               nsenter -a -t ${{one#/proc/}} true
             done > seen 2>&1
             unshare -Urm sh -c 'mount -o remount,rw,bind /; mount -o remount,rw {root}/bin
               umount -l {home}/.ssh; cat {home}/.ssh/key; umount -l {project}/.eluent
               ls {project}/.eluent; mount -t tmpfs x {root}/bin && touch {root}/bin/mine
               touch {root}/ran; mount --bind {root} /mnt && touch /mnt/ran'
             unshare -m mount -o remount,rw,bind /; mount -o remount,rw,bind /
             chroot / touch {root}/ran
             mknod /tmp/disk b 254 0; echo b > /proc/sysrq-trigger
             echo x > /sys/kernel/uevent_helper
             echo seen:; cat seen; rm seen",
            root = env.path("").display(),
            home = env.home().display(),
            project = env.project("").display(),
        )
    };
    let prepared = |env: &TestEnv| {
        std::fs::create_dir_all(env.home().join(".ssh")).unwrap();
        std::fs::write(env.home().join(".ssh/key"), "the private key").unwrap();
        script(env)
    };
    TestEnv::attack_everywhere("", prepared, |_, said| {
        assert!(!said.contains("the private key") && !said.contains("el.db\n"), "{said}");
        let seen = said.split("seen:\n").nth(1).expect("the attack came to its end");
        assert!(!seen.contains("supervise") && !seen.contains("el work"), "{seen}");
        assert!(!said.contains("remounted"), "{said}");
    });
}

#[test]
fn a_fork_bomb_ends_with_its_time() {
    // Each of a hundred processes starts itself again when it ends, in a session of its own. Other
    // tests of this name may run on this machine.
    let bomb = format!("/tmp/bomb-{}.sh", std::process::id());
    let script = format!(
        "bomb() {{ (trap '' TERM INT HUP; setsid sh {bomb} & ) ; }}
         echo 'trap \"\" TERM INT HUP; sleep 0.2; setsid sh {bomb} &' > {bomb}
         for i in $(seq 100); do bomb; done; sleep 600"
    );
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("execution_timeout = \"2s\"\n") else { return };
        if !place.hand_over(&mut env) {
            continue;
        }
        // The limit is of the user, and root has none: the bomb fills it.
        if place.is_of_user() {
            env.run_through(&["prlimit", "--nproc=160"]);
        }
        env.agent_script(&script);
        let before = env.outside_state();
        let id = env.create("attack", &[]);
        env.assert_refused_in_container();
        env.work(&["--drain"]);
        let run = env.last_run(&id);
        // The agent itself ends where the bomb leaves it no process to start.
        let outcome = run["outcome"].as_str().unwrap();
        assert!(outcome == "timed_out" || (place.is_of_user() && outcome == "failed"), "{run:#}");
        env.assert_settled(&run);
        env.assert_unchanged(&before, "the bomb");
        assert_eq!(Process::with_command(&format!("sh {bomb}")), []);
    }
}

/// The process that bubblewrap leaves in the sandbox is as far as the agent reaches, and with
/// Landlock not even that.
#[test]
fn who_breaks_its_own_sandbox_has_failed() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("execution_timeout = \"20s\"\n") else { return };
        env.agent_script(
            "timeout 4 gdb -p 1 -batch -ex 'call (int) getpid()' < /dev/null > gdb.txt 2>&1
             cat gdb.txt; grep -q 'not permitted' gdb.txt || sleep 600; rm gdb.txt",
        );
        if !place.hand_over(&mut env) {
            continue;
        }
        let id = env.create("attack", &[]);
        env.assert_refused_in_container();
        env.work(&["--drain"]);
        let run = env.last_run(&id);
        let said = env.read_run_file(&run, "transcript.jsonl");
        if said.contains("not found") || said.contains("failed to run command") {
            eprintln!("skipped: there is no gdb");
            return;
        }
        let is_kept = said.contains("Operation not permitted");
        assert_eq!(run["outcome"], if is_kept { "closed" } else { "failed" }, "{run:#}");
        env.assert_settled(&run);
    }
}

#[test]
fn a_persons_trust_is_not_the_agents_to_write() {
    let script = |_: &TestEnv| {
        "state=~/.local/state; ls $state/el; cat $state/el/trust/*
         for file in $state/el/trust/* $state/el/trust/mine.json; do
           echo '{}' > $file; rm $file; cp /dev/null $file
         done
         mkdir -p $state/el/trust; mv $state/el $state/old; mv $state ~/.local/old
         rm -rf $state; ln -sfn $PWD $state/el; ln -sfn $PWD ~/.local"
            .to_owned()
    };
    TestEnv::attack_everywhere("", script, |env, said| {
        assert!(!said.contains("digest"), "{said}");
        assert!(env.robot(&["trust", "--show"])["is_trusted"].as_bool().unwrap(), "{said}");
    });
}

/// Files are links and files by turns while `el` looks at them and when the run ends.
#[test]
fn a_race_for_its_files_reaches_nothing_outside() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        std::fs::write(env.home().join("mine"), "mine").unwrap();
        if !place.hand_over(&mut env) {
            continue;
        }
        let summaries = env.project(".eluent").canonicalize().unwrap().join("summaries");
        env.agent_script(&format!(
            "echo work > work.txt; git add work.txt; git commit -q -m work
             own=$(git rev-parse --git-dir); common=$(git rev-parse --git-common-dir)
             branch=$common/refs/heads/el/$EL_ATOM; tip=$(git rev-parse HEAD)
             swap() {{ ln -sfn {mine} \"$1\"; echo \"$2\" > \"$1.x\"; mv -f \"$1.x\" \"$1\"; }}
             (while :; do
               swap $branch $tip; swap $branch.lock x; rm -f $branch.lock
               swap $own/HEAD \"ref: refs/heads/el/$EL_ATOM\"; swap $own/HEAD.lock x
               rm -f $own/HEAD.lock; swap {summaries}/$EL_ATOM.md '## Status'
               swap work.txt work; swap .eluent x; swap .git x
             done) > /dev/null 2>&1 &
             for i in $(seq 20); do
               el show $EL_ATOM > /dev/null
               el close $EL_ATOM --reason done > /dev/null 2>&1 && break
             done",
            mine = env.home().join("mine").display(),
            summaries = summaries.display(),
        ));
        let main = env.git(&["rev-parse", "main"]);
        let before = env.outside_state();
        let id = env.create("attack", &[]);
        env.assert_refused_in_container();
        env.work(&["--drain"]);
        let run = env.last_run(&id);
        let said = env.read_run_file(&run, "transcript.jsonl");
        env.assert_unchanged(&before, &said);
        env.assert_settled(&run);
        assert_eq!(env.git(&["rev-parse", "main"]), main, "{said}");
        let results = env.read_run_file(&run, "RESULTS.json");
        assert!(!results.contains("\"mine\""), "{results}");
    }
}
