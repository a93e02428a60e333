use std::cell::Cell;

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::setup::{EditError, hooks_in, hooks_out, server_in, server_out};

type Edit = fn(&str) -> Result<String, EditError>;
const EDITS: [(Edit, Edit); 2] = [(hooks_in, hooks_out), (server_in, server_out)];

fn told(edit: Edit) -> impl Fn(&str) -> Result<String> {
    move |text| edit(text).map_err(|error| setup_error(Path::new("x"), error))
}

fn set_up(path: &Path, (put_in, take_out): (Edit, Edit)) {
    Plan::put_in(path.to_owned(), told(put_in), told(take_out)).unwrap().write_file().unwrap();
}

fn taken_out(path: &Path, (put_in, take_out): (Edit, Edit)) {
    Plan::take_out(path.to_owned(), told(put_in), told(take_out)).unwrap().write_file().unwrap();
}

/// Settings as somebody might have written them: any data, in any layout, with comments.
fn settings() -> impl Strategy<Value = String> {
    let data = prop_oneof![
        Just(json!({})),
        Just(json!({"hooks": {}, "model": "opus"})),
        Just(json!({
            "hooks": {
                "Stop": [{"hooks": [{"type": "command", "command": "make"}]}],
                "PreToolUse": [],
            },
        })),
        Just(json!({
            "mcpServers": {"other": {"command": "x"}},
            "z": [1, null, "é\u{2028}\\"],
            "a": {"b": {}},
        })),
    ];
    let gap = || "( |\t|\n|/\\* c \\*/|// c\n){0,3}";
    (data, prop::collection::vec(gap(), 1..12), any::<[bool; 3]>()).prop_map(
        |(data, gaps, [crlf, bom, trailing])| {
            let turn = Cell::new(0);
            let gap = || {
                turn.set(turn.get() + 1);
                gaps[turn.get() % gaps.len()].clone()
            };
            let text = format!("{}{}{}", gap(), written(&data, &gap, trailing), gap());
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            if bom { format!("\u{feff}{text}") } else { text }
        },
    )
}

fn written(data: &Value, gap: &dyn Fn() -> String, trailing: bool) -> String {
    let list = |open: char, parts: Vec<String>, close: char| {
        let comma = if trailing && !parts.is_empty() { "," } else { "" };
        format!("{open}{}{comma}{}{close}", parts.join(","), gap())
    };
    match data {
        Value::Object(map) => {
            let part = |(key, value): (&String, &Value)| {
                format!(
                    "{}{}{}:{}{}",
                    gap(),
                    json!(key),
                    gap(),
                    gap(),
                    written(value, gap, trailing)
                )
            };
            list('{', map.iter().map(part).collect(), '}')
        }
        Value::Array(values) => list(
            '[',
            values
                .iter()
                .map(|value| format!("{}{}", gap(), written(value, gap, trailing)))
                .collect(),
            ']',
        ),
        other => other.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_file_gets_back_every_byte(
        first in settings(),
        second in prop::option::of(settings()),
        which in 0_usize..2,
    ) {
        let folder = TempDir::new().unwrap();
        let (path, edits) = (folder.path().join("settings.json"), EDITS[which]);
        fs::write(&path, &first).unwrap();
        set_up(&path, edits);
        let once = fs::read_to_string(&path).unwrap();
        prop_assert_ne!(&once, &first);
        set_up(&path, edits);
        prop_assert_eq!(&fs::read_to_string(&path).unwrap(), &once, "again changes nothing");
        // Somebody writes it anew meanwhile, without ours, and sets it up again: what counts is
        // what it was then.
        let last = second.as_ref().unwrap_or(&first);
        if second.is_some() {
            fs::write(&path, last).unwrap();
            set_up(&path, edits);
        }
        taken_out(&path, edits);
        prop_assert_eq!(&fs::read_to_string(&path).unwrap(), last);
        prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no backup is left");
    }
}

#[test]
fn a_file_that_was_removed_meanwhile_is_not_brought_back() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, "{\"a\": 1}").unwrap();
    set_up(&path, EDITS[0]);
    fs::remove_file(&path).unwrap();
    set_up(&path, EDITS[0]);
    taken_out(&path, EDITS[0]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
