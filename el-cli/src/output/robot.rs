//! The robot envelope: a single JSON document on stdout, also on failure.
//!
//! `{"status":"ok","data":…}` or
//! `{"status":"error","error":{code,message,hint,details,retryable}}`, then a newline.

use el_core::text::append_json;
use schemars::JsonSchema;
use serde::Serialize;

use crate::CommandError;

/// The whole document that a command prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub(crate) enum Document<'a, T: ?Sized> {
    Ok { data: &'a T },
    Error { error: ErrorBody<'a> },
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(crate) struct ErrorBody<'a> {
    /// A stable word for programs.
    code: &'a str,
    message: &'a str,
    /// The next thing to do.
    hint: Option<String>,
    /// Further facts; the code decides which keys exist.
    details: &'a serde_json::Map<String, serde_json::Value>,
    /// The same call may succeed later.
    retryable: bool,
}

/// The document for a success, newline included.
pub(crate) fn success_document<T: Serialize + ?Sized>(data: &T) -> serde_json::Result<Vec<u8>> {
    json_line(&Document::Ok { data })
}

/// The document for a failure, newline included.
pub(crate) fn failure_document(error: &CommandError) -> Vec<u8> {
    let body = ErrorBody {
        code: error.code(),
        message: error.message(),
        hint: (!error.hints().is_empty()).then(|| error.hints().join("\n")),
        details: &error.details(),
        retryable: error.is_retryable(),
    };
    let document: Document<'_, ()> = Document::Error { error: body };
    json_line(&document).expect("strings and maps of JSON values always serialize")
}

/// A JSON value and a newline. C1 controls, DEL and characters that reorder text are escaped too,
/// so that robot output is harmless on a terminal.
pub(crate) fn json_line<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(256);
    append_json(&mut out, value)?;
    out.push(b'\n');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use el_core::text::is_deceptive;

    use super::*;

    fn into_text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn success_is_one_line_with_a_newline() {
        assert_eq!(
            into_text(success_document(&[1, 2]).unwrap()),
            "{\"status\":\"ok\",\"data\":[1,2]}\n"
        );
    }

    #[test]
    fn failure_has_every_key_also_when_there_is_nothing_to_say() {
        let error = CommandError::not_found("no atom q5e6");
        assert_eq!(
            into_text(failure_document(&error)),
            concat!(
                concat!(
                    r#"{"status":"error","error":{"code":"not_found","message":"no atom q5e6","#,
                    r#""hint":null,"details":{},"retryable":false}}"#
                ),
                "\n"
            )
        );
    }

    #[test]
    fn control_characters_are_escaped_and_read_back_the_same() {
        let nasty = "a\x1b[31m\u{9b}b\u{7f}\u{202e}c\u{e0041}\u{2028}漢👩‍👧\n";
        let document = into_text(json_line(nasty).unwrap());
        assert!(document.trim_end().chars().all(|c| !c.is_control() && !is_deceptive(c)));
        assert_eq!(serde_json::from_str::<String>(&document).unwrap(), nasty);
        assert!(document.contains('漢'));
    }
}
