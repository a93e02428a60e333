//! Claude Code in headless use: the command line, the settings, the environment, and the event
//! stream.
//!
//! All functions are pure: options to arguments, bytes to facts. The agent's own words about its
//! work are not believed; the store decides.

mod argv;
mod environ;
mod field;
mod lines;
mod prices;
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

pub use settings::settings_json;
pub use stream::{Limit, StreamEvent, parse_line};
pub use trouble::{ErrorCause, ErrorReport, classify_error};
