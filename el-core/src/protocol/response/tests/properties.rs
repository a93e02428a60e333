//! The properties of any text.

use proptest::prelude::*;

use super::super::json::Parser;
use super::super::scanner::Scanner;
use super::*;

/// Texts out of the pieces that matter, so that they meet.
fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        START,
        END,
        "<<<END",
        "_ORCHESTRATOR_RESPONSE",
        "<<<",
        ">>>",
        ">>",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "'",
        "\\",
        "\n",
        "\r\n",
        " ",
        "```json\n",
        "```",
        "//",
        "/*",
        "*/",
        "#",
        "...",
        "\u{feff}",
        "“",
        "”",
        "’",
        "é",
        "\\u",
        "d83d",
        "1",
        "-",
        "e5",
        "true",
        "None",
        "key",
        "\"phase\"",
        "\"analysis\"",
        "\"data\"",
        "{\"phase\":\"analysis\",\"data\":{\"summary\":\"x\",\"recommended_splits\":1}}",
        "word ",
    ];
    prop_oneof![8 => prop::sample::select(pieces.map(str::to_owned).to_vec()), 1 => "(?s).{0,4}"]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..60).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 64.0)),
        "(?s).{0,12}".prop_map(Value::from),
        Just(Value::from(format!("{START} \"{END}\""))),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("(?s).{0,6}", inner, 0..5)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

fn cost(text: &str, step: usize) -> usize {
    let mut scanner = Scanner::default();
    let mut rest = text;
    while !rest.is_empty() {
        let mut len = step.min(rest.len());
        while !rest.is_char_boundary(len) {
            len += 1;
        }
        scanner.push(&rest[..len]);
        rest = &rest[len..];
    }
    scanner.finish_counted().1.looked
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics_and_no_text_is_lost(text in text()) {
        let reading = read_blocks(&text);
        prop_assert_eq!(reading.texts.len(), reading.blocks.len() + 1);
        for block in &reading.blocks {
            prop_assert!(text[block.at.byte..].starts_with("<<<"), "{:?}", block.at);
            prop_assert_eq!(block.at, Position::START.advance_over(&text[..block.at.byte]));
            for at in block.repairs.iter().map(|r| r.at).chain(block.fault.iter().map(|f| f.at)) {
                prop_assert_eq!(at, Position::START.advance_over(&text[..at.byte]));
            }
            prop_assert!(block.fault.is_some() || block.data.is_object());
            prop_assert_eq!(block.fault.is_some(), block.raw.is_some());
        }
        for phase in Phase::ALL {
            if let Answer::Faulty(faulty) = select_answer(&reading, *phase, Some("t")) {
                prop_assert!(!faulty.fault_lines().is_empty());
                prop_assert!(ask_again(*phase, Some(&faulty), 1).contains(END));
            }
            carried_answer(&text, *phase);
        }
        if reading.blocks.is_empty() {
            prop_assert_eq!(reading.texts, [text.trim()]);
        }
    }

    #[test]
    fn however_it_is_cut_the_same_is_read(text in text(), step in 1_usize..40) {
        let mut scanner = Scanner::default();
        let mut told = Vec::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let mut len = step.min(rest.len());
            while !rest.is_char_boundary(len) { len += 1; }
            told.extend_from_slice(scanner.push(&rest[..len]));
            rest = &rest[len..];
        }
        let reading = scanner.finish();
        prop_assert_eq!(&reading.blocks[..told.len()], &told[..]);
        prop_assert_eq!(reading, read_blocks(&text));
    }

    #[test]
    fn what_is_json_is_read_as_json(value in value(), pretty in any::<bool>()) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        let mut parser = Parser::new(&text, 0, &[], true);
        parser.skip_blanks().unwrap();
        prop_assert_eq!(parser.parse_value(), Ok(value));
        prop_assert_eq!(parser.at, text.len());
        prop_assert_eq!(parser.into_repairs().1, 0);
    }

    #[test]
    fn what_needs_no_repair_is_json(text in text()) {
        let mut parser = Parser::new(&text, 0, &[], true);
        if parser.skip_blanks().is_err() {
            return Ok(());
        }
        let from = parser.at;
        if let Ok(value) = parser.parse_value() {
            let end = parser.at;
            if parser.into_repairs().1 == 0 {
                prop_assert_eq!(
                    serde_json::from_str::<Value>(&text[from..end]).ok(),
                    Some(value),
                    "{:?}",
                    &text[from..end]
                );
            }
        }
    }

    #[test]
    fn any_data_comes_through_whatever_stands_in_it(
        data in value(),
        before in "[a-z\n ]{0,20}",
        after in "[a-z\n ]{0,20}",
    ) {
        let block = json!({ "phase": "analysis", "data": { "summary": data } });
        let reading = read_blocks(&format!("{before}{START}\n{block:#}\n{END}{after}"));
        prop_assert_eq!(reading.blocks.len(), 1);
        prop_assert_eq!(&reading.blocks[0].fault, &None);
        prop_assert_eq!(&reading.blocks[0].data["summary"], &data);
        prop_assert_eq!(reading.blocks[0].repairs_made, 0);
        prop_assert_eq!(reading.texts, [before.trim(), after.trim()]);
    }

    /// Every text, number and word of a repaired block stands in what was written: nothing is made
    /// up.
    #[test]
    fn a_repair_makes_up_nothing(text in text()) {
        fn check(value: &Value, text: &str) -> bool {
            match value {
                Value::String(_) => true,
                Value::Number(n) => n.is_f64() || text.contains(&n.to_string()),
                Value::Null => text.contains("null") || text.contains("None"),
                Value::Bool(true) => text.contains("true") || text.contains("True"),
                Value::Bool(false) => text.contains("false") || text.contains("False"),
                Value::Array(items) => items.iter().all(|item| check(item, text)),
                Value::Object(map) => map.iter().all(|(key, item)| {
                    key.chars().count() <= text.chars().count() && check(item, text)
                }),
            }
        }
        for block in read_blocks(&text).blocks.iter().filter(|block| block.fault.is_none()) {
            prop_assert!(check(&block.data, &text));
        }
    }
}

/// Counts what is looked at, for shapes that make a careless reader go over the same again and
/// again.
#[test]
fn work_grows_as_the_text_does() {
    type Shape = (&'static str, fn(usize) -> String);
    let shapes: [Shape; 12] = [
        ("prose", |n| "word < <<< ".repeat(n)),
        ("starts", |n| START.repeat(n)),
        ("ends", |n| END.repeat(n)),
        ("empty blocks", |n| format!("{START}{END}").repeat(n)),
        ("open texts on one line", |n| format!("{START}{{\"a\":\"{END}").repeat(n)),
        ("open texts on lines", |n| format!("{START}{{\"a\":\"\n{END}\n").repeat(n)),
        ("ends within one text", |n| format!("{START}{{\"a\":\"{}", END.repeat(n))),
        ("escaped quotes", |n| format!("{START}{{\"a\":\"x\\\"{END}").repeat(n)),
        ("open comments", |n| format!("{START}{{/* {END}").repeat(n)),
        ("inner quotes", |n| format!("{START}{{\"a\":\"{}\"}}{END}", " \"x\" y".repeat(n))),
        ("repairs", |n| format!("{START}{{\"a\":[{}]}}{END}", "True,\n".repeat(n))),
        ("nesting", |n| format!("{START}{}{END}", "{\"a\":".repeat(n))),
    ];
    for (name, shape) in shapes {
        for step in [7, 1_000, usize::MAX] {
            let (small, large) = (shape(400), shape(3_200));
            let per_byte = |text: &str| cost(text, step) as f64 / text.len() as f64;
            let (small, large) = (per_byte(&small), per_byte(&large));
            assert!(
                large < 24.0 && large < small * 2.0 + 1.0,
                "{name} in steps of {step}: {small:.1} and then {large:.1} looks for each byte"
            );
        }
    }
}

#[test]
fn nothing_grows_beyond_its_bounds() {
    let deep = format!("{START}{}{END}", "{\"a\":".repeat(100_000));
    let fault = read_blocks(&deep).blocks[0].fault.clone().unwrap();
    assert_eq!(fault.kind, FaultKind::TooLarge);
    let wide = format!(
        "{START}{{\"phase\":\"analysis\",\"data\":{{\"a\":[{}1]}}}}{END}",
        "1,".repeat(600_000)
    );
    assert_eq!(read_blocks(&wide).blocks[0].fault.as_ref().unwrap().kind, FaultKind::TooLarge);
    let long = format!("{START}{{\"a\":\"{}", "x".repeat(BLOCK_MAX + (2 << 20)));
    let reading = read_blocks(&long);
    assert_eq!(reading.blocks[0].fault.as_ref().unwrap().kind, FaultKind::TooLarge);
    assert!(reading.blocks[0].raw.as_ref().unwrap().len() <= 64 << 10);
    let prose = read_blocks(&"x".repeat(TEXTS_MAX + (2 << 20)));
    assert!(prose.is_cut && prose.texts[0].len() <= TEXTS_MAX);
    let many = read_blocks(&format!("{START}{{}}{END}").repeat(BLOCKS_MAX + 5));
    assert!(many.is_cut && many.blocks.len() == BLOCKS_MAX);
    let slips = read_blocks(&format!(
        "{START}{{\"phase\":\"analysis\",\"data\":{{\"a\":[{}]}}}}{END}",
        "True,".repeat(10_000)
    ));
    assert_eq!((slips.blocks[0].repairs.len(), slips.blocks[0].repairs_made), (100, 10_001));
}
