//! The authors whose issues and words are taken over. On a public repository everybody may file
//! issues and comment, and agents would work on those.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The kinds of authors at GitHub who may say which work agents do.
const MEMBERS: [&str; 3] = ["OWNER", "MEMBER", "COLLABORATOR"];

/// The rules for issues and comments of a public repository.
#[derive(Debug)]
pub(super) struct Acceptance<'a> {
    /// The ids of issues that are atoms already.
    pub(super) known: &'a BTreeMap<String, String>,
    /// `owner/name#`
    pub(super) scope: &'a str,
    /// The label by which a member accepts an issue.
    pub(super) label: Option<&'a str>,
    /// The roles of the authors, by the number of the issue.
    pub(super) roles: &'a BTreeMap<u64, String>,
}

/// The issues and comments that stay, and the others.
#[derive(Debug, Default)]
pub(super) struct Accepted {
    pub(super) issues: Vec<Value>,
    /// Numbers of issues that nobody has accepted.
    pub(super) left_out: Vec<u64>,
    pub(super) comments_left_out: usize,
    /// Ids of accepted issues whose authors are no members.
    pub(super) by_others: BTreeSet<String>,
}

impl Acceptance<'_> {
    pub(super) fn sort_issues(&self, issues: Vec<Value>) -> Accepted {
        let mut found = Accepted::default();
        for mut issue in issues {
            let number = issue["number"].as_u64().unwrap_or(0);
            let id = format!("{}{number}", self.scope);
            let is_members = self.roles.get(&number).is_some_and(|role| is_member(role));
            if !is_members && !self.known.contains_key(&id) && !self.is_accepted(&issue) {
                found.left_out.push(number);
                continue;
            }
            if !is_members {
                found.by_others.insert(id);
            }
            found.comments_left_out += leave_comments_out(&mut issue);
            found.issues.push(issue);
        }
        found
    }

    /// Only members set an assignee. The repository's templates set labels too, so a label is
    /// named.
    fn is_accepted(&self, issue: &Value) -> bool {
        let has_assignee = issue["assignees"].as_array().is_some_and(|all| !all.is_empty());
        let labels = issue["labels"].as_array().map_or(&[][..], Vec::as_slice);
        let has_label = self.label.is_some_and(|wanted| {
            let names = labels.iter().filter_map(|label| label["name"].as_str());
            names.into_iter().any(|name| name.eq_ignore_ascii_case(wanted))
        });
        has_assignee || has_label
    }
}

fn is_member(role: &str) -> bool {
    MEMBERS.contains(&role)
}

/// Takes the comments of others out. Returns how many they were.
fn leave_comments_out(issue: &mut Value) -> usize {
    let Some(comments) = issue["comments"].as_array_mut() else { return 0 };
    let before = comments.len();
    comments.retain(|comment| comment["authorAssociation"].as_str().is_some_and(is_member));
    before - comments.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_stranger_filed_needs_a_members_word() {
        let known = BTreeMap::from([("acme/shop#5".to_owned(), "t-1".to_owned())]);
        let roles = [(1, "MEMBER"), (2, "NONE"), (3, "CONTRIBUTOR"), (4, "NONE"), (5, "NONE")];
        let roles: BTreeMap<u64, String> =
            roles.into_iter().map(|(number, role)| (number, role.to_owned())).collect();
        let sort = |label: Option<&str>| {
            let acceptance =
                Acceptance { known: &known, scope: "acme/shop#", label, roles: &roles };
            acceptance.sort_issues(vec![
                json!({ "number": 1 }),
                json!({ "number": 2, "labels": [{ "name": "bug" }] }),
                json!({ "number": 3, "assignees": [{ "login": "ada" }] }),
                json!({ "number": 4, "labels": [{ "name": "Agents" }] }),
                json!({ "number": 5, "comments": [
                    { "authorAssociation": "NONE" }, { "authorAssociation": "OWNER" }, {},
                ] }),
                json!({ "number": 6 }),
            ])
        };
        let found = sort(Some("agents"));
        assert_eq!(found.left_out, [2, 6]);
        assert_eq!(found.comments_left_out, 2);
        let others: Vec<&str> = found.by_others.iter().map(String::as_str).collect();
        assert_eq!(others, ["acme/shop#3", "acme/shop#4", "acme/shop#5"]);
        assert_eq!(sort(None).left_out, [2, 4, 6]);
    }
}
