//! The stricter prompt, in the same conversation.

use std::fmt::Write as _;

use super::{answer_form, required_fields};
use crate::model::Phase;
use crate::protocol::fence::fence_block;
use crate::protocol::response::answer::Faulty;
use crate::protocol::response::delimiter::{END, START};

const FAULTS_MAX: usize = 8_000;

/// Returns the prompt to repeat an answer, with the faults. `faulty` is `None` if there was no
/// block. `left`: how many more times the question will be repeated.
pub fn ask_again(phase: Phase, faulty: Option<&Faulty>, left: u32) -> String {
    let mut text = match faulty {
        None => format!(
            "Your last answer had no block between `{START}` and `{END}`, so it could not be read."
        ),
        Some(faulty) => {
            let lines: Vec<String> =
                faulty.fault_lines().iter().map(|line| format!("- {line}")).collect();
            format!(
                "The block in your last answer could not be used. This is wrong:\n\n{}",
                fence_block(&lines.join("\n"), FAULTS_MAX)
            )
        }
    };
    let _ = write!(
        text,
        "\n\nGive the whole answer again, with nothing left out, corrected. Answer with the block \
         and nothing else: the first line is `{START}` alone, the last line is `{END}` alone, and \
         between them stands one JSON object. {}; every other field may be left out. Strict JSON: \
         double quotes around keys and texts, `\\\"` for a double quote within a text, `\\n` for a \
         line end in it, no comments, no commas before a closer, no code fence.",
        required_fields(phase).replacen('`', "In `data`, `", 1)
    );
    if left == 0 {
        text.push_str(" This is the last time that you are asked.");
    }
    let _ = writeln!(text, "\n\n{}", answer_form(phase));
    text
}
