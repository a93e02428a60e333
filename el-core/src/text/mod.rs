//! Texts of any kind: Markdown as its lines. Pure, and the same for every crate.

mod cut;
pub mod markdown;

pub use cut::{head, head_and_tail, middle_out, tail};
