//! The texts that agents read and write. Pure: data in, text out, and back.

pub mod context;
pub mod fence;
