//! Streams as they were observed (cut down), and streams as nobody should write them.

use proptest::prelude::*;

use super::*;
use crate::claude::{Line, LineSplitter, Progress, Renderer};

fn events(lines: &str) -> Vec<StreamEvent> {
    lines.lines().flat_map(|line| parse_line(line.as_bytes())).collect()
}

fn one(line: &str) -> StreamEvent {
    let mut events = parse_line(line.as_bytes());
    assert_eq!(events.len(), 1, "{events:?}");
    events.remove(0)
}

#[test]
fn a_run_that_the_hook_sent_back_is_read_whole() {
    let events = events(include_str!("fixtures/close_after_hook.jsonl"));
    let StreamEvent::Init { session_id, model, version } = &events[1] else { panic!("{events:?}") };
    assert_eq!(session_id.as_deref(), Some("6acc6d8f-0000-4000-8000-000000000001"));
    assert_eq!(
        (model.as_deref(), version.as_deref()),
        (Some("claude-opus-4-8[1m]"), Some("2.1.197"))
    );
    let feedback = StreamEvent::StopHookFeedback {
        text: "You have not closed the atom yet. Run: el close el-42".to_owned(),
    };
    assert!(events.contains(&feedback));
    assert!(events.contains(&StreamEvent::ToolUse {
        id: "toolu_1".to_owned(),
        name: "Bash".to_owned(),
        summary: "el close el-42 --reason \"closed after the hook\"".to_owned(),
        subagent: false,
    }));
    let Some(StreamEvent::Result(result)) = events.last() else { panic!("{events:?}") };
    assert!(!result.is_error);
    assert_eq!((result.num_turns, result.cost_usd_micros), (Some(3), Some(3_000)));
    assert!(events.contains(&StreamEvent::Other { kind: "system/notification".to_owned() }));
}

#[test]
fn retries_and_errors_of_the_api_are_told() {
    let events = events(include_str!("fixtures/retry.jsonl"));
    let retry = |attempt, delay_ms, status, error: &str| StreamEvent::ApiRetry {
        attempt,
        max_retries: 10,
        delay_ms,
        status,
        error: error.to_owned(),
    };
    assert_eq!(events[1], retry(1, 1000, Some(429), "rate_limit"));
    assert_eq!(events[2], retry(2, 1149, None, "unknown"));
    let error = StreamEvent::ApiError {
        error: "server_error".to_owned(),
        text: "Request timed out".to_owned(),
    };
    assert_eq!(events[3], error);
    let StreamEvent::Result(result) = &events[4] else { panic!("{events:?}") };
    assert!(result.is_error && result.subtype == "success");
    assert_eq!(result.api_error_status, Some(500));
}

#[test]
fn tasks_end_once_killed_and_also_after_the_result() {
    let events = events(include_str!("fixtures/background.jsonl"));
    let ended: Vec<&StreamEvent> =
        events.iter().filter(|event| matches!(event, StreamEvent::TaskEnded { .. })).collect();
    assert_eq!(ended.len(), 2);
    assert!(matches!(
        ended[0],
        StreamEvent::TaskEnded { id, status } if id == "bw5" && status == "killed"
    ));
    assert!(matches!(events[events.len() - 3], StreamEvent::Result(_)));
}

#[test]
fn an_interrupted_run_and_a_line_that_is_none() {
    let events = events(include_str!("fixtures/interrupted.jsonl"));
    assert_eq!(events[1], StreamEvent::Garbage { text: "children before:".to_owned() });
    assert_eq!(events[2], StreamEvent::Interrupted);
    let StreamEvent::Result(result) = &events[3] else { panic!("{events:?}") };
    assert_eq!(result.terminal_reason.as_deref(), Some("aborted_streaming"));
    assert_eq!(result.message(), "", "the diagnosis is for the client's makers");
    assert!(result.is_interrupted());
}

#[test]
fn a_usage_limit_is_read_in_each_of_its_shapes() {
    let limit = |line: &str| match one(line) {
        StreamEvent::RateLimit(limit) => limit,
        other => panic!("{other:?}"),
    };
    let rejected = limit(concat!(
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","#,
        r#""resetsAt":1795824000,"rateLimitType":"five_hour"}}"#
    ));
    assert!(rejected.is_reached());
    assert_eq!(
        (rejected.resets_at, rejected.kind.as_deref()),
        (Some(1_795_824_000), Some("five_hour"))
    );
    let flat = limit(concat!(
        r#"{"type":"rate_limit_event","status":"rejected","resets_at":1795824000123,"#,
        r#""rate_limit_type":"seven_day"}"#
    ));
    assert_eq!((flat.resets_at, flat.kind.as_deref()), (Some(1_795_824_000), Some("seven_day")));
    for status in ["allowed", "allowed_warning", "", "something new"] {
        let line =
            format!(r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"{status}"}}}}"#);
        assert!(!limit(&line).is_reached(), "{status} is no failure");
    }
}

#[test]
fn tools_are_summed_up_by_what_tells_most() {
    let summary = |input: &str| {
        let line = format!(
            r#"{{"type":"assistant","message":{{"content":[
                {{"type":"tool_use","name":"X","input":{input}}}]}}}}"#
        );
        match one(&line) {
            StreamEvent::ToolUse { summary, .. } => summary,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(summary(r#"{"description":"why","command":"a\nb"}"#), "a b");
    assert_eq!(summary(r#"{"file_path":"/x.rs","content":"long"}"#), "/x.rs");
    assert_eq!(summary(r#"{"z":1,"id":"el-42"}"#), "el-42");
    assert_eq!(summary(r#"{"n":[1]}"#), r#"{"n":[1]}"#);
    assert_eq!(summary("{}"), "");
    assert_eq!(summary("7"), "");
    assert_eq!(summary(r#"{"command":"\u001b[2Jx"}"#), "x");
}

#[test]
fn a_subagents_words_are_marked_as_such() {
    let line = concat!(
        r#"{"type":"assistant","parent_tool_use_id":"toolu_9","message":{"id":"m","content":["#,
        r#"{"type":"text","text":"hi"}],"usage":{"input_tokens":1}}}"#
    );
    assert_eq!(
        parse_line(line.as_bytes()),
        [
            StreamEvent::Text { text: "hi".to_owned(), subagent: true },
            StreamEvent::Usage {
                message_id: "m".to_owned(),
                usage: Usage { tokens_in: 1, tokens_out: 0, estimate_micros: 0 },
                subagent: true
            },
        ]
    );
}

#[test]
fn answers_of_tools_are_texts_or_parts() {
    let line = |content: &str| {
        format!(
            r#"{{"type":"user","message":{{"content":[
                {{"type":"tool_result","tool_use_id":"t","content":{content}}}]}}}}"#
        )
    };
    for (content, expected) in [
        (r#""a\nb""#, "a b"),
        (r#"[{"type":"text","text":"c"},{"type":"image"}]"#, "c"),
        ("null", ""),
    ] {
        let result = StreamEvent::ToolResult {
            id: "t".to_owned(),
            is_error: false,
            summary: expected.to_owned(),
            subagent: false,
        };
        assert_eq!(one(&line(content)), result);
    }
}

#[test]
fn events_of_an_odd_shape_are_passed_over() {
    for (line, count) in [
        ("", 0),
        ("   ", 0),
        (r#"{"type":"assistant"}"#, 0),
        (r#"{"type":"assistant","message":null}"#, 0),
        (r#"{"type":"user","message":{"content":7}}"#, 0),
        (r#"{"type":"user","message":{"content":"plain"}}"#, 0),
        (
            concat!(
                r#"{"type":"system","subtype":"task_updated","task_id":7,"patch":{"#,
                r#""status":"running"}}"#
            ),
            0,
        ),
        (r#"{"type":7}"#, 1),
        (r#"{"type":"result"}"#, 1),
        (r#"{"type":"new_kind"}"#, 1),
        ("[1,2]", 1),
        ("null", 1),
        ("{\"type\":\"result\"", 1),
    ] {
        assert_eq!(parse_line(line.as_bytes()).len(), count, "{line}");
    }
}

#[test]
fn a_broken_character_does_not_cost_the_event() {
    let mut line =
        br#"{"type":"assistant","message":{"content":[{"type":"text","text":"a"#.to_vec();
    line.push(0xff);
    line.extend(br#"b"}]}}"#);
    assert_eq!(
        parse_line(&line),
        [StreamEvent::Text { text: "a\u{fffd}b".to_owned(), subagent: false }]
    );
}

#[test]
fn a_line_nested_to_death_is_garbage() {
    let line = format!("{{\"type\":{}", "[".repeat(200_000));
    assert!(matches!(one(&line), StreamEvent::Garbage { text } if text.chars().count() <= SHOWN));
}

/// JSON of any shape, with the names that we look for, so that it gets far.
fn any_json() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "type",
        "subtype",
        "message",
        "content",
        "text",
        "id",
        "name",
        "input",
        "usage",
        "result",
        "is_error",
        "error",
        "patch",
        "status",
        "num_turns",
        "total_cost_usd",
        "rate_limit_info",
        "resetsAt",
        "permission_denials",
        "modelUsage",
        "attempt",
        "tool_use_id",
        "command",
        "input_tokens",
        "output_tokens",
        "task_id",
        "errors",
        "parent_tool_use_id",
    ]);
    let words = prop::sample::select(vec![
        "assistant",
        "user",
        "system",
        "result",
        "init",
        "api_retry",
        "task_started",
        "task_updated",
        "task_notification",
        "rate_limit_event",
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "rejected",
        "Stop hook feedback:\nx",
        "\u{1b}[2J",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..8).prop_map(|fields| Value::Object(
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            )),
        ]
    })
}

fn take_in(lines: &[Line]) {
    let mut progress = Progress::default();
    let mut renderer = Renderer::new(80, true);
    for line in lines {
        let Line::Whole(line) = line else { continue };
        for event in parse_line(line) {
            progress.apply_event(&event);
            renderer.render(&event);
            assert!(progress.action.chars().count() <= 120);
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut splitter = LineSplitter::with_limit(64);
        let mut lines = splitter.push(&bytes);
        lines.extend(splitter.finish());
        take_in(&lines);
    }

    #[test]
    fn no_json_makes_it_panic(values in prop::collection::vec(any_json(), 1..6)) {
        let line = |value: &Value| Line::Whole(value.to_string().into_bytes());
        let lines: Vec<Line> = values.iter().map(line).collect();
        take_in(&lines);
    }

    #[test]
    fn a_stream_cut_anywhere_loses_at_most_its_last_line(cut in any::<prop::sample::Index>()) {
        let stream = include_str!("fixtures/close_after_hook.jsonl").as_bytes();
        let cut = cut.index(stream.len());
        let whole = stream[..cut].iter().filter(|byte| **byte == b'\n').count();
        let mut splitter = LineSplitter::default();
        let lines = splitter.push(&stream[..cut]);
        prop_assert_eq!(lines.len(), whole);
        take_in(&lines);
    }
}
