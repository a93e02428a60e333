//! Single slips of a model: each is repaired to one reading, or refused.

use super::*;

/// The data of a block whose `data` is written so.
fn data(written: &str) -> Result<(Value, Vec<Repair>), FaultKind> {
    let reading =
        read_blocks(&format!("{START}\n{{\"phase\": \"analysis\", \"data\": {written}}}\n{END}"));
    let block = reading.blocks.first().expect("a block is meant");
    match &block.fault {
        Some(fault) => Err(fault.kind),
        None => {
            Ok((block.data.clone(), block.repairs.iter().map(|repaired| repaired.repair).collect()))
        }
    }
}

#[test]
fn what_has_one_reading_is_put_right() {
    use Repair::*;
    for (written, value, repairs) in [
        (r#"{"a": 1,}"#, json!({ "a": 1 }), vec![TrailingComma]),
        (r#"{a: 1, b-c: 2, $d: 3}"#, json!({ "a": 1, "b-c": 2, "$d": 3 }), vec![UnquotedKey; 3]),
        (r#"{'a': 'don't "x"'}"#, json!({ "a": "don't \"x\"" }), vec![SingleQuotes; 2]),
        (r#"{‘a’: “it’s”}"#, json!({ "a": "it’s" }), vec![SmartQuotes; 2]),
        (r#"{"a": True, "b": None}"#, json!({ "a": true, "b": null }), vec![PythonLiteral; 2]),
        ("{/* x */ \"a\": 1}", json!({ "a": 1 }), vec![Comment]),
        ("{\"a\": 1 // y\n}", json!({ "a": 1 }), vec![Comment]),
        ("{\"a\": \"http://x/#y\"}", json!({ "a": "http://x/#y" }), vec![]),
        ("{\"a\": \"x\r\ny\tz\"}", json!({ "a": "x\ny\tz" }), vec![UnescapedControl; 2]),
        ("{\"a\": \"x\"\n\"b\": 2\n}", json!({ "a": "x", "b": 2 }), vec![MissingComma]),
        (
            "{\"a\": [{\"b\": 1}\n{\"b\": 2}]}",
            json!({ "a": [{ "b": 1 }, { "b": 2 }] }),
            vec![MissingComma],
        ),
        (
            r#"{"a": "text (see "b"), more", "c": 1}"#,
            json!({ "a": "text (see \"b\"), more", "c": 1 }),
            vec![UnescapedQuote],
        ),
        (r#"{"a": "echo "hello""}"#, json!({ "a": "echo \"hello\"" }), vec![UnescapedQuote]),
        (r#"{"a": ""hello" world"}"#, json!({ "a": "\"hello\" world" }), vec![UnescapedQuote]),
        (r#"{"a": "<div class="x">"}"#, json!({ "a": "<div class=\"x\">" }), vec![UnescapedQuote]),
        (r#"{"a": "\d\'\."}"#, json!({ "a": "\\d'\\." }), vec![BadEscape; 3]),
        (r#"{"a": 1, "a": 1}"#, json!({ "a": 1 }), vec![RepeatedKey]),
    ] {
        assert_eq!(data(written), Ok((value, repairs)), "{written}");
    }
}

#[test]
fn what_has_several_readings_or_none_is_refused() {
    for written in [
        // Two texts, or one with quotes in it?
        r#"["a" "b"]"#,
        r#"["a""b"]"#,
        r#"["x";"y"]"#,
        r#"["x"/"y"]"#,
        r#"["a, "b", "c"]"#,
        "[\"one\"\n\"two\"]",
        r#"{"a": "b" "c": "d"}"#,
        r#"{"a":"1"b":"2"}"#,
        r#"{"a":"x";"b":"y"}"#,
        r#"{"a": "use "x": y", "b": 1}"#,
        r#"{"a": "he said "yes", and left"}"#,
        "{\"a\": \"He said\n\"yes\"\nand left\"}",
        "{\"a\": \"x\n\"b\": \"y\"}",
        "{\"a\": \"x,\n\"b\": \"y,\n\"c\": \"z\"}",
        r#"{'a': 'the dogs' bone'}"#,
        r#"{'a': 'rock 'n' roll'}"#,
        r#"{“a”: “he said “yes””}"#,
        r#"{“a": 1}"#,
        // What is the value?
        r#"{"a": }"#,
        r#"{"a"}"#,
        r#"{"a": x}"#,
        r#"{"a": undefined}"#,
        r#"{"a": NaN}"#,
        r#"{"a": 50%}"#,
        r#"{"a": 1_000}"#,
        r#"{"a": 007}"#,
        r#"{"a": .5}"#,
        r#"{"a": +1}"#,
        r#"{"a": 0x10}"#,
        r#"{"a": 1e999}"#,
        r#"{"a": "x" + "y"}"#,
        r#"{"a": `x`}"#,
        r#"{"a": "\x41"}"#,
        r#"{"a": "\ud800"}"#,
        r#"{"a": "C:\Users"}"#,
        "{\"a\": \"x\\\ny\"}",
        // Which entry is left out?
        r#"{"a": [1,,2]}"#,
        r#"{"a": [,1]}"#,
        r#"{"a": [1, ...]}"#,
        r#"{"a": [1, …]}"#,
        "{\"a\": [1 // and 3 more, omitted\n]}",
        r#"{"a": 1, ...}"#,
        // What belongs where?
        r#"{"a": [1, 2}"#,
        r#"{"a": [{"b": 1}, "c": 2}"#,
        r#"{"a" = 1}"#,
        r#"{"a" => 1}"#,
        r#"{1: 2}"#,
        r#"{"a": 1, "a": 2}"#,
        r#"{"a": 1} {"a": 2}"#,
    ] {
        assert!(data(written).is_err(), "{written} was read as {:?}", data(written));
    }
}

#[test]
fn a_block_that_was_not_ended_is_never_closed_for_its_writer() {
    let whole =
        "{\"phase\": \"analysis\", \"data\": {\"summary\": \"x\", \"recommended_splits\": 3}}";
    for len in whole.char_indices().map(|(at, _)| at).skip(1) {
        let reading = read_blocks(&format!("{START}\n{}", &whole[..len]));
        assert!(reading.blocks.iter().all(|block| block.fault.is_some()), "{}", &whole[..len]);
    }
    assert_eq!(
        read_blocks(&format!("{START}\n{whole}")).blocks[0].repairs[0].repair,
        Repair::MissingEndDelimiter
    );
}

#[test]
fn a_fault_tells_its_place_in_all_that_came() {
    let mut scanner = Scanner::default();
    scanner.push(&"é\r\n".repeat(1_000));
    scanner.push(&format!("{START}\n{{\"phase\": \"analysis\",\n \"é\": oops}}\n{END}"));
    let fault = scanner.finish().blocks[0].fault.clone().unwrap();
    assert_eq!((fault.at.line, fault.at.column), (1_003, 7));
    assert_eq!(fault.excerpt, " \"é\": ⟪here⟫oops}");
    let before = 4 * 1_000 + START.len() + 1 + "{\"phase\": \"analysis\",\n \"é\": ".len();
    assert_eq!(fault.at.byte, before);
}

#[test]
fn a_block_that_spans_messages_is_joined_as_it_is_and_that_is_told() {
    let mut scanner = Scanner::default();
    scanner.push(&format!("{START}\n{{\"phase\": \"analysis\", \"data\": {{\"summary\": \"wo"));
    scanner.end_message();
    scanner.push("rd\"");
    scanner.end_message();
    scanner.push(&format!("}}}}\n{END}"));
    let reading = scanner.finish();
    assert_eq!(reading.blocks[0].data, json!({ "summary": "word" }));
    assert_eq!(
        reading.blocks[0].repairs.iter().map(|r| r.repair).collect::<Vec<_>>(),
        [Repair::JoinedMessages; 2]
    );
}
