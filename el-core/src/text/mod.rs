//! Texts of any kind: harmless, in one line, cut; and Markdown as its lines. Pure, and the same for
//! every crate.

mod cut;
pub mod markdown;
mod sanitize;

pub use cut::{head, head_and_tail, middle_out, tail};
pub use sanitize::{cut, folded, one_line, sanitize};
