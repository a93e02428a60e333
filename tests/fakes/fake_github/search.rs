//! Lists of issues and pull requests, by the arguments of a field or by GitHub's search words.

use serde_json::{Map, Value, json};

use crate::state::{Repository, State, list, text};
use crate::view;

type Stored = Map<String, Value>;

fn is_wanted_state(arguments: &Stored, of: &Stored) -> bool {
    match arguments.get("states") {
        Some(Value::Array(states)) if !states.is_empty() => states.contains(&of["state"]),
        Some(state @ Value::String(_)) => *state == of["state"],
        _ => true,
    }
}

pub(crate) fn pulls(of: &Repository, arguments: &Stored) -> Value {
    let fits = |pull: &Stored| {
        let same = |argument: &str| {
            let wanted = arguments.get(argument).and_then(Value::as_str);
            wanted.is_none_or(|wanted| text(pull, argument) == wanted)
        };
        is_wanted_state(arguments, pull) && same("headRefName") && same("baseRefName")
    };
    let numbers = of.pulls.iter().rev().filter(|(_, pull)| fits(pull)).map(|(number, _)| *number);
    page(numbers.collect(), arguments, |number| view::pull(of, number))
}

pub(crate) fn issues(of: &Repository, arguments: &Stored) -> Value {
    let filter = arguments.get("filterBy").and_then(Value::as_object).cloned().unwrap_or_default();
    let fits = |issue: &Stored| {
        let labels = list(&filter, "labels");
        let assignee = text(&filter, "assignee");
        is_wanted_state(arguments, issue)
            && labels.iter().all(|label| list(issue, "labels").contains(label))
            && (assignee.is_empty() || list(issue, "assignees").contains(&json!(assignee)))
            && text(&filter, "since") <= text(issue, "updatedAt")
    };
    let found = of.issues.iter().rev().filter(|(_, issue)| fits(issue)).map(|(number, _)| *number);
    page(found.collect(), arguments, |number| view::issue(of, number))
}

/// A page of a list. The cursor is the place of the last one.
fn page(numbers: Vec<u64>, arguments: &Stored, show: impl Fn(u64) -> Value) -> Value {
    let place = |key: &str| arguments.get(key).and_then(Value::as_str)?.parse::<usize>().ok();
    let from = place("after").or_else(|| place("endCursor")).unwrap_or(0);
    let first = arguments.get("first").and_then(Value::as_u64).unwrap_or(100).min(100);
    let first = usize::try_from(first).unwrap_or(100);
    let shown: Vec<Value> = numbers.iter().skip(from).take(first).map(|n| show(*n)).collect();
    let until = from + shown.len();
    let mut found = view::connection(shown);
    found["totalCount"] = json!(numbers.len());
    found["pageInfo"]["hasNextPage"] = json!(until < numbers.len());
    found["pageInfo"]["endCursor"] = json!(until.to_string());
    found
}

/// `repo:acme/shop is:issue state:open label:bug updated:>=2026-01-01T00:00:00Z`
pub(crate) fn search(state: &State, query: &str) -> Value {
    let terms: Vec<(String, String)> = terms(query);
    let all = |key: &str| values(&terms, key).into_iter();
    let has = |key: &str, value: &str| all(key).any(|it| it == value);
    let name = all("repo").next().unwrap_or("acme/shop");
    let Some(of) = state.repositories.get(name) else { return view::connection(vec![]) };
    let fits = |item: &&Stored| {
        let is_open = item["state"] == "OPEN";
        let wants = |word: &str| has("state", word) || has("is", word);
        (!wants("open") || is_open)
            && (!wants("closed") || !is_open)
            && all("label").all(|label| list(item, "labels").contains(&json!(label)))
            && all("assignee").all(|who| list(item, "assignees").contains(&json!(who)))
            && all("author").all(|who| text(item, "author") == who)
            && all("head").all(|branch| text(item, "headRefName") == branch)
            && all("updated").all(|since| text(item, "updatedAt") >= since.trim_start_matches(">="))
            && terms.iter().filter(|(key, _)| key.is_empty()).all(|(_, word)| {
                text(item, "body").contains(word.as_str())
                    || text(item, "title").contains(word.as_str())
            })
    };
    let is_issue = has("is", "issue") || has("type", "issue");
    let from = if is_issue { &of.issues } else { &of.pulls };
    let shown: Vec<Value> = from
        .iter()
        .rev()
        .filter(|(_, item)| fits(item))
        .map(
            |(number, _)| if is_issue { view::issue(of, *number) } else { view::pull(of, *number) },
        )
        .collect();
    let count = shown.len();
    let mut found = view::connection(shown);
    found["issueCount"] = json!(count);
    found
}

fn values<'a>(terms: &'a [(String, String)], key: &str) -> Vec<&'a str> {
    terms.iter().filter(|(name, _)| name == key).map(|(_, value)| value.as_str()).collect()
}

/// The words of a search, with their keys. Quotes hold a value together.
fn terms(query: &str) -> Vec<(String, String)> {
    let mut words: Vec<String> = vec![String::new()];
    let mut is_quoted = false;
    for c in query.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            // Newer clients join searches by parentheses and AND.
            '(' | ')' if !is_quoted => {}
            ' ' if !is_quoted => words.push(String::new()),
            c => words.last_mut().expect("the list begins with a word").push(c),
        }
    }
    words
        .into_iter()
        .filter(|word| !word.is_empty() && word != "AND")
        .map(|word| match word.split_once(':') {
            Some((key, value)) => (key.to_owned(), value.to_owned()),
            None => (String::new(), word),
        })
        .collect()
}
