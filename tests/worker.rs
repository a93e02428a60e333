//! `el work` with the scripted agent: what the real one cannot be made to do, and what people and machines do meanwhile.

mod endings;
mod output;
mod processes;
