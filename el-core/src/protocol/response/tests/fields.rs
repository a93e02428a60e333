//! Each field of the protocol, whatever stands in it.

use proptest::prelude::*;

use super::*;
use crate::model::Priority;

/// A payload with every field that the protocol has.
fn whole(phase: Phase) -> Value {
    match phase {
        Phase::Analysis => json!({
            "summary": "s", "recommended_splits": 2, "key_files": ["a"],
            "estimated_complexity": "low", "notes": "n", "warnings": ["w"],
            "components": [{ "name": "c" }]
        }),
        Phase::TaskList => json!({
            "tasks": [{
                "id": "t", "title": "t", "description": "d", "scope": ["a"], "priority": 5,
                "dependencies": [], "estimated_tokens": 9,
            }],
            "total_tasks": 1, "parallelizable_groups": [["t"]], "execution_order": ["t"]
        }),
        Phase::Progress => json!({
            "task_id": "t", "status": "in_progress", "progress_percent": 60, "current_action": "a",
            "files_processed": 3, "files_total": 5,
            "output_preview": "o"
        }),
        Phase::Completion => json!({
            "task_id": "t", "status": "success", "summary": "s", "output_files": ["a"],
            "output": "o", "error": "e", "warnings": ["w"],
            "metrics": { "examples": 8 }
        }),
        Phase::Aggregation => json!({
            "status": "success", "summary": "s",
            "conflicts": [{ "type": "duplicate", "description": "d", "resolution": "r" }],
            "merged_output": "m", "output_files": ["a"]
        }),
    }
}

fn required(phase: Phase) -> &'static [&'static str] {
    match phase {
        Phase::Analysis => &["summary", "recommended_splits"],
        Phase::TaskList => &["tasks"],
        Phase::Progress | Phase::Completion => &["task_id", "status"],
        Phase::Aggregation => &["status"],
    }
}

#[test]
fn required_fields_are_required_and_all_others_may_be_missing_or_null() {
    for &phase in Phase::ALL {
        let whole = whole(phase);
        assert_eq!(check_payload(phase, &whole).1, [], "{phase}");
        for name in whole.as_object().unwrap().keys() {
            for is_null in [false, true] {
                let mut data = whole.clone();
                if is_null {
                    data[name] = Value::Null;
                } else {
                    data.as_object_mut().unwrap().shift_remove(name);
                }
                let (payload, faults) = check_payload(phase, &data);
                if required(phase).contains(&name.as_str()) {
                    assert!(
                        payload.is_none()
                            && faults.len() == 1
                            && faults[0].field == *name
                            && faults[0].is_grave,
                        "{phase} {name}"
                    );
                } else {
                    assert!(payload.is_some() && faults.is_empty(), "{phase} {name}: {faults:?}");
                }
            }
        }
    }
    for name in ["id", "title", "description"] {
        let mut data = whole(Phase::TaskList);
        data["tasks"][0][name] = Value::Null;
        assert_eq!(check_payload(Phase::TaskList, &data).1[0].field, format!("tasks[0].{name}"));
    }
}

#[test]
fn a_field_of_another_type_is_told_by_its_name() {
    for &phase in Phase::ALL {
        for name in whole(phase).as_object().unwrap().keys() {
            let mut data = whole(phase);
            // No field of the protocol is a boolean.
            data[name] = json!(true);
            let (_, faults) = check_payload(phase, &data);
            assert_eq!(
                (faults.len(), faults[0].field.as_str()),
                (1, name.as_str()),
                "{phase} {name}: {faults:?}"
            );
            assert!(
                faults[0].message.contains("true") && faults[0].message.contains("is to be"),
                "{}",
                faults[0]
            );
        }
    }
}

#[test]
fn words_are_those_of_the_protocol_and_ranges_too() {
    let fits = |phase: Phase, name: &str, value: Value| {
        let mut data = whole(phase);
        data[name] = value;
        check_payload(phase, &data).1.is_empty()
    };
    for word in ["low", "medium", "high", "Medium"] {
        assert!(fits(Phase::Analysis, "estimated_complexity", json!(word)));
    }
    assert!(!fits(Phase::Analysis, "estimated_complexity", json!("extreme")));
    for word in ["in_progress", "blocked", "retrying", "in-progress", "In Progress"] {
        assert!(fits(Phase::Progress, "status", json!(word)));
    }
    for word in ["success", "running", ""] {
        assert!(!fits(Phase::Progress, "status", json!(word)));
    }
    for word in ["success", "partial", "failed", "timeout"] {
        assert!(fits(Phase::Completion, "status", json!(word)));
    }
    assert!(!fits(Phase::Completion, "status", json!("in_progress")));
    assert!(fits(Phase::Aggregation, "status", json!("anything")));
    assert!(!fits(Phase::Aggregation, "status", json!("  ")));
    for (percent, is_right) in [
        (json!(0), true),
        (json!(100), true),
        (json!(33.3), true),
        (json!(-1), false),
        (json!(100.1), false),
    ] {
        assert_eq!(
            fits(Phase::Progress, "progress_percent", percent.clone()),
            is_right,
            "{percent}"
        );
    }
    for (n, is_right) in [
        (json!(1), true),
        (json!(10), true),
        (json!(5.0), true),
        (json!(0), false),
        (json!(11), false),
        (json!(2.5), false),
    ] {
        let mut data = whole(Phase::TaskList);
        data["tasks"][0]["priority"] = n.clone();
        assert_eq!(check_payload(Phase::TaskList, &data).0.is_some(), is_right, "{n}");
    }
    for n in [json!(-1), json!(1.5), json!(1e300)] {
        assert!(!fits(Phase::Analysis, "recommended_splits", n.clone()), "{n}");
    }
}

#[test]
fn their_priority_turns_round() {
    let ours: Vec<u8> = (1..=10).map(|n| map_priority(Some(n)).value()).collect();
    assert_eq!(ours, [4, 4, 3, 3, 2, 2, 1, 1, 0, 0]);
    assert_eq!(map_priority(None), Priority::DEFAULT);
    assert_eq!((map_priority(Some(0)).value(), map_priority(Some(u64::MAX)).value()), (4, 0));
}

#[test]
fn extra_fields_and_every_field_come_through_the_types() {
    for &phase in Phase::ALL {
        let mut data = whole(phase);
        data["unheard_of"] = json!({ "x": [1] });
        if phase == Phase::TaskList {
            data["tasks"][0]["effort"] = json!("small");
        }
        let payload = check_payload(phase, &data).0.unwrap();
        let out = serde_json::to_value(&payload).unwrap();
        assert_eq!(out["phase"], phase.as_str());
        for (name, value) in data.as_object().unwrap() {
            let written = &out["data"][name];
            assert!(
                written == value || written.as_f64() == value.as_f64() && value.is_number(),
                "{phase} {name}: {written}"
            );
        }
    }
}

#[test]
fn a_grave_fault_is_told_even_behind_a_hundred_slight_ones() {
    let warnings: Vec<u32> = (0..200).collect();
    let (payload, faults) = check_payload(
        Phase::Completion,
        &json!({ "task_id": "t", "status": "success", "warnings": warnings }),
    );
    assert!(
        payload.is_some() && faults.len() == 31 && faults[30].message.contains("170"),
        "{faults:?}"
    );
    let conflicts: Vec<Value> = (0..200).map(|_| json!({ "type": 1 })).collect();
    let mut list = whole(Phase::TaskList);
    list["tasks"] = (0..200).map(|_| json!({ "estimated_tokens": "x" })).collect();
    let (payload, faults) = check_payload(Phase::TaskList, &list);
    assert!(payload.is_none() && faults[..30].iter().filter(|f| f.is_grave).count() > 20);
    let (payload, _) =
        check_payload(Phase::Aggregation, &json!({ "status": "success", "conflicts": conflicts }));
    assert!(payload.is_some());
}

#[test]
fn layers_follow_dependencies_then_order_then_groups_then_priority() {
    let data = json!({
        "tasks": [
            { "id": "a", "title": "a", "description": "d" },
            { "id": "b", "title": "b", "description": "d", "priority": 9 },
            { "id": "c", "title": "c", "description": "d", "dependencies": ["a", " a "] },
            { "id": "d", "title": "d", "description": "d" },
            { "id": "e", "title": "e", "description": "d", "dependencies": ["c", "d"] }
        ],
        "execution_order": ["d"]
    });
    let (Some(Payload::TaskList(list)), faults) = check_payload(Phase::TaskList, &data) else {
        panic!()
    };
    assert_eq!(faults, []);
    assert_eq!(task_layers(&list), [vec!["d", "b", "a"], vec!["c"], vec!["e"]]);
}

proptest! {
    #[test]
    fn a_list_is_taken_exactly_when_its_order_exists(
        edges in prop::collection::vec((0_usize..7, 0_usize..7), 0..14),
    ) {
        let tasks: Vec<Value> = (0..7)
            .map(|n| {
                let before: Vec<String> = edges
                    .iter()
                    .filter(|(from, _)| *from == n)
                    .map(|(_, to)| format!("t{to}"))
                    .collect();
                let id = format!("t{n}");
                json!({ "id": id, "title": "t", "description": "d", "dependencies": before })
            })
            .collect();
        // Removing what waits for nothing until nothing changes leaves the circles.
        let mut left: Vec<usize> = (0..7).collect();
        loop {
            let before = left.len();
            let now = left.clone();
            left.retain(|n| edges.iter().any(|(from, to)| from == n && now.contains(to)));
            if left.len() == before {
                break;
            }
        }
        let (payload, faults) = check_payload(Phase::TaskList, &json!({ "tasks": tasks }));
        prop_assert_eq!(payload.is_some(), left.is_empty(), "{:?}", faults);
        if let Some(Payload::TaskList(list)) = payload {
            let layers = task_layers(&list);
            let layer_of = |id: &str| layers.iter().position(|layer| layer.contains(&id)).unwrap();
            for (from, to) in edges {
                let (from, to) = (format!("t{from}"), format!("t{to}"));
                prop_assert!(layer_of(&from) > layer_of(&to));
            }
        }
    }

    #[test]
    fn no_data_panics(name in "[a-z_]{1,12}", depth in 0_usize..4, n in any::<f64>()) {
        let mut value = json!({ "tasks": [n, { "id": n }], "status": n, "task_id": "x", name: n });
        for _ in 0..depth {
            value =
                json!({ "tasks": [value.clone()], "conflicts": [value.clone()], "status": value });
        }
        for &phase in Phase::ALL {
            let (payload, faults) = check_payload(phase, &value);
            prop_assert!(payload.is_some() || faults.iter().any(|fault| fault.is_grave));
        }
    }
}
