//! Variables of git in the environment of el's caller.

use std::fs;

use crate::support::TestEnv;

/// Variables that git sets for a hook of another repository, and variables that a person sets.
fn variables(other: &str) -> Vec<(&'static str, String)> {
    vec![
        ("GIT_DIR", format!("{other}/.git")),
        ("GIT_WORK_TREE", other.to_owned()),
        ("GIT_INDEX_FILE", format!("{other}/.git/index")),
        ("GIT_PREFIX", "sub/".to_owned()),
        ("GIT_AUTHOR_DATE", "@1000 +0000".to_owned()),
        ("GIT_AUTHOR_NAME", "Ada".to_owned()),
        ("GIT_SSH_COMMAND", "ssh -x".to_owned()),
        ("GIT_LFS_SKIP_SMUDGE", "1".to_owned()),
    ]
}

#[test]
fn a_repository_of_the_callers_reaches_neither_agent_nor_setup_nor_check_nor_our_git() {
    let env = TestEnv::with_repository("");
    let other = env.path("other");
    fs::create_dir(&other).unwrap();
    let there = other.to_str().unwrap();
    for words in
        [&["init", "-q", there][..], &["-C", there, "commit", "-q", "--allow-empty", "-m", "x"]]
    {
        env.git(words);
    }
    let out = env.path("tmp").display().to_string();
    // The environment of git's own programs, seen through a smudge filter of el's git.
    env.git(&["config", "filter.seen.smudge", &format!("sh -c 'env > {out}/ours; cat'")]);
    fs::write(env.project(".gitattributes"), "base.txt filter=seen\n").unwrap();
    env.git(&["add", ".gitattributes"]);
    env.git(&["commit", "-q", "-m", "filter"]);
    env.configure(&format!(
        "isolate = \"worktree\"\nworktree_setup = \"sh -c 'env > {out}/setup'\"\n\
         verify = \"sh -c 'env > {out}/check'\"\nverify_required = true\n\
         land_check = \"sh -c 'env > {out}/land'\"\n"
    ));
    let id = env.script_atom(&[
        &format!("sh env > {out}/agent"),
        "sh echo x > a.txt && git add a.txt && git commit -q -m a",
        "close done",
    ]);
    for words in [&["work", "--once"][..], &["land", "--all"]] {
        env.run(env.command("el").envs(variables(there)).args(words)).ok();
    }
    assert_eq!(env.status(&id), "closed");
    assert_eq!(env.git(&["-C", there, "rev-list", "--all", "--count"]), "1");
    assert_eq!(env.git(&["show", "HEAD:a.txt"]), "x");
    assert_eq!(env.git(&["log", "-1", "--format=%an"]), "Ada");
    assert_ne!(env.git(&["log", "-1", "--format=%at"]), "1000");
    for who in ["agent", "setup", "check", "land", "ours"] {
        let seen = fs::read_to_string(env.path("tmp").join(who)).unwrap();
        let has = |name: &str| seen.lines().any(|line| line.starts_with(&format!("{name}=")));
        for gone in ["GIT_INDEX_FILE", "GIT_AUTHOR_DATE"] {
            // Git itself sets these for its children.
            assert!(who == "ours" || !has(gone), "{who} got {gone}");
        }
        assert!(!seen.contains(&format!("{there}/.git")), "{who}: {seen}");
        for kept in ["GIT_AUTHOR_NAME", "GIT_SSH_COMMAND", "GIT_LFS_SKIP_SMUDGE"] {
            assert!(has(kept), "{who} lacks {kept}");
        }
    }
}

#[test]
fn the_key_agent_of_whoever_began_the_work_serves_the_pushes_of_its_branch() {
    let env = TestEnv::with_repository("");
    // A server behind ssh, which lets in who has the socket of a key agent.
    let server = env.path("server.git");
    let server = server.to_str().unwrap();
    env.git(&["init", "-q", "--bare", server]);
    let asked = env.path("tmp/asked");
    env.program(
        "ssh",
        &format!(
            "#!/bin/sh\ncase \"$*\" in -G*) exit 0 ;; esac\n\
             [ -n \"$SSH_AUTH_SOCK\" ] || {{ echo Permission denied >&2; exit 255; }}\n\
             for command; do :; done\necho \"$command\" >> {}\neval \"$command\"\n",
            asked.display()
        ),
    );
    env.git(&["remote", "add", "origin", &format!("git@server:{server}")]);
    env.configure("isolate = \"worktree\"\nremote = \"origin\"\n");
    let id = env
        .script_atom(&["sh echo x > a.txt && git add a.txt && git commit -q -m a", "close done"]);
    env.run(env.command("el").env("SSH_AUTH_SOCK", "/nowhere/agent").args(["work", "--once"])).ok();
    assert_eq!(env.status(&id), "closed");
    let why = env.el(&["why", &id]).ok().stdout;
    assert!(fs::read_to_string(&asked).unwrap().contains("git-receive-pack"), "{why}");
    let there = env.git(&["--git-dir", server, "log", "-1", "--format=%s", &format!("el/{id}")]);
    assert_eq!(there, "a", "{why}");
}
