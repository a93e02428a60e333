use super::*;

fn record(lines: &[&str]) -> ExitRecord {
    let mut reader = Reader::new(true);
    for line in lines {
        reader.take_output(format!("{line}\n").as_bytes());
    }
    let mut record = ExitRecord::new("run-1", EndKind::Exited, Timestamp::from_micros(0));
    reader.fill_exit_record(&mut record, Duration::ZERO);
    record
}

const LIMIT: &str = concat!(
    r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","#,
    r#""resetsAt":1800000000}}"#
);

#[test]
fn a_usage_limit_is_told_with_its_reset() {
    let failed = concat!(
        r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"#,
        r#""result":"limit"}"#
    );
    let told = record(&[LIMIT, failed]);
    let resets_at = Some(Timestamp::from_micros(1_800_000_000_000_000));
    assert_eq!(told.fault, Some(Fault::UsageLimit { resets_at }));
    assert_eq!(record(&[failed]).fault, Some(Fault::UsageLimit { resets_at: None }));
}

#[test]
fn a_limit_that_was_overcome_is_forgotten() {
    let text = concat!(
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","#,
        r#""text":"on I go"}]}}"#
    );
    assert_eq!(record(&[LIMIT, text]).fault, None);
}

const REFUSED: &str = concat!(
    r#"{"type":"system","subtype":"api_retry","error_status":401,"#,
    r#""error":"authentication_failed"}"#
);

#[test]
fn the_second_refusal_in_a_row_ends_the_run_as_one_of_the_account() {
    let mut reader = Reader::new(true);
    let mut take = |line: &str| {
        reader.take_output(format!("{line}\n").as_bytes());
        reader.is_refused()
    };
    assert!(!take(REFUSED));
    assert!(!take(&REFUSED.replace("401", "529")), "the service, and not the account");
    assert!(!take(REFUSED));
    assert!(take(REFUSED));
    let mut record = ExitRecord::new("run-1", EndKind::Refused, Timestamp::from_micros(0));
    reader.fill_exit_record(&mut record, Duration::ZERO);
    assert_eq!(record.fault, Some(Fault::Account { refusal: Refusal::Login }));
    assert!(record.message.unwrap().contains("401"));
}

#[test]
fn an_error_of_the_service_that_was_overcome_explains_nothing_later() {
    let retry =
        r#"{"type":"system","subtype":"api_retry","error_status":529,"error":"overloaded"}"#;
    let text =
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"on"}]}}"#;
    let turns = concat!(
        r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["#,
        r#""Reached maximum number of turns (3)"]}"#
    );
    assert_eq!(record(&[retry, text, turns]).fault, None);
}

#[test]
fn silence_is_the_services_only_while_it_is_asked() {
    let init = r#"{"type":"system","subtype":"init"}"#;
    let text = concat!(
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","#,
        r#""text":"I think"}]}}"#
    );
    let tool = concat!(
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","#,
        r#""name":"Bash","input":{}}]}}"#
    );
    let answer = concat!(
        r#"{"type":"user","message":{"content":[{"tool_use_id":"t","type":"tool_result","#,
        r#""content":"ok"}]}}"#
    );
    // The client says this when it is ended while an answer has begun and does not come.
    let interrupted = concat!(
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"#,
        r#""terminal_reason":"aborted_streaming","errors":["[ede_diagnostic] x"]}"#
    );
    for (lines, is_silent) in [
        (&[init][..], true),
        (&[init, REFUSED], true),
        (&[init, text], false),
        (&[init, tool], false),
        (&[init, tool, answer], true),
        (&[init, interrupted], true),
        (&[init, REFUSED, interrupted], true),
        (&[init, text, interrupted], false),
    ] {
        let mut reader = Reader::new(true);
        for line in lines {
            reader.take_output(format!("{line}\n").as_bytes());
        }
        let mut record = ExitRecord::new("run-1", EndKind::Stalled, Timestamp::from_micros(0));
        reader.fill_exit_record(&mut record, Duration::ZERO);
        assert_eq!(record.fault == Some(Fault::Outage), is_silent, "{lines:?}");
    }
}

#[test]
fn a_result_is_the_last_word_only_when_no_background_task_runs() {
    let mut reader = Reader::new(true);
    reader.take_output(b"{\"type\":\"system\",\"subtype\":\"task_started\",\"task_id\":\"b1\"}\n");
    reader.take_output(
        b"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\
          \"result\":\"waiting\"}\n",
    );
    assert_eq!(reader.result_at(), None);
    reader.take_output(
        b"{\"type\":\"system\",\"subtype\":\"task_notification\",\"task_id\":\"b1\",\
          \"status\":\"completed\"}\n",
    );
    assert!(reader.result_at().is_some());
    reader.take_output(
        b"{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\
          \"content\":[{\"type\":\"text\",\"text\":\"on\"}]}}\n",
    );
    assert_eq!(reader.result_at(), None, "another turn began");
}

#[test]
fn what_an_earlier_call_was_denied_is_still_told() {
    let mut reader = Reader::new(true);
    reader.take_output(
        b"{\"type\":\"result\",\"is_error\":false,\
          \"permission_denials\":[{\"tool_name\":\"Bash\"}]}\n",
    );
    reader.next_call();
    reader.take_output(b"{\"type\":\"result\",\"is_error\":false,\"permission_denials\":[]}\n");
    let mut record = ExitRecord::new("run-1", EndKind::Exited, Timestamp::from_micros(0));
    reader.fill_exit_record(&mut record, Duration::ZERO);
    assert_eq!(record.denied_tools, ["Bash"]);
}

#[test]
fn without_a_result_the_last_line_of_stderr_says_why() {
    let mut reader = Reader::new(true);
    reader.take_error(b"warning: x\nError: Session ID is already in use.\nhint: use another\n");
    let mut record = ExitRecord::new("run-1", EndKind::Exited, Timestamp::from_micros(0));
    reader.fill_exit_record(&mut record, Duration::ZERO);
    assert_eq!(record.message.as_deref(), Some("Error: Session ID is already in use."));
}
