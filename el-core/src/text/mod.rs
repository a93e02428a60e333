//! Texts of any kind: sanitised, folded into a line, cut; Markdown as lines; JSON that is
//! harmless on a terminal. Pure, and shared by every crate.

mod cut;
mod json;
pub mod markdown;
mod sanitize;

pub use cut::{head_and_tail, head_bytes, last_lines, middle_out, tail_bytes};
pub use json::{JsonText, append_json};
pub use sanitize::{cut_width, fold_line, is_deceptive, one_line, sanitize, sanitize_line};
