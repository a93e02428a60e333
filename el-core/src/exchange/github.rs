//! GitHub's issues: the output of `gh issue list --json …`, and the answers of the REST interface.

use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::record::{Part, Record, RecordBond, RecordComment};
use super::{NoteKind, Notes, Tracker};
use crate::model::{BondKind, IssueType, Name, Priority, Status};

/// The fields of an issue that name other issues. Older versions of `gh` know none of them.
const RELATIONS: [&str; 4] = ["parent", "subIssues", "blockedBy", "blocking"];

/// Returns true if the file was asked for relations.
pub(super) fn has_relations(object: &Map<String, Value>) -> bool {
    RELATIONS.iter().any(|key| object.contains_key(*key))
}

pub(super) fn read_part(
    line: usize,
    object: Map<String, Value>,
    notes: &mut Notes,
) -> Result<Part, String> {
    let number = object.get("number").and_then(Value::as_i64).ok_or("it has no number")?;
    if object.contains_key("pull_request") {
        let what = "a pull request is no issue";
        notes.add(NoteKind::LeftOut, what, &format!("line {line} (#{number})"));
        return Ok(Part::Nothing);
    }
    read_issue(&mut Draft::new(line, format!("#{number}"), object, notes), number)
}

fn read_issue(draft: &mut Draft<'_>, number: i64) -> Result<Part, String> {
    let url = draft.first_text(&["html_url", "url"]);
    let repository = url.as_deref().and_then(repository_of);
    draft.id = repository
        .as_deref()
        .map_or_else(|| format!("#{number}"), |repository| format!("{repository}#{number}"));
    let names = other_names(draft, number, url.as_deref());
    if let Some(url) = url {
        draft.keep_quietly("url", url.into());
    }
    for told_elsewhere in [
        "number",
        "id",
        "node_id",
        "closed",
        "subIssuesSummary",
        "projectCards",
        "reactionGroups",
        "isPinned",
    ] {
        let value = draft.take_field(told_elsewhere);
        if told_elsewhere == "isPinned" && value == Some(true.into()) {
            draft.keep_quietly(told_elsewhere, true.into());
        }
    }
    let title = draft.take_title()?;
    let description = draft.long_text("body")?;
    let state = draft.take_text("state").unwrap_or_default();
    let reason = draft.first_text(&["stateReason", "state_reason"]).unwrap_or_default();
    let is_closed = state.eq_ignore_ascii_case("closed");
    let not_planned =
        reason.eq_ignore_ascii_case("not_planned") || reason.eq_ignore_ascii_case("duplicate");
    let status = match (is_closed, not_planned) {
        (true, true) => Status::WontDo,
        (true, false) => Status::Closed,
        _ => Status::Open,
    };
    let close_reason =
        (is_closed && !reason.is_empty()).then(|| reason.to_ascii_lowercase().replace('_', " "));
    let labels: Vec<String> = draft.take_list("labels").iter().filter_map(name_of).collect();
    let issue_type = issue_type(draft, &labels);
    let priority =
        labels.iter().find_map(|label| label_priority(label)).unwrap_or(Priority::DEFAULT);
    let labels = draft.labels_of("labels", labels.into_iter().map(Value::String).collect());
    let assignee = take_assignee(draft);
    let author = draft.take_field("author").or_else(|| draft.take_field("user"));
    let created_by =
        author.as_ref().and_then(login_name).and_then(|who| draft.check_name("author", &who));
    if let Some(milestone) = draft.take_field("milestone") {
        let title = milestone.get("title").cloned().unwrap_or(milestone);
        draft.keep_source(
            "milestone",
            title,
            NoteKind::Kept,
            "field 'milestone' has no place here",
        );
    }
    let parent =
        draft.take_field("parent").as_ref().and_then(|value| id_of(value, repository.as_deref()));
    let bonds = read_bonds(draft, repository.as_deref());
    let comments = read_comments(draft)?;
    let created_at = draft.take_time("createdAt").or_else(|| draft.take_time("created_at"));
    let updated_at = draft.take_time("updatedAt").or_else(|| draft.take_time("updated_at"));
    let closed_at = draft.take_time("closedAt").or_else(|| draft.take_time("closed_at"));
    let record = Record {
        run_options: None,
        needs: None,
        line: draft.line,
        id: draft.id.clone(),
        names,
        title,
        description,
        acceptance: None,
        status,
        issue_type,
        priority,
        labels,
        assignee,
        parent,
        defer_until: None,
        close_reason,
        created_by,
        created_at,
        updated_at,
        closed_at,
        metadata: draft.finish_metadata(Tracker::Github.as_str(), Map::new()),
    };
    Ok(Part::Item(Box::new(record), bonds, comments))
}

/// `owner/repo` of an address such as `https://github.com/owner/repo/issues/12`.
fn repository_of(url: &str) -> Option<String> {
    let path = url.split_once("://")?.1.split_once('/')?.1;
    let mut parts = path.strip_prefix("repos/").unwrap_or(path).split('/');
    let (owner, name) = (parts.next()?, parts.next()?);
    (parts.next() == Some("issues") && !owner.is_empty() && !name.is_empty())
        .then(|| format!("{owner}/{name}"))
}

/// Returns the other names of an issue: `#12`, `gh-12` and the address.
fn other_names(draft: &Draft<'_>, number: i64, url: Option<&str>) -> Vec<Name> {
    let github = Tracker::Github.as_str();
    // Numbers are unique within a repository only.
    let source = draft.id.split_once('#').map_or("", |(repository, _)| repository);
    let source = if source.is_empty() { github.to_owned() } else { format!("{github}:{source}") };
    let mut aliases = vec![format!("gh-{number}")];
    if draft.id.contains('/') {
        aliases.push(format!("#{number}"));
    }
    aliases.extend(url.map(str::to_owned));
    aliases.into_iter().map(|alias| Name { source: source.clone(), alias }).collect()
}

fn name_of(value: &Value) -> Option<String> {
    value.as_str().or_else(|| value.get("name")?.as_str()).map(str::to_owned)
}

fn login_name(value: &Value) -> Option<String> {
    value
        .as_str()
        .or_else(|| value.get("login")?.as_str())
        .filter(|login| !login.is_empty())
        .map(str::to_owned)
}

/// Returns GitHub's own issue type, or else the type that a label names.
fn issue_type(draft: &mut Draft<'_>, labels: &[String]) -> IssueType {
    let own = draft
        .take_field("issueType")
        .or_else(|| draft.take_field("type"))
        .as_ref()
        .and_then(name_of);
    let words = own.into_iter().chain(
        labels.iter().map(|label| label.rsplit([':', '/']).next().unwrap_or(label).to_owned()),
    );
    let known = |word: &str| {
        Some(match word.trim().to_ascii_lowercase().as_str() {
            "bug" => IssueType::Bug,
            "feature" | "enhancement" | "feature request" => IssueType::Feature,
            "epic" => IssueType::Epic,
            "question" | "discovery" | "spike" => IssueType::Discovery,
            _ => return None,
        })
    };
    words.into_iter().find_map(|word| known(&word)).unwrap_or(IssueType::Task)
}

/// `P1`, `priority: high`, `priority/2`.
fn label_priority(label: &str) -> Option<Priority> {
    let label = label.trim().to_ascii_lowercase();
    if let Some(level) = label.strip_prefix('p').and_then(|level| level.parse::<i64>().ok()) {
        return Priority::new(level).ok();
    }
    let word = label.strip_prefix("priority")?.trim_start_matches([':', '/', '-', ' ', '_']);
    word.trim().parse().ok()
}

/// Takes the assignees out. The first becomes the assignee; the others are kept.
fn take_assignee(draft: &mut Draft<'_>) -> Option<String> {
    let mut logins: Vec<String> =
        draft.take_list("assignees").iter().filter_map(login_name).collect();
    let single = draft.take_field("assignee").as_ref().and_then(login_name);
    if logins.is_empty() {
        logins.extend(single);
    }
    if logins.len() > 1 {
        draft.keep_source(
            "assignees",
            json!(logins),
            NoteKind::Approximated,
            "of several assignees the first is the assignee",
        );
    }
    let first = logins.into_iter().next()?;
    draft.check_name("assignee", &first)
}

/// The id of another issue that a field names.
fn id_of(value: &Value, repository_of_this: Option<&str>) -> Option<String> {
    let number = value.get("number").and_then(Value::as_i64)?;
    let own = value.get("url").and_then(Value::as_str).and_then(repository_of);
    Some(
        own.as_deref()
            .or(repository_of_this)
            .map_or_else(|| format!("#{number}"), |repository| format!("{repository}#{number}")),
    )
}

/// `blockedBy` and `blocking`: lists of issues, or objects with such a list under `nodes`.
fn read_bonds(draft: &mut Draft<'_>, repository: Option<&str>) -> Vec<RecordBond> {
    let mut bonds = Vec::new();
    let kinds = [
        ("blockedBy", true, BondKind::Blocks),
        ("blocking", false, BondKind::Blocks),
        ("subIssues", false, BondKind::ParentChild),
    ];
    for (key, is_target, kind) in kinds {
        let Some(value) = draft.take_field(key) else { continue };
        let items = value
            .get("nodes")
            .and_then(Value::as_array)
            .or(value.as_array())
            .cloned()
            .unwrap_or_default();
        for other in items.iter().filter_map(|item| id_of(item, repository)) {
            let own = draft.id.clone();
            let (source, target) =
                if is_target { (other, own.clone()) } else { (own.clone(), other) };
            bonds.push(RecordBond {
                line: draft.line,
                owner: own,
                source,
                target,
                kind,
                created_at: None,
            });
        }
    }
    bonds
}

/// Takes the comments out, if the file has them. The REST interface gives only a number.
fn read_comments(draft: &mut Draft<'_>) -> Result<Vec<RecordComment>, String> {
    let mut comments = Vec::new();
    match draft.take_field("comments") {
        Some(Value::Array(items)) => {
            for value in items {
                let author = value
                    .get("author")
                    .or_else(|| value.get("user"))
                    .and_then(login_name)
                    .unwrap_or_default();
                let text = |key: &str| value.get(key).and_then(Value::as_str);
                let at = text("createdAt")
                    .or_else(|| text("created_at"))
                    .and_then(super::detect::parse_time);
                let body = text("body").unwrap_or_default();
                comments.extend(draft.make_comment(&author, body, at, value.get("id"))?);
            }
        }
        Some(Value::Number(count)) if count.as_i64() != Some(0) => {
            draft.add_note(
                NoteKind::Remark,
                "its comments are not in the file (ask for them: --json …,comments)",
            );
        }
        _ => {}
    }
    Ok(comments)
}
