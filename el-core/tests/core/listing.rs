//! Whole lists, which are written as they are read.

use std::time::Duration;

use el_core::model::{Delegation, Priority, RunOptionsPatch};
use el_core::ops::{self, AtomFilter, Guard, NewAtom, Sort, Streamed};
use el_core::text::append_json;
use serde_json::json;

use crate::support::{Project, Raw};

/// Atoms of all kinds, in no order.
fn filled() -> Project {
    let mut p = Project::new();
    let epic = p.create("Epic");
    for n in 0..40 {
        p.wait(Duration::from_micros(u64::from(n % 3 == 0)));
        let new = NewAtom {
            title: format!("Task {n} \u{9b}31m\u{202e} \"quoted\" \\ 漢 \t\u{7f}."),
            description: "line\nline\u{1}\u{85}".repeat(n % 4 + usize::from(n % 9 == 0)),
            acceptance: (n % 4 == 0).then(|| "It works".to_owned()),
            priority: Some(Priority::new(i64::try_from(n % 6).unwrap()).unwrap()),
            labels: ["api", "web", "ü"].iter().take(n % 4).map(|l| (*l).to_owned()).collect(),
            needs: ["gpu", "macos"].iter().take(n % 3).map(|l| (*l).to_owned()).collect(),
            assignee: (n % 5 == 0).then(|| "bob".to_owned()),
            parent: (n % 7 == 0).then(|| epic.clone()),
            defer_until: (n % 8 == 1).then(|| p.now.plus(Duration::from_secs(60))),
            metadata: (n % 2 == 0).then(|| {
                json!({
                    "n": n, "part": -1.5e300, "\u{9b}": ["\u{7f}", null, true, {}], "s": {"a": []}
                })
            }),
            delegation: (n % 9 == 0).then(|| Delegation {
                by: "ann".to_owned(),
                workdir: None,
                timeout_ms: Some(1_000),
                verify: Some(vec!["true".to_owned()]),
                require_verify: true,
            }),
            run_options: RunOptionsPatch {
                model: (n % 10 == 0).then(|| Some("fast".to_owned())),
                ..RunOptionsPatch::default()
            },
            ..NewAtom::default()
        };
        let ctx = p.person();
        let id = ops::create(&mut p.store, &ctx, &new).unwrap().id;
        if n % 6 == 5 {
            ops::close(&mut p.store, &ctx, &[&id], Some("do\u{202e}ne"), &Guard::default())
                .unwrap();
        }
    }
    p.claim().unwrap();
    p
}

fn lines(p: &Project, filter: &AtomFilter, sort: Sort) -> Vec<String> {
    let (mut lines, mut total) = (Vec::new(), 0);
    ops::list_lines(&p.store, filter, sort, p.now, |next| {
        match next {
            Streamed::Total(count) => total = count,
            Streamed::Item(line) => lines.push(String::from_utf8(line.to_vec()).unwrap()),
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(usize::try_from(total).unwrap(), lines.len());
    lines
}

#[test]
fn a_whole_list_has_the_atoms_and_the_order_of_its_pages() {
    let p = filled();
    let all = AtomFilter { include_over: true, ..AtomFilter::default() };
    let of_bob = ops::AssigneeFilter::Is("bob".to_owned());
    let bobs = AtomFilter { assignee: Some(of_bob), ..AtomFilter::default() };
    for filter in [AtomFilter::default(), all, bobs] {
        for sort in [
            Sort::Priority,
            Sort::Oldest,
            Sort::Newest,
            Sort::Updated,
            Sort::Title,
            Sort::Status,
            Sort::Hybrid,
        ] {
            let page = ops::list(&p.store, &filter, sort, Some(1_000), 0, p.now).unwrap();
            let as_json = |atom| {
                let mut out = Vec::new();
                append_json(&mut out, atom).unwrap();
                String::from_utf8(out).unwrap()
            };
            let wanted: Vec<String> = page.items.iter().map(as_json).collect();
            assert!(wanted.len() > 5);
            assert_eq!(lines(&p, &filter, sort), wanted, "{sort:?}");
        }
    }
}

#[test]
fn metadata_that_is_no_json_hides_no_atom() {
    let mut p = Project::new();
    p.create("Whole");
    let id = p.create("Damaged");
    Raw::of(&p.place())
        .execute(&format!("UPDATE atoms SET metadata = '{{\"a\": [1, ' WHERE id = '{id}'"));
    let lines = lines(&p, &AtomFilter::default(), Sort::Priority);
    assert!(lines[0].ends_with("\"metadata\":{}}"), "{lines:?}");
    assert!(lines[1].contains("Damaged") && lines[1].ends_with("\"metadata\":null}"), "{lines:?}");
}
