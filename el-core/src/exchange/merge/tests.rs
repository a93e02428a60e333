use serde_json::{Value, json};

use super::*;

fn atom(id: &str, change: &[(&str, Value)]) -> String {
    let mut row = json!({
        "_type": "atom", "id": id, "title": "T", "status": "open", "priority": 2,
        "labels": ["a", "b"], "close_reason": null,
        "closed_at": null, "created_at": "2026-11-28T09:00:00Z",
        "updated_at": "2026-11-28T09:00:00Z", "metadata": {"k": 1}
    });
    for (key, value) in change {
        row[*key] = value.clone();
    }
    format!("{row}\n")
}

struct Merged {
    text: String,
    conflicts: Vec<Conflict>,
}

fn merge(base: &str, ours: &str, theirs: &str) -> Merged {
    let side = |text: &str| Side::index_file(io::Cursor::new(text.to_owned())).unwrap();
    let mut out = Vec::new();
    let conflicts = super::merge_exports(side(base), side(ours), side(theirs), &mut out).unwrap();
    Merged { text: String::from_utf8(out).unwrap(), conflicts }
}

fn merged(base: &str, ours: &str, theirs: &str) -> (Vec<Value>, Vec<Conflict>) {
    let done = merge(base, ours, theirs);
    let rows = done.text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    (rows, done.conflicts)
}

#[test]
fn different_fields_of_one_atom_are_no_conflict() {
    let base = atom("a-1", &[]);
    let ours = atom(
        "a-1",
        &[
            ("title", "Ours".into()),
            ("labels", json!(["a", "b", "c"])),
            ("updated_at", "2026-11-28T10:00:00Z".into()),
        ],
    );
    let theirs = atom(
        "a-1",
        &[
            ("priority", 0.into()),
            ("labels", json!(["b"])),
            ("metadata", json!({"k": 1, "n": 2})),
            ("updated_at", "2026-11-28T09:30:00Z".into()),
        ],
    );
    let (rows, conflicts) = merged(&base, &ours, &theirs);
    assert_eq!(conflicts, []);
    assert_eq!(
        (&rows[0]["title"], &rows[0]["priority"], &rows[0]["labels"]),
        (&json!("Ours"), &json!(0), &json!(["b", "c"]))
    );
    assert_eq!(
        (&rows[0]["metadata"], &rows[0]["updated_at"]),
        (&json!({"k": 1, "n": 2}), &json!("2026-11-28T10:00:00Z"))
    );
}

#[test]
fn one_field_changed_twice_is_a_conflict_between_two_whole_records() {
    let base = atom("a-1", &[]);
    let done = merge(
        &base,
        &atom("a-1", &[("title", "Ours".into())]),
        &atom("a-1", &[("title", "Theirs".into()), ("priority", 0.into())]),
    );
    let lines: Vec<&str> = done.text.lines().collect();
    assert_eq!((lines[0], lines[2], lines[4]), ("<<<<<<< ours", "=======", ">>>>>>> theirs"));
    let (ours, theirs): (Value, Value) =
        (serde_json::from_str(lines[1]).unwrap(), serde_json::from_str(lines[3]).unwrap());
    assert_eq!((&ours["title"], &theirs["title"]), (&json!("Ours"), &json!("Theirs")));
    assert_eq!(
        (&ours["priority"], &theirs["priority"]),
        (&json!(0), &json!(0)),
        "what can be merged is, in both"
    );
    assert_eq!(
        (done.conflicts[0].record.as_str(), done.conflicts[0].field.as_deref()),
        ("a-1", Some("title"))
    );
}

#[test]
fn finished_work_outranks_work_that_goes_on() {
    let base = atom("a-1", &[]);
    let closed = |reason: &str, at: &str| {
        atom(
            "a-1",
            &[
                ("status", "closed".into()),
                ("close_reason", reason.into()),
                ("closed_at", at.into()),
            ],
        )
    };
    let working = atom("a-1", &[("status", "in_progress".into())]);
    for (ours, theirs) in [
        (closed("done", "2026-11-28T10:00:00Z"), working.clone()),
        (working, closed("done", "2026-11-28T10:00:00Z")),
    ] {
        let (rows, conflicts) = merged(&base, &ours, &theirs);
        assert_eq!(conflicts, []);
        assert_eq!(
            (&rows[0]["status"], &rows[0]["close_reason"]),
            (&json!("closed"), &json!("done"))
        );
    }
    let (rows, conflicts) = merged(
        &base,
        &closed("second", "2026-11-28T11:00:00Z"),
        &closed("first", "2026-11-28T10:00:00Z"),
    );
    assert_eq!((conflicts.len(), &rows[0]["close_reason"]), (0, &json!("first")));
    let (_, conflicts) = merged(
        &base,
        &closed("done", "2026-11-28T10:00:00Z"),
        &atom("a-1", &[("status", "wont_do".into())]),
    );
    assert_eq!(conflicts[0].field.as_deref(), Some("status"));
}

#[test]
fn what_was_removed_goes_unless_the_other_side_changed_it() {
    let base = atom("a-1", &[]) + &atom("a-2", &[]);
    let (rows, conflicts) = merged(&base, &atom("a-1", &[]), &base);
    assert_eq!((rows.len(), conflicts.len()), (1, 0));
    let done = merge(
        &base,
        &atom("a-1", &[]),
        &(atom("a-1", &[]) + &atom("a-2", &[("title", "New".into())])),
    );
    assert_eq!((done.conflicts.len(), done.conflicts[0].field.as_ref()), (1, None));
    assert!(done.text.contains("<<<<<<< ours\n=======\n"), "{}", done.text);
}

#[test]
fn bonds_and_comments_of_both_sides_are_there_in_the_order_of_an_export() {
    let bond = |source: &str| {
        format!(
            "{}\n",
            json!({
                "_type": "bond", "source_id": source, "target_id": "a-1",
                "dependency_type": "blocks", "created_at": "2026-11-28T09:00:00Z",
            })
        )
    };
    let comment = |id: &str, at: &str| {
        format!(
            "{}\n",
            json!({
                "_type": "comment", "id": id, "parent_id": "a-1", "author": "x", "content": "y",
                "created_at": at,
            })
        )
    };
    let base = atom("a-1", &[]) + &bond("a-0");
    let ours =
        atom("a-1", &[]) + &bond("a-0") + &bond("a-9") + &comment("c2", "2026-11-28T11:00:00Z");
    let theirs = atom("a-1", &[])
        + &bond("a-5")
        + &comment("c1", "2026-11-28T10:00:00Z")
        + &atom("a-0", &[("created_at", "2026-11-28T08:00:00Z".into())]);
    let (rows, conflicts) = merged(&base, &ours, &theirs);
    let name =
        |row: &Value| row.get("source_id").or(row.get("id")).unwrap().as_str().unwrap().to_owned();
    assert_eq!(rows.iter().map(name).collect::<Vec<_>>(), ["a-0", "a-1", "a-5", "a-9", "c1", "c2"]);
    assert_eq!(conflicts, []);
}

#[test]
fn lines_that_are_no_records_are_kept() {
    let done = merge("x\n", "x\nours\n", "x\ntheirs\n{\"_type\":\"new\",\"id\":\"1\"}\n");
    assert_eq!(done.text, "x\nours\ntheirs\n{\"_type\":\"new\",\"id\":\"1\"}\n");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn file() -> impl Strategy<Value = String> {
        let row = (
            0_u8..4,
            0_u8..3,
            0_u8..3,
            prop::sample::select(vec!["open", "closed", "in_progress"]),
        );
        prop::collection::vec(row, 0..5).prop_map(|rows| {
            rows.into_iter()
                .map(|(id, title, priority, status)| {
                    atom(
                        &format!("a-{id}"),
                        &[
                            ("title", title.to_string().into()),
                            ("priority", priority.into()),
                            ("status", status.into()),
                        ],
                    )
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn a_side_that_changed_nothing_changes_nothing(base in file(), other in file()) {
            let canonical = merge(&other, &other, &other).text;
            prop_assert_eq!(&merge(&base, &base, &other).text, &canonical);
            prop_assert_eq!(&merge(&base, &other, &base).text, &canonical);
            prop_assert_eq!(&merge(&base, &other, &other).text, &canonical);
        }

        #[test]
        fn both_ways_round_agree_on_what_is_a_conflict(
            base in file(),
            ours in file(),
            theirs in file(),
        ) {
            let (one, two) = (merge(&base, &ours, &theirs), merge(&base, &theirs, &ours));
            let names = |merged: &Merged| {
                let mut names: Vec<_> =
                    merged.conflicts.iter().map(|c| (c.record.clone(), c.field.clone())).collect();
                names.sort();
                names
            };
            prop_assert_eq!(names(&one), names(&two));
            if one.conflicts.is_empty() {
                prop_assert_eq!(one.text, two.text);
            }
        }

        #[test]
        fn no_text_panics(a in ".{0,80}", b in ".{0,80}", c in ".{0,80}") {
            let _ = merge(&a, &b, &c);
        }
    }
}
