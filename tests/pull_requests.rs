//! `el pr`: the real `gh`, `glab` and git against the scripted GitHub and GitLab.

mod answers;
mod crashes;
mod endings;
mod feedback;
mod forge_rules;
mod gate;
mod gitlab;
mod landing;
mod limits;
mod opening;
mod refusals;
mod sentences;
mod stacks;
mod telling;
mod watching;
mod working;

use serde_json::{Value, json};

use crate::support::{ForgeClient, Github, TestEnv};

/// A tracker in a clone of a repository at GitHub or GitLab.
struct Shop {
    env: TestEnv,
    github: Github,
}

impl Shop {
    #[track_caller]
    fn open(client: &ForgeClient) -> Shop {
        let mut env = TestEnv::with_repository("");
        let github = Github::start(&mut env, client);
        github.publish(&env);
        Shop { env, github }
    }

    /// A closed atom whose branch writes a file.
    #[track_caller]
    fn finished(&self, file: &str, text: &str) -> String {
        let id = self.env.create(&format!("Write {file}"), &[]);
        self.env.git(&["branch", "--quiet", &format!("el/{id}"), "origin/main"]);
        // As el itself notes where a branch begins.
        self.env.git(&["update-ref", &format!("refs/el/base/{id}"), "origin/main"]);
        self.answer(&id, file, text);
        id
    }

    /// The same, with a pull request that is ready for review.
    #[track_caller]
    fn opened(&self, file: &str) -> String {
        let id = self.finished(file, "one");
        self.env.el(&["pr", &id, "--ready"]).ok();
        id
    }

    /// An atom that a review has reopened, with more settings.
    #[track_caller]
    fn with_review(client: &ForgeClient, settings: &str) -> (Shop, String) {
        let shop = Shop::open(client);
        shop.env.configure(&format!("pr_feedback = \"reviews\"\n{settings}"));
        let id = shop.opened("a.txt");
        shop.request_changes("MEMBER", "Say two.", json!({}));
        assert_eq!(shop.watch()["reopened"], json!([id]));
        (shop, id)
    }

    /// Commits a file on an atom's branch, and closes the atom.
    #[track_caller]
    fn answer(&self, id: &str, file: &str, text: &str) {
        self.commit(id, file, text);
        self.env.el(&["close", id]).ok();
    }

    /// A closed atom that builds on another, from whose branch its own begins.
    #[track_caller]
    fn finished_on(&self, below: &str, file: &str, text: &str) -> String {
        let id = self.env.create(&format!("Write {file}"), &[]);
        self.env.el(&["dep", "add", below, &id]).ok();
        let below = format!("el/{below}");
        self.env.git(&["branch", "--quiet", &format!("el/{id}"), &below]);
        self.env.git(&["update-ref", &format!("refs/el/base/{id}"), &below]);
        self.answer(&id, file, text);
        id
    }

    /// Commits a file on an atom's branch, in a worktree that is kept.
    #[track_caller]
    fn commit(&self, id: &str, file: &str, text: &str) {
        let tree = self.env.project(format!(".eluent/worktrees/{id}"));
        let at = tree.to_str().unwrap();
        if !tree.exists() {
            self.env.git(&["worktree", "add", "--quiet", at, &format!("el/{id}")]);
        }
        std::fs::write(tree.join(file), format!("{text}\n")).unwrap();
        self.env.git(&["-C", at, "add", file]);
        self.env.git(&["-C", at, "commit", "--quiet", "-m", text]);
    }

    fn tip(&self, id: &str) -> String {
        self.env.git(&["rev-parse", &format!("refs/heads/el/{id}")])
    }

    /// The pull requests at GitHub, by number.
    #[track_caller]
    fn pulls(&self) -> Vec<Value> {
        let state = self.github.state();
        let mut all: Vec<Value> = state["pulls"].as_object().unwrap().values().cloned().collect();
        all.sort_by_key(|one| one["number"].as_u64());
        all
    }

    /// Returns the record of the one pull request that `el` knows.
    #[track_caller]
    fn record(&self) -> Value {
        let list = self.env.robot(&["pr", "list"]);
        assert_eq!(list["count"], 1, "{list}");
        list["items"][0].clone()
    }

    /// Asks GitHub what became of them.
    #[track_caller]
    fn watch(&self) -> Value {
        self.env.robot(&["pr", "watch", "--once"])
    }

    fn merge(&self, number: u64, method: &str) {
        self.github.control(json!({ "do": "merge", "number": number, "method": method }));
    }

    /// Changes settings of the repository at GitHub.
    fn set(&self, mut settings: Value) {
        settings["do"] = json!("set");
        self.github.control(settings);
    }

    /// A check of the first pull request ends so.
    fn check(&self, name: &str, conclusion: &str) {
        self.github.control(json!({
            "do": "check", "number": 1, "name": name, "conclusion": conclusion,
        }));
    }

    /// Somebody requests changes of the first pull request; `more`: further values of the review.
    fn request_changes(&self, association: &str, body: &str, more: Value) {
        let mut review = json!({
            "do": "review", "number": 1, "state": "CHANGES_REQUESTED", "author": "bob",
            "association": association, "body": body,
        });
        review.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        self.github.control(review);
    }

    /// The branch at GitHub, as `git ls-remote` tells it; empty: there is none.
    fn branch_there(&self, branch: &str) -> String {
        self.env.git(&["ls-remote", "origin", &format!("refs/heads/{branch}")])
    }
}
