use std::fs;
use std::os::unix::fs::symlink;

use el_core::model::{EndKind, ExitRecord, SummaryStatus, Timestamp};
use el_core::ops::{self, ClaimRequest, NewAtom};
use el_core::{Ctx, Store};
use proptest::prelude::*;

use super::*;

mod endings;

/// A project with one atom in work.
struct World {
    dir: tempfile::TempDir,
    store: Store,
    job: CollectionJob,
}

impl World {
    fn new(description: &str) -> World {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("work");
        let state = root.join(".eluent");
        fs::create_dir_all(state.join("summaries")).unwrap();
        fs::write(dir.path().join("secret.txt"), "outside").unwrap();
        let now = Timestamp::from(std::time::SystemTime::now()).minus(Duration::from_secs(60));
        let mut store = Store::create(&state.join("el.db"), "t", now).unwrap();
        let ctx = Ctx { now, actor: "ann", session: None };
        ops::create(
            &mut store,
            &ctx,
            &NewAtom {
                title: "A title".into(),
                description: description.into(),
                ..NewAtom::default()
            },
        )
        .unwrap();
        let (workdir, lease) = (root.display().to_string(), Duration::from_secs(60));
        let request = ClaimRequest::new("w", "claude", workdir, lease);
        let claimed = ops::claim_run(&mut store, &ctx, &request).unwrap().unwrap();
        let places = Places {
            database: state.join("el.db"),
            server: None,
            runs: state.join("runs"),
            contexts: state.join("agent-context"),
            summaries: state.join("summaries"),
            el: "/bin/el".into(),
        };
        let folder = RunDir::new(&places.runs, &claimed.run.id);
        let job = CollectionJob {
            run: claimed.run,
            atom: Some(claimed.atom),
            folder,
            places,
            summary_before: None,
            output: String::new(),
            never_ran: false,
            isolation: None,
        };
        World { dir, store, job }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn summary(&self, deliverables: &[&str]) {
        let list: String =
            deliverables.iter().map(|path| format!("- `{path}` - about {path}\n")).collect();
        let text = format!(
            "## Objective\nO\n\n## Accomplishments\n- A\n\n## Key Deliverables\n{list}\n\
             ## Status\n✅ COMPLETED\n"
        );
        fs::write(summary_file::summary_file(&self.job.places, &self.job.run.atom_id), text)
            .unwrap();
    }

    fn collect(&self) -> Collected {
        collect(&self.job)
    }

    fn kept(&self, artifact: &Artifact) -> String {
        fs::read_to_string(self.job.folder.path().join(artifact.file.as_ref().unwrap())).unwrap()
    }
}

fn sent(collected: &Collected) -> Vec<(&str, ArtifactState)> {
    collected.artifacts.iter().filter(|a| a.is_sent()).map(|a| (a.path.as_str(), a.state)).collect()
}

fn refused(collected: &Collected) -> Vec<(&str, NotSent)> {
    collected.artifacts.iter().filter_map(|a| Some((a.path.as_str(), a.reason?))).collect()
}

#[test]
fn the_summary_comes_first_then_the_files_it_names_copied_as_they_are_now() {
    let world = World::new("");
    world.write("src/a.rs", "fn a() {}");
    world.write("doc.md", "text");
    world.summary(&["src/a.rs", "doc.md"]);
    let found = world.collect();
    let own = format!(".eluent/summaries/{}.md", world.job.run.atom_id);
    let copied = ArtifactState::Copied;
    assert_eq!(sent(&found), [(own.as_str(), copied), ("src/a.rs", copied), ("doc.md", copied)]);
    assert_eq!(found.artifacts.iter().map(|a| a.n).collect::<Vec<_>>(), [1, 2, 3]);
    let first = &found.artifacts[1];
    assert_eq!((first.size, first.description.as_deref()), (Some(9), Some("about src/a.rs")));
    assert_eq!(first.sha256.as_deref(), Some(sha256_hex(b"fn a() {}").as_str()));
    world.write("src/a.rs", "changed later");
    assert_eq!(world.kept(first), "fn a() {}");
    assert!(world.kept(&found.artifacts[0]).contains("✅ COMPLETED"));
    assert_eq!(
        (found.summary.status, found.summary.is_fallback),
        (Some(SummaryStatus::Completed), false)
    );
}

#[test]
fn at_most_four_files_beside_the_summary() {
    let world = World::new("");
    let names: Vec<String> = (0..6).map(|n| format!("f{n}.md")).collect();
    names.iter().for_each(|name| world.write(name, "x"));
    world.summary(&["gone.md", "f0.md", "f1.md", "f0.md", "./f2.md", "f3.md", "f4.md", "f5.md"]);
    let found = world.collect();
    assert_eq!(sent(&found).len(), 5, "{:?}", sent(&found));
    let too_many = NotSent::TooMany;
    assert_eq!(
        refused(&found),
        [("gone.md", NotSent::Missing), ("f4.md", too_many), ("f5.md", too_many)]
    );
}

#[test]
fn what_may_not_be_handed_over_is_reported_and_its_content_is_nowhere() {
    let world = World::new("Look around.");
    let root = world.root();
    symlink("../secret.txt", root.join("out.txt")).unwrap();
    symlink("..", root.join("up")).unwrap();
    assert!(
        std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success()
    );
    world.write("folder/x", "x");
    world.write("package.json", "{}");
    world.write("dist/app.js", "built");
    world.write("CONTEXT.md", "context");
    world.write(".eluent/summaries/t-other.md", "another's");
    world.write(".eluent/runs/run-x/env.json", "keys");
    world.write(".git/config", "git");
    world.write("real.md", "real");
    let outside = world.dir.path().join("secret.txt").display().to_string();
    let own = format!(".eluent/summaries/{}.md", world.job.run.atom_id);
    let named = [
        "/etc/passwd",
        &outside,
        "../secret.txt",
        "out.txt",
        "up/secret.txt",
        "pipe",
        "folder",
        "package.json",
        "dist/app.js",
        "CONTEXT.md",
        ".eluent/summaries/t-other.md",
        ".eluent/runs/run-x/env.json",
        ".eluent/el.db",
        ".git/config",
        "missing.md",
        &own,
        "real.md",
    ];
    world.summary(&named);
    let found = world.collect();
    assert_eq!(
        sent(&found).iter().map(|(path, _)| *path).collect::<Vec<_>>(),
        [own.as_str(), "real.md"]
    );
    let why = [
        NotSent::Absolute,
        NotSent::Absolute,
        NotSent::Outside,
        NotSent::Link,
        NotSent::Secret,
        NotSent::NotAFile,
        NotSent::Folder,
        NotSent::Configuration,
        NotSent::BuildOutput,
        NotSent::ContextFile,
        NotSent::OtherSummary,
        NotSent::TrackerState,
        NotSent::TrackerState,
        NotSent::TrackerState,
        NotSent::Missing,
    ];
    assert_eq!(refused(&found).iter().map(|(_, why)| *why).collect::<Vec<_>>(), why);
    assert_eq!(fs::read_dir(world.job.folder.artifacts_path()).unwrap().count(), 2);
}

#[test]
fn no_mention_and_no_link_brings_out_a_secret() {
    let world = World::new("Never print or commit .env; it holds the keys. Nor id_rsa, nor el.db.");
    let root = world.root();
    for secret in [".env", "id_rsa", "certs/server.pem", ".eluent/el.db"] {
        world.write(secret, "SECRET=1");
    }
    symlink(".env", root.join("notes.txt")).unwrap();
    symlink(".eluent", root.join("x")).unwrap();
    symlink("certs", root.join("docs")).unwrap();
    world.write("real.md", "real");
    symlink("real.md", root.join("link.md")).unwrap();
    let secrets = [".env", "id_rsa", "notes.txt", "x/el.db", "docs/server.pem"];
    world.summary(&[&secrets[..], &["link.md"]].concat());
    let found = world.collect();
    assert_eq!(sent(&found)[1].0, "link.md");
    let (secret, state) = (NotSent::Secret, NotSent::TrackerState);
    let why: Vec<_> = refused(&found).iter().map(|(_, why)| *why).collect();
    assert_eq!(why, [secret, secret, secret, state, secret]);
}

#[test]
fn a_kind_that_the_work_item_asks_for_is_handed_over() {
    let world = World::new("Add a script to package.json and commit dist/ too.");
    world.write("package.json", "{}");
    world.write("dist/app.js", "built");
    world.summary(&["package.json", "dist/app.js"]);
    assert_eq!(sent(&world.collect()).len(), 3);
}

#[test]
fn binary_and_very_large_files_are_referred_to() {
    let world = World::new("");
    world.write("logo.png", b"\x89PNG\0\0");
    world.write("big.csv", "a,b\n".repeat(1 << 20));
    world.summary(&["logo.png", "big.csv"]);
    let found = world.collect();
    let reference = ArtifactState::Reference;
    assert_eq!(sent(&found)[1..], [("logo.png", reference), ("big.csv", reference)]);
    for artifact in &found.artifacts[1..] {
        assert!(
            artifact.sha256.is_some()
                && artifact.size.unwrap() > 0
                && artifact.note.is_some()
                && artifact.file.is_none(),
            "{artifact:?}"
        );
    }
}

#[test]
fn absolute_paths_below_the_working_folder_are_meant_relative() {
    let world = World::new("");
    world.write("src/a.rs", "x");
    world.summary(&[&world.root().join("src/a.rs").display().to_string()]);
    assert_eq!(sent(&world.collect())[1].0, "src/a.rs");
}

#[test]
fn a_working_folder_behind_a_link_has_two_names() {
    let mut world = World::new("");
    world.write("src/a.rs", "x");
    world.write("src/b.rs", "x");
    let link = world.dir.path().join("link");
    symlink(world.root(), &link).unwrap();
    world.job.run.workdir = link.display().to_string();
    let [configured, real] =
        [link.join("src/a.rs"), world.root().canonicalize().unwrap().join("src/b.rs")]
            .map(|path| path.display().to_string());
    world.summary(&[&configured, &real]);
    assert_eq!(
        sent(&world.collect())[1..].iter().map(|(path, _)| *path).collect::<Vec<_>>(),
        ["src/a.rs", "src/b.rs"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever an agent names, what comes back is never what lies outside.
    #[test]
    fn nothing_outside_is_ever_handed_back(
        names in prop::collection::vec("(\\.\\./|/|a|secret\\.txt|link|src|\\.|~){1,6}", 0..8),
        target in "(\\.\\./|/|src|secret\\.txt){1,4}",
    ) {
        let world = World::new("secret.txt");
        world.write("src/a", "inside");
        drop(symlink(&target, world.root().join("link")));
        drop(symlink(&target, world.root().join("src/link")));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        world.summary(&names);
        let found = world.collect();
        prop_assert!(found.artifacts.iter().filter(|a| a.is_sent()).count() <= 5);
        for artifact in found.artifacts.iter().filter(|a| a.file.is_some()).skip(1) {
            prop_assert_eq!(world.kept(artifact), "inside");
        }
    }
}
