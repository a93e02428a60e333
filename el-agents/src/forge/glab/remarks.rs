//! The demands of reviewers and pipelines on merge requests.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::GitlabCli;
use super::call::escape;
use crate::forge::call::parse;
use crate::forge::{ForgeError, ForgeRemark, RemarkKind, RepoName, Result, text_of, time_of};

/// The system note with which a reviewer's demand begins.
const DEMAND: &str = "requested changes";

impl GitlabCli {
    pub(super) fn remarks_of(
        &self,
        repo: &RepoName,
        numbers: &[u64],
    ) -> Result<Vec<Vec<ForgeRemark>>> {
        let mut said = Vec::new();
        for number in numbers {
            let at = format!("/merge_requests/{number}");
            let request = self.get(repo, &at)?;
            let discussions = self.list(repo, &format!("{at}/discussions?"))?;
            let reviewers = self.get(repo, &format!("{at}/reviewers"))?;
            let mut all = thread_remarks(&discussions);
            all.extend(review_remarks(&discussions, &reviewers));
            let checks = self.check_remarks(repo, &request)?;
            all.extend(checks.into_iter().map(|remark| (None, remark)));
            said.push(all);
        }
        let mut authors: Vec<u64> = said.iter().flatten().filter_map(|(id, _)| *id).collect();
        authors.sort_unstable();
        authors.dedup();
        let roles = self.author_roles(repo, &authors)?;
        let with_role = |(author, remark): (Option<u64>, ForgeRemark)| match author
            .and_then(|author| roles.get(&author))
        {
            Some((role, is_bot)) => {
                let is_bot = remark.is_bot || *is_bot;
                ForgeRemark { role: role.clone(), is_bot, ..remark }
            }
            None => remark,
        };
        Ok(said.into_iter().map(|all| all.into_iter().map(with_role).collect()).collect())
    }

    /// The parts of members in the project, and whether they are bots, by the ids of users.
    fn author_roles(
        &self,
        repo: &RepoName,
        authors: &[u64],
    ) -> Result<BTreeMap<u64, (String, bool)>> {
        let mut found = BTreeMap::new();
        for some in authors.chunks(50) {
            let ids: String = some.iter().map(|id| format!("&user_ids%5B%5D={id}")).collect();
            for member in
                self.list(repo, &format!("/members/all?{}", ids.trim_start_matches('&')))?
            {
                let Some(id) = member["id"].as_u64() else { continue };
                let role = role_of(member["access_level"].as_u64().unwrap_or(0));
                let user = self.call_any(repo, "GET", &format!("users/{id}"), None)?;
                let user: Value = parse(&repo.host, &user.body)?;
                found.insert(id, (role.to_owned(), user["bot"] == true));
            }
        }
        Ok(found)
    }

    /// The jobs that failed the pipeline of the head, and not that of the base too.
    fn check_remarks(&self, repo: &RepoName, request: &Value) -> Result<Vec<ForgeRemark>> {
        let pipeline = &request["head_pipeline"];
        if pipeline["status"] != "failed" {
            return Ok(Vec::new());
        }
        let failed = self.failed_jobs(repo, pipeline)?;
        let base = text_of(&request["target_branch"]);
        let path = format!("/pipelines?ref={}&per_page=1", escape(&base));
        let of_base = self.get(repo, &path)?[0].take();
        let of_base = match of_base["status"] == "failed" {
            true => self.failed_jobs(repo, &of_base)?,
            false => Vec::new(),
        };
        let is_own = |job: &&Value| of_base.iter().all(|other| other["name"] != job["name"]);
        let head = text_of(&request["sha"]);
        Ok(failed.iter().filter(is_own).map(|job| job_remark(job, &head)).collect())
    }

    /// The jobs of a pipeline that failed it. A pipeline of a fork does not show them here.
    fn failed_jobs(&self, repo: &RepoName, pipeline: &Value) -> Result<Vec<Value>> {
        let path = format!("/pipelines/{}/jobs?scope%5B%5D=failed", pipeline["id"]);
        let mut jobs = match self.list(repo, &path) {
            Err(ForgeError::NoRepository { .. } | ForgeError::NoRights { .. }) => Vec::new(),
            jobs => jobs?,
        };
        jobs.retain(|job| job["allow_failure"] != true);
        Ok(jobs)
    }
}

/// The word in `pr_trust` for an access level.
fn role_of(level: u64) -> &'static str {
    match level {
        50.. => "OWNER",
        40.. => "MAINTAINER",
        30.. => "DEVELOPER",
        20.. => "REPORTER",
        15.. => "PLANNER",
        10.. => "GUEST",
        _ => "NONE",
    }
}

/// A remark with the id of its author.
type Remarked = (Option<u64>, ForgeRemark);

fn remark(kind: RemarkKind, head: &str, id: String, said: &Value) -> ForgeRemark {
    let author = text_of(&said["author"]["username"]);
    ForgeRemark {
        kind,
        head: head.to_owned(),
        id,
        // The users of access tokens have these names; other bots are told by their account.
        is_bot: ["project_", "group_"].iter().any(|of| author.starts_with(of))
            && author.contains("_bot"),
        author,
        role: "NONE".to_owned(),
        text: text_of(&said["body"]),
        place: None,
        run: None,
        at: time_of(&said["created_at"]),
    }
}

fn notes(discussion: &Value) -> impl Iterator<Item = &Value> {
    discussion["notes"].as_array().into_iter().flatten()
}

/// The comments of threads that nobody resolved.
fn thread_remarks(discussions: &[Value]) -> Vec<Remarked> {
    let is_open = |note: &Value| note["resolvable"] == true && note["resolved"] == false;
    let mut found = Vec::new();
    for thread in discussions.iter().filter(|thread| notes(thread).any(is_open)) {
        let place = notes(thread).find_map(|note| place_of(&note["position"]));
        for note in notes(thread).filter(|note| note["system"] != true) {
            // Each comment is asked once, whatever head the branch has by then.
            let id = format!("{}/{}", text_of(&thread["id"]), note["id"]);
            let said = remark(RemarkKind::Thread, "", id, note);
            found.push((
                note["author"]["id"].as_u64(),
                ForgeRemark { place: place.clone(), ..said },
            ));
        }
    }
    found
}

fn place_of(position: &Value) -> Option<String> {
    let path = position["new_path"].as_str().or(position["old_path"].as_str())?;
    match position["new_line"].as_u64().or(position["old_line"].as_u64()) {
        Some(line) => Some(format!("{path}:{line}")),
        None => Some(path.to_owned()),
    }
}

/// The demands of reviewers who request changes: their comments, beside threads, since the demand
/// before. Only the order ties the two together at GitLab.
fn review_remarks(discussions: &[Value], reviewers: &Value) -> Vec<Remarked> {
    let number = |note: &Value| note["id"].as_u64().unwrap_or(0);
    let mut found = Vec::new();
    let all = reviewers.as_array().into_iter().flatten();
    for reviewer in all.filter(|one| one["state"] == "requested_changes") {
        let user = &reviewer["user"];
        let is_own = |note: &&Value| note["author"]["id"] == user["id"];
        let own: Vec<&Value> = discussions.iter().flat_map(notes).filter(is_own).collect();
        let is_demand = |note: &&&Value| {
            note["system"] == true && note["body"].as_str().is_some_and(|it| it.starts_with(DEMAND))
        };
        let mut demands = own.iter().filter(is_demand).rev();
        let (last, before) = (demands.next(), demands.next().map_or(0, |note| number(note)));
        let is_text = |note: &&&Value| {
            note["system"] != true && note["resolvable"] != true && number(note) > before
        };
        let texts: Vec<&str> =
            own.iter().filter(is_text).filter_map(|note| note["body"].as_str()).collect();
        let at = last.map_or(&reviewer["created_at"], |note| &note["created_at"]);
        let said = json!({
            "author": user, "created_at": at,
            "body": if texts.is_empty() { DEMAND.to_owned() } else { texts.join("\n\n") },
        });
        // It stays the same demand when the head moves.
        let name = text_of(&user["username"]);
        let id = format!("review {name} {}", last.map_or(0, |note| number(note)));
        found.push((user["id"].as_u64(), remark(RemarkKind::Review, "", id, &said)));
    }
    found
}

fn job_remark(job: &Value, head: &str) -> ForgeRemark {
    let name = text_of(&job["name"]);
    ForgeRemark {
        text: format!("the check {name} fails"),
        run: job["id"].as_u64(),
        at: time_of(&job["finished_at"]),
        ..remark(RemarkKind::Check, head, format!("check {name}"), &Value::Null)
    }
}
