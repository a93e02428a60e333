//! The checker of `schema.rs` for the answers of a command; it finds mismatches.

use serde_json::{Value, json};

use super::schema::problems;
use crate::support::TestEnv;

/// Runs a command and returns its data; panics if the document does not fit the command's schema.
#[track_caller]
pub(crate) fn fitting_answer(env: &TestEnv, name: &str, arguments: &[&str]) -> Value {
    let words: Vec<&str> = name.split(' ').collect();
    let schema = env.robot(&[&["schema"], words.as_slice()].concat());
    let document = env.run(env.command("el").arg("--robot").args(words).args(arguments)).json();
    let mut found = Vec::new();
    problems(&schema, &schema, &document, "$", &mut found);
    assert!(found.is_empty(), "el {name} {arguments:?} printed {document:#}\n{found:#?}");
    document["data"].clone()
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let found = |schema: &Value, value: Value| {
        let mut out = Vec::new();
        problems(schema, schema, &value, "$", &mut out);
        out.len()
    };
    let closed = json!({"type": "object", "properties": {"a": {"type": ["integer", "null"],
        "minimum": 0}}, "required": ["a"], "additionalProperties": false});
    for (value, wrong) in [
        (json!({"a": 1}), 0),
        (json!({"a": null}), 0),
        (json!({}), 1),
        (json!({"a": -1}), 1),
        (json!({"a": "x", "b": 1}), 2),
    ] {
        assert_eq!(found(&closed, value.clone()), wrong, "{value}");
    }
    let time = json!({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]});
    assert_eq!(
        [json!("2026-11-28T09:30:00Z"), json!(null), json!("noon")]
            .map(|value| found(&time, value)),
        [0, 0, 1]
    );
    let counts = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    assert_eq!([json!({"x": 1}), json!({"x": "y"})].map(|value| found(&counts, value)), [0, 1]);
    let both = json!({"anyOf": [{"type": "integer"}, {"type": "number"}]});
    assert_eq!([json!(1), json!(1.5)].map(|value| found(&both, value)), [1, 0]);
}
