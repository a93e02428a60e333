//! Attacks with git: no git outside the sandbox runs a program that an agent named.

use super::places::SHARED;
use crate::support::TestEnv;

/// A repository in the folder of the work that names programs in every way, and the worktree's own.
fn set_traps(env: &TestEnv) -> String {
    format!(
        "ran='touch {root}/ran'
         common=$(git rev-parse --path-format=absolute --git-common-dir)
         own=$(git rev-parse --git-dir)
         names() {{
           for key in core.fsmonitor core.hooksPath core.sshCommand core.pager core.editor \\
             filter.x.clean filter.x.smudge filter.x.process diff.x.command diff.x.textconv \\
             merge.x.driver gpg.program credential.helper uploadpack.packObjectsHook; do
             git $1 config $2 $key \"$ran; cat\"
           done
           git $1 config $2 core.hooksPath $PWD/hooks; git $1 config $2 protocol.ext.allow always
         }}
         mkdir hooks
         for hook in post-checkout post-commit pre-commit post-merge post-rewrite \\
           post-index-change reference-transaction prepare-commit-msg pre-auto-gc; do
           printf '#!/bin/sh\\ntouch {root}/ran\\n' > hooks/$hook; chmod +x hooks/$hook
           mkdir -p $common/hooks $own/hooks
           cp hooks/$hook $common/hooks/; cp hooks/$hook $own/hooks/
         done
         printf '* filter=x diff=x merge=x\\n' > .gitattributes
         cp .gitattributes $common/info/attributes; cp .gitattributes $own/info/attributes
         names '-C .' --local; names '-C .' --worktree; names '-C .' --global
         mkdir -p evil/objects evil/refs; cp $common/HEAD evil/; names '-C .' '-f evil/config'
         echo $PWD/evil > $common/commondir; echo $PWD/evil > $own/commondir
         mv .git old; echo \"gitdir: $PWD/evil\" > .git; ln -sfn $PWD/evil .git; cp -r evil .git
         for nested in sub build/nested; do
           git init -q $nested; names \"-C $nested\" --local
           printf '[remote \"origin\"]\\n url = ext::touch% {root}/ran\\n promisor = true\\n' \\
             >> $nested/.git/config
           (cd $nested; export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath \\
              GIT_CONFIG_VALUE_0=/dev/null
            echo one > file; git add file; git commit -q -m one
            printf '* filter=x diff=x\\n' > .gitattributes
            git -c filter.x.clean= -c filter.x.process= -c core.fsmonitor= add .
            git -c core.fsmonitor= commit -q -m two
            git config extensions.partialClone origin
            printf '%040d\\n' 7 > .git/refs/heads/gone)
           cp hooks/* $nested/.git/hooks/
         done
         printf 'build\\nevil\\n' > .gitignore
           {root}/ran > .gitmodules
         git add sub; git add .; git commit -q -m work; rm -f .git.old old
         sleep 1; echo more > sub/file; touch sub/.gitattributes; git status",
        root = env.path("").display(),
    )
}

#[test]
fn no_git_outside_obeys_what_it_leaves() {
    TestEnv::attack_everywhere("", set_traps, |env, said| {
        let ran = env.path("ran");
        let is_safe = |after: &str| assert!(!ran.exists(), "after {after}\n{said}");
        is_safe("the run");
        let id = env.robot(&["list", "--all"])["items"][0]["id"].take();
        let id = id.as_str().unwrap();
        let is_apart = env.project(".eluent/worktrees").exists();
        for words in [&["show", id][..], &["diff", id], &["worktrees"], &["review", id]] {
            env.run(env.command("el").args(words));
            is_safe(words[0]);
        }
        // The usual git commands of a person.
        for words in
            [&["status"][..], &["switch", "-c", "mine"], &["commit", "--allow-empty", "-mx"]]
        {
            env.git(words);
            is_safe(words[0]);
        }
        if is_apart {
            assert_eq!(env.robot(&["land", "--all"])["landed"], 1, "{said}");
            is_safe("the landing");
        }
        for words in [
            &["worktrees", "prune"][..],
            &["land", "--all"],
            &["worktrees", "remove", id, "--force"],
        ] {
            env.run(env.command("el").args(words));
            is_safe(words[0]);
        }
        env.git(&["checkout", "-q", "main"]);
        is_safe("a checkout");
    });
}

/// Where there was no repository, an agent makes one that names programs: el's own git looks at it
/// while it tells what is not committed.
#[test]
fn a_repository_of_its_making_where_there_was_none_is_disarmed() {
    for (place, is_linked) in SHARED.iter().flat_map(|place| [(place, false), (place, true)]) {
        let Some(mut env) = place.prepare("") else { return };
        std::fs::remove_dir_all(env.project(".git")).unwrap();
        if !place.hand_over(&mut env) {
            continue;
        }
        let ran = env.path("ran");
        let make = if is_linked {
            "mkdir evil; git init -q --separate-git-dir evil/git ."
        } else {
            "git init -q ."
        };
        let said = env.attack(&format!(
            "{make}
             git config user.name mine; git config user.email mine@example.com
             echo one > file; git add file; git commit -q -m one
             for key in core.fsmonitor core.pager filter.x.clean filter.x.smudge diff.x.command \\
               diff.x.textconv alias.status; do git config $key 'touch {ran}; cat'; done
             mkdir hooks; printf '#!/bin/sh\\ntouch {ran}\\n' > hooks/post-checkout
             chmod +x hooks/*; cp hooks/* $(git rev-parse --git-dir)/hooks/
             git config core.hooksPath $PWD/hooks
             printf '* filter=x diff=x\\n' > .gitattributes; sleep 1; echo two >> file; rm hooks/*",
            ran = ran.display(),
        ));
        let id = env.robot(&["list", "--all"])["items"][0]["id"].take();
        let run = env.last_run(id.as_str().unwrap());
        let notes = run["sandbox_notes"].to_string();
        assert!(notes.contains("the agent made a repository"), "{notes}\n{said}");
        env.attack("echo again");
        for words in [&["show", id.as_str().unwrap()][..], &["diff", id.as_str().unwrap()]] {
            env.run(env.command("el").args(words));
        }
        if !is_linked {
            // A person's own git does what it does in any repository.
            assert_eq!(env.git(&["log", "--format=%an %s"]), "mine one");
            env.git(&["status", "--short"]);
            env.git(&["checkout", "-q", "-b", "next"]);
        }
        assert!(!ran.exists(), "{said}");
    }
}
