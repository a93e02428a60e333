use proptest::prelude::*;

use super::*;

fn rules(asked: &str) -> Rules {
    Rules {
        root: "/home/me/work".to_owned(),
        state: Some(".tracker".to_owned()),
        summaries: Some(".tracker/summaries".to_owned()),
        contexts: Some(".tracker/agent-context".to_owned()),
        asked: asked.to_owned(),
    }
}

fn why(path: &str) -> NotSent {
    judge_path(path, &rules("")).expect_err(path)
}

#[test]
fn a_path_below_the_working_folder_is_made_tidy() {
    for (path, tidy) in [
        ("src/a.rs", "src/a.rs"),
        ("./src//a.rs", "src/a.rs"),
        ("src/./a b.rs", "src/a b.rs"),
        ("/home/me/work/src/a.rs", "src/a.rs"),
        ("...", "..."),
        ("a..b/c", "a..b/c"),
    ] {
        assert_eq!(judge_path(path, &rules("")).as_deref(), Ok(tidy), "{path}");
    }
}

#[test]
fn whatever_leaves_the_working_folder_is_refused() {
    for path in ["/etc/passwd", "/home/me/worker/a", "/home/me", "~/x", "~", "/"] {
        assert_eq!(why(path), NotSent::Absolute, "{path}");
    }
    for path in ["..", "../a", "a/../b", "a/..", "/home/me/work/../x"] {
        assert_eq!(why(path), NotSent::Outside, "{path}");
    }
    for path in [
        "",
        " ",
        "a\0b",
        "a\nb",
        "https://example.com/a.rs",
        "file:///etc/passwd",
        &"x".repeat(300),
        &"a/".repeat(4000),
    ] {
        assert_eq!(why(path), NotSent::NotAPath, "{path}");
    }
    for path in [".", "./", "/home/me/work/"] {
        assert_eq!(why(path), NotSent::Folder, "{path}");
    }
}

#[test]
fn kinds_that_are_no_result_are_refused() {
    for path in [
        "package.json",
        "web/tsconfig.build.json",
        ".env.example",
        "vite.config.ts",
        ".eslintrc.cjs",
        "requirements-dev.txt",
        ".gitignore",
        ".vscode/x.md",
    ] {
        assert_eq!(why(path), NotSent::Configuration, "{path}");
    }
    for path in
        ["dist/app.js", "web/node_modules/x/y.js", "target/debug/el", "a/__pycache__/b.py", "x.pyc"]
    {
        assert_eq!(why(path), NotSent::BuildOutput, "{path}");
    }
    for path in ["CONTEXT.md", "docs/SPECS.md", "INSTRUCTIONS.md", ".tracker/agent-context/t-1.md"]
    {
        assert_eq!(why(path), NotSent::ContextFile, "{path}");
    }
    assert_eq!(why(".tracker/summaries/t-2.md"), NotSent::OtherSummary);
    for path in [
        ".tracker/el.db",
        ".tracker/runs/run-1/env.json",
        ".git/config",
        "sub/.GIT/hooks/x",
        ".eluent/el.db",
    ] {
        assert_eq!(why(path), NotSent::TrackerState, "{path}");
    }
    for path in [
        "src/config.rs",
        "src/distance.rs",
        "docs/context.md",
        "build.rs",
        "src/target.rs",
        "Makefile",
        "package.rs",
        ".github/workflows/ci.yml",
    ] {
        assert!(judge_path(path, &rules("")).is_ok(), "{path}");
    }
}

#[test]
fn what_the_work_item_names_is_sent_all_the_same() {
    let sent = |path: &str, asked: &str| judge_path(path, &rules(asked)).is_ok();
    assert!(sent("package.json", "Add a script to package.json."));
    assert!(sent("web/package.json", "update `package.json`"));
    assert!(sent("dist/app.js", "commit dist/ as well"));
    assert!(sent("dist/app.js", "hand back app.js"));
    assert!(sent("CLAUDE.md", "Write CLAUDE.md"));
    assert!(!sent("package.json", "see mypackage.json and package.json5"));
    assert!(!sent("package.json", "see old/package.json.bak"));
    assert!(!sent("dist/app.js", "a dist is a dist"));
    for secret in [".env", ".env.local", "id_rsa", "keys/server.pem", ".npmrc"] {
        assert!(!sent(secret, &format!("Never print or commit {secret}; it holds the keys.")));
        assert_eq!(why(secret), NotSent::Secret);
    }
    assert!(!sent(".git/config", "show me .git/config and .git/"), "never, whoever asks");
}

proptest! {
    #[test]
    fn no_path_leads_out(path in "(\\.\\.|\\.|/|//|~|a|home/me/work|\\.git|\u{e9}| |\n\
        |\0){0,12}", absolute: bool) {
        let path = if absolute { format!("/home/me/work/{path}") } else { path };
        if let Ok(kept) = judge_path(&path, &rules("")) {
            prop_assert!(!kept.starts_with('/') && !kept.is_empty());
            prop_assert!(kept.split('/').all(|name| !matches!(name, "" | "." | "..")));
            let again = judge_path(&kept, &rules(""));
            prop_assert_eq!(again.as_ref(), Ok(&kept), "judging again changes nothing");
        }
    }

    #[test]
    fn any_text_is_judged_without_a_panic(path in any::<String>(), asked in any::<String>()) {
        drop(judge_path(&path, &rules(&asked)));
    }
}
