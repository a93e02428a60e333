//! Attacks from inside the sandbox are stopped, and each run ends as any other.

use std::fs;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use super::places::EVERYWHERE;
use crate::support::{Process, TestEnv};

#[test]
fn it_writes_where_it_works_and_nowhere_else() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        fs::write(env.home().join("mine"), "mine").unwrap();
        fs::create_dir_all(env.home().join(".cache/tool")).unwrap();
        let home = env.home();
        let project = env.project("");
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(&format!(
            "echo work > work.txt; git add work.txt; git commit -q -m work
         echo x > {home}/mine; rm {home}/mine; mv {home}/mine {home}/other
         echo x > {home}/.cache/tool/file; echo x > {home}/new; echo x > {project}/base.txt
         echo x > {project}/new; echo x > /usr/x; ln -s {home} out; echo x > out/mine
         ln {home}/mine hard; echo x > hard; rm -f out hard",
            home = home.display(),
            project = project.display(),
        ));
        assert_eq!(fs::read_to_string(home.join("mine")).unwrap(), "mine", "{said}");
        assert_eq!(fs::read_to_string(home.join(".cache/tool/file")).unwrap(), "x\n");
        assert!(!home.join("new").exists() && !home.join("other").exists());
        assert!(!std::path::Path::new("/usr/x").exists());
        if place.is_worktree() {
            assert_eq!(fs::read_to_string(env.project("base.txt")).unwrap(), "base\n");
            assert!(!env.project("new").exists());
        }
        assert!(said.contains("Read-only file system"), "{said}");
        let run = env.last_run(env.robot(&["list", "--all"])["items"][0]["id"].as_str().unwrap());
        let pane = env.read_run_file(&run, "pane.log");
        assert!(
            pane.contains("/mine read-only; this opens its place: el config set --add"),
            "{pane}"
        );
        let why =
            env.el(&["why", run["atom_id"].as_str().unwrap()]).ok().stdout.replace("\n  ", " ");
        assert!(why.contains("read-only; this opens its place: el config set --add"), "{why}");
        assert!(env.read_run_file(&run, "prompt.md").contains("You run in a sandbox."));
        let branches = env.git(&["log", "--all", "--topo-order", "--format=%s"]);
        assert_eq!(branches, if place.is_worktree() { "work\nbase" } else { "base" });
    }
}

#[test]
fn secrets_are_not_there() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("sandbox_hide = [\"~/vault\"]\n") else { return };
        for (name, text) in [
            (".ssh/id_ed25519", "key"),
            (".aws/credentials", "key"),
            (".config/gh/hosts.yml", "key"),
            (".netrc", "key"),
            (".git-credentials", "key"),
            ("vault/file", "key"),
            (".profile", "plain"),
        ] {
            let path = env.home().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(
            "cd; cat .ssh/* .aws/* .config/gh/* .netrc .git-credentials vault/* .profile; cd -",
        );
        assert!(said.contains("plain") && !said.contains("key"), "{said}");
    }
}

#[test]
fn a_secret_is_shown_that_a_person_names() {
    let Some(env) = TestEnv::with_sandbox("sandbox_write = [\"~/.config/gh\"]\n") else { return };
    for name in [".config/gh/hosts.yml", ".ssh/config"] {
        let path = env.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "key").unwrap();
    }
    let said = env.attack("cat ~/.config/gh/hosts.yml && echo seen; cat $HOME/.ssh/config");
    assert!(said.starts_with("keyseen"), "{said}");
    let run = env.last_run(env.robot(&["list", "--all"])["items"][0]["id"].as_str().unwrap());
    let notes = run["sandbox_notes"].as_array().unwrap();
    let hidden = env.home().join(".ssh").display().to_string();
    assert!(notes.len() == 1 && notes[0].as_str().unwrap().contains(&hidden), "{notes:?}\n{said}");
}

#[test]
fn the_log_ins_of_forges_are_not_there_unless_a_person_gives_them() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("env_pass = [\"GITLAB_TOKEN\"]\n") else { return };
        let folder = env.path("log-in");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("hosts.yml"), "key-of-a-file").unwrap();
        env.set("GH_CONFIG_DIR", folder.to_str().unwrap());
        for name in ["GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITLAB_TOKEN"] {
            env.set(name, format!("key-of-{name}"));
        }
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack("env; cat $GH_CONFIG_DIR/hosts.yml");
        let keys: Vec<&str> = said.lines().filter(|line| line.contains("key-of-")).collect();
        assert_eq!(keys, ["GITLAB_TOKEN=key-of-GITLAB_TOKEN"], "{said}");
    }
}

#[test]
fn it_hands_over_its_own_summary_and_changes_no_other() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        let summaries = env.project(".eluent").canonicalize().unwrap().join("summaries");
        fs::create_dir_all(&summaries).unwrap();
        fs::write(summaries.join("other.md"), "# Status: COMPLETE").unwrap();
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(&format!(
            "cd {summaries}; echo forged > other.md; rm -f other.md; echo more > more.md
             printf '## Status\\nCOMPLETE\\n\\n## Notes\\n- all is well\\n' > $EL_ATOM.md; cd -",
            summaries = summaries.display(),
        ));
        let id = env.robot(&["list", "--all"])["items"][0]["id"].take();
        let own = summaries.join(format!("{}.md", id.as_str().unwrap()));
        assert!(fs::read_to_string(own).unwrap().contains("all is well"), "{said}");
        let other = fs::read_to_string(summaries.join("other.md")).unwrap();
        assert_eq!(other, "# Status: COMPLETE", "{said}");
        assert!(!summaries.join("more.md").exists(), "{said}");
        let run = env.last_run(id.as_str().unwrap());
        assert!(run["summary"].to_string().contains("all is well"), "{run:#}");
    }
}

#[test]
fn git_runs_nothing_of_its_making() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        let git = env.project(".git");
        let before = fs::read_to_string(git.join("config")).unwrap();
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(&format!(
            "git config core.hooksPath /tmp/hooks; echo '[core]' > {git}/config
         echo 'touch {root}/ran' > {git}/hooks/post-commit; chmod +x {git}/hooks/post-commit
         mkdir {git}/hooks; mv {git}/hooks {git}/old; mv {git} {git}.old
         echo '* filter=x' > {git}/info/attributes; echo /tmp/evil > {git}/commondir
         own=$(git rev-parse --git-dir); echo /tmp/evil > $own/commondir; mv $own/commondir $own/x
         rm $own/commondir; rm .git; echo 'gitdir: /tmp/evil' > .git; mv .git old
         echo /tmp/evil > {git}/objects/info/alternates; rm -rf {git}/objects/pack
         git branch other; git tag t; git update-ref refs/heads/main HEAD~0; git branch -D main
         rm {git}/refs/heads/main {git}/packed-refs",
            git = git.display(),
            root = env.path("").display(),
        ));
        assert_eq!(fs::read_to_string(git.join("config")).unwrap(), before, "{said}");
        assert!(!git.join("hooks/post-commit").exists() && !git.join("old").exists());
        assert!(!git.join("commondir").exists() && !git.join("info/attributes").exists());
        assert!(!git.join("objects/info/alternates").exists() && git.join("objects/pack").is_dir());
        assert_eq!(
            env.git(&["for-each-ref", "--format=%(refname)", "refs/heads/main", "refs/tags"]),
            "refs/heads/main"
        );
        assert!(!env.path("ran").exists());
    }
}

#[test]
fn it_sees_and_signals_its_own_processes_only() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(
            "ls -d /proc/[0-9]* | wc -l; kill -9 -1; kill -9 $PPID; echo still here
         cat /proc/$PPID/environ > /dev/null; gdb -p $PPID; cat /proc/1/cmdline | head -c 5
         pid=$(el runs --robot | grep -o '\"pid\":[0-9]*' | head -n 1 | cut -d: -f2)
         for how in 0 9 15; do kill -$how $pid && echo reached the supervisor; done
         ptrace=$(uname -m | sed 's/x86_64/101/; s/aarch64/117/')
         perl -e \"print 'traced' unless syscall($ptrace, 16, $pid, 0, 0)\"; echo pid=$pid",
        );
        assert!(said.contains("still here"), "{said}");
        assert!(!said.contains("reached the") && !said.contains("traced"), "{said}");
        let pid = said.rsplit("pid=").next().unwrap().lines().next().unwrap();
        assert!(pid.parse::<u32>().is_ok(), "{said}");
        let count: usize = said.lines().next().unwrap().trim().parse().unwrap();
        assert!(count < 12, "{said}");
    }
}

#[test]
fn no_socket_of_a_service_is_reached() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(&format!(
            "ls {tmux} /tmp/tmux-* /run/user /var/run/docker.sock 2>&1
         tmux ls; tmux new-session -d 'touch {root}/ran'
         echo \"ssh=$SSH_AUTH_SOCK dbus=$DBUS_SESSION_BUS_ADDRESS\"
         find / -xdev -type s 2> /dev/null | grep /el-",
            tmux = env.path("tmux").display(),
            root = env.path("").display(),
        ));
        assert!(said.contains("ssh= dbus="), "{said}");
        assert!(!env.path("ran").exists());
        let tmux = env.path("tmux");
        // Elsewhere on this machine, a file that an ended server left reaches nobody.
        let is_reached = |line: &&str| {
            line.starts_with("/tmp/")
                || Path::new(line).starts_with(&tmux)
                || UnixStream::connect(line).is_ok()
        };
        let found = said.lines().map(str::trim).filter(|line| line.contains("/tmux-0/"));
        let found = found.filter(|line| line.starts_with('/') && !line.ends_with(':'));
        assert_eq!(found.filter(is_reached).collect::<Vec<_>>(), [""; 0], "{said}");
    }
}

/// Whoever sees a socket can connect to it, also where it is read-only.
#[test]
fn a_socket_in_the_home_is_there_only_if_it_is_named() {
    for (place, named) in EVERYWHERE.iter().flat_map(|p| [(p, "agent"), (p, "other")]) {
        let setting = format!("sandbox_write = [\"~/.manager/{named}.sock\"]\n");
        let Some(mut env) = place.prepare(&setting) else { return };
        let folder = env.home().join(".manager");
        fs::create_dir(&folder).unwrap();
        let listen = |name: &str| UnixListener::bind(folder.join(name)).unwrap();
        let _sockets = ["agent.sock", "other.sock"].map(listen);
        // Those that no agent sees, before these by name, leave room for them.
        let crowd = env.path("crowd");
        fs::create_dir(&crowd).unwrap();
        let _crowd: Vec<UnixListener> =
            (0..70).map(|n| UnixListener::bind(crowd.join(n.to_string())).unwrap()).collect();
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(
            "cat > ask.pl <<'PERL'
use Socket;
socket(my $socket, PF_UNIX, SOCK_STREAM, 0);
print connect($socket, pack_sockaddr_un($ARGV[0])) ? \"reached\\n\" : \"kept: $!\\n\";
PERL
             perl ask.pl ~/.manager/agent.sock; perl ask.pl ~/.manager/./agent.sock
             ln -s ~/.manager/agent.sock link; perl ask.pl $PWD/link; rm link ask.pl",
        );
        let count = if named == "agent" { 3 } else { 0 };
        assert_eq!(said.matches("reached").count(), count, "{said}");
        assert_eq!(said.matches("kept: ").count(), 3 - count, "{said}");
    }
}

#[test]
fn a_full_tmp_is_bounded_and_what_it_leaves_running_ends() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        if !place.hand_over(&mut env) {
            continue;
        }
        // Other tests of this name may run on this machine, and its `/tmp` is anybody's.
        let number = std::process::id();
        let sleep = format!("sleep 617.{number}");
        let outside = format!("/tmp/el-attack-{number}");
        let said = env.attack(&format!(
            "df -k --output=size /tmp /dev/shm | tail -n +2; touch {outside}
             dd if=/dev/zero of=/tmp/full bs=4M 2>&1 | grep -o 'No space left on device'
             for i in $(seq 50); do (setsid {sleep} &) ; done; nohup setsid {sleep} &"
        ));
        let sizes: Vec<u64> = said.lines().filter_map(|line| line.trim().parse().ok()).collect();
        assert_eq!(sizes, [1 << 20, 1 << 20], "{said}");
        assert!(said.contains("No space left on device"), "{said}");
        assert!(!Path::new(&outside).exists(), "{said}");
        assert_eq!(Process::with_command(&sleep), []);
    }
}

#[test]
fn checks_and_setups_run_in_it_too() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare(
            "worktree_setup = \"attack.sh setup\"\nverify = \"attack.sh check\"\n\
             land_check = \"attack.sh land\"\n",
        ) else {
            return;
        };
        fs::write(env.home().join("mine"), "mine").unwrap();
        env.program(
            "attack.sh",
            &format!(
                "#!/bin/sh\necho $1 > {home}/mine && echo $1 > {root}/ran; cat {home}/.ssh/key\n\
                 [ ! -s {home}/.ssh/key ]\n",
                home = env.home().display(),
                root = env.path("").display(),
            ),
        );
        fs::create_dir(env.home().join(".ssh")).unwrap();
        fs::write(env.home().join(".ssh/key"), "key").unwrap();
        if !place.hand_over(&mut env) {
            continue;
        }
        env.attack("echo work > work.txt; git add work.txt; git commit -q -m work");
        let run = env.last_run(env.robot(&["list", "--all"])["items"][0]["id"].as_str().unwrap());
        assert_eq!(run["verify"]["status"], "passed", "{run:#}");
        let landed = env.robot(&["land", "--all"])["landed"].take();
        assert_eq!(landed, u8::from(place.is_worktree()));
        assert_eq!(fs::read_to_string(env.home().join("mine")).unwrap(), "mine");
        assert!(!env.path("ran").exists());
    }
}

#[test]
fn the_tracker_is_not_there() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        let tracker = env.project(".eluent");
        fs::create_dir_all(tracker.join("runs/run-other/session")).unwrap();
        fs::write(tracker.join("runs/run-other/prompt.md"), "secret").unwrap();
        let before = fs::read_to_string(tracker.join("config.toml")).unwrap();
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(&format!(
            "cd {project}; cat {tracker}/runs/run-other/prompt.md; ls {tracker}/runs
             mv {tracker} {tracker}.old; rmdir {tracker}; rm -r {tracker}/el.db {tracker}/runs
             rm {tracker}/config.toml; echo 'notify = \"touch {root}/ran\"' > {tracker}/config.toml
             ln -sf /tmp {tracker}; ln {tracker}/config.toml hard; echo x > {tracker}/el.db
             cp {tracker}/el.db* /tmp; rm -f hard; cd - > /dev/null",
            project = env.project("").display(),
            tracker = tracker.display(),
            root = env.path("").display(),
        ));
        assert!(!said.contains("secret") && !said.contains("run-other\n"), "{said}");
        assert_eq!(fs::read_to_string(tracker.join("config.toml")).unwrap(), before);
        assert!(
            tracker.is_dir() && !tracker.is_symlink() && tracker.join("runs/run-other").is_dir()
        );
        assert!(!env.path("ran").exists() && !env.project("hard").exists());
    }
}

#[test]
fn branches_stay_when_it_packs_them_and_no_file_of_its_making_names_programs() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        env.git(&["config", "extensions.worktreeConfig", "true"]);
        env.git(&["branch", "el/other"]);
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(
            "echo work > work.txt; git add work.txt; git commit -q -m work
             own=$(git rev-parse --git-dir)
             printf '[core]\n\tfsmonitor = /tmp/evil\n' > $own/config.worktree
             git pack-refs --all; git gc -q; git maintenance run --task=pack-refs
             if (: > /proc/sys/kernel/core_pattern) 2> /dev/null; then echo the kernel is open; fi",
        );
        assert!(!said.contains("the kernel is open"), "{said}");
        let branches = env.git(&["for-each-ref", "--format=%(refname)", "refs/heads/el"]);
        let count = if place.is_worktree() { 2 } else { 1 };
        assert_eq!(branches.lines().count(), count, "{branches}\n{said}");
        let id = env.robot(&["list", "--all"])["items"][0]["id"].take();
        let worktree = env.project(format!(".eluent/worktrees/{}", id.as_str().unwrap()));
        let folder = if place.is_worktree() { worktree } else { env.project("") };
        let set = env.git(&["-C", folder.to_str().unwrap(), "config", "--list", "--show-origin"]);
        assert!(!set.contains("evil"), "{set}");
    }
}
