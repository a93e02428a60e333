//! The rules by which calls go wrong: they fail, their answer is lost, or they are held until a
//! test lets them go. A rule takes the calls whose name has its word.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::state::State;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Rule {
    /// A part of the call's name, such as `mutation PullRequestCreate` or `git-receive-pack`.
    #[serde(default)]
    when: String,
    pub(crate) act: Act,
    /// How often.
    #[serde(default = "once")]
    times: u64,
    #[serde(default)]
    pub(crate) code: u16,
    #[serde(default)]
    pub(crate) message: String,
    /// The whole answer, instead of the message. A text is the answer as it is.
    pub(crate) body: Option<Value>,
    #[serde(default)]
    pub(crate) headers: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Act {
    /// Answers with the code and the message, and does nothing.
    Fail,
    /// Does what is asked, and closes the connection without an answer.
    Drop,
    /// Waits for the test before anything is done.
    Hold,
    /// Does what is asked, and waits for the test before the answer.
    HoldAfter,
}

fn once() -> u64 {
    1
}

impl State {
    /// The rule for a call, which is used up by it.
    pub(crate) fn take_rule(&mut self, call: &str) -> Option<Rule> {
        let at = self.rules.iter().position(|rule| call.contains(&rule.when))?;
        let rule = self.rules[at].clone();
        self.rules[at].times -= 1;
        if self.rules[at].times == 0 {
            self.rules.remove(at);
        }
        Some(rule)
    }
}
