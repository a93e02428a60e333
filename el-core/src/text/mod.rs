//! Texts of any kind: sanitised, folded into a line, cut; and Markdown as lines. Pure, and shared
//! by every crate.

mod cut;
pub mod markdown;
mod sanitize;

pub use cut::{head, head_and_tail, middle_out, tail};
pub use sanitize::{cut, folded, one_line, sanitize};
