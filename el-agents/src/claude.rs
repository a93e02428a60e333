//! Claude Code, run headless: how it is called, with which settings and environment, and what its
//! event stream says.
//!
//! All of it is pure: options in, words out; bytes in, facts out. Nothing here believes what the
//! agent says about its work: that is in the store.

mod argv;
mod environ;
mod field;
mod lines;
mod progress;
mod render;
mod result;
mod settings;
mod stream;
mod trouble;

pub use argv::{ClaudeOptions, argv};
pub use el_core::text::{one_line, sanitize};
pub use environ::{ChildEnvironment, child_environment};
pub use lines::{Line, LineSplitter};
pub use progress::Progress;
pub use render::Renderer;
pub use result::{RunResult, Usage};

pub use settings::settings;
pub use stream::{Limit, StreamEvent, parse_line};
pub use trouble::{Report, Trouble, trouble};
