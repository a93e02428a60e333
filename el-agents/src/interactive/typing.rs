//! Types a text into the client's input line and sends the text: pure, a decision for each look at
//! the screen.
//!
//! A paste can get lost while the client starts, and an Enter together with a paste is swallowed.
//! So the steps are separate, each is verified on the screen, and the tries are bounded. Enter is
//! pressed only while the text is visible in the input line, so a question of the client is never
//! answered by el.

use std::time::{Duration, Instant};

use super::screen::{QuestionKind, Screen, ScreenState};
use crate::claude::one_line;

/// The time for which the input line must stay unchanged before a paste.
const SETTLED: Duration = Duration::from_millis(600);
/// The minimum pause between a paste and the Enter.
const PASTE_PAUSE: Duration = Duration::from_secs(1);
/// The time after which an invisible paste is repeated.
const PASTE_WAIT: Duration = Duration::from_secs(10);
/// The time after which an Enter without effect is repeated.
const ENTER_WAIT: Duration = Duration::from_secs(3);
const PASTES: u32 = 3;
const ENTERS: u32 = 5;
/// The time for which a question must stand at the start, since screens flicker.
const QUESTION_WAIT: Duration = Duration::from_secs(2);
/// The time limit for the input line to appear.
const READY_WAIT: Duration = Duration::from_secs(120);

/// An action in the pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    Nothing,
    /// Paste the text.
    Paste,
    /// Press Enter.
    Enter,
    /// The text was sent.
    Sent,
    /// The text cannot be sent: the reason, and the remedy.
    Fail(String),
}

/// A text to type.
#[derive(Debug, Clone)]
pub(crate) struct Typing {
    head: String,
    tail: String,
    phase: Phase,
    pastes: u32,
    enters: u32,
    /// Since when the screen is unchanged.
    since: Instant,
    fingerprint: u64,
    began: Instant,
    asked_since: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting,
    Pasted(Instant),
    Entered(Instant),
}

impl Typing {
    pub(crate) fn new(text: &str, now: Instant) -> Typing {
        let compact = letters_and_digits(text);
        let letters = compact.chars().count();
        Typing {
            head: compact.chars().take(24).collect(),
            tail: compact.chars().skip(letters.saturating_sub(24)).collect(),
            phase: Phase::Waiting,
            pastes: 0,
            enters: 0,
            since: now,
            fingerprint: 0,
            began: now,
            asked_since: None,
        }
    }

    /// Decides after a look. `attached`: a person is there and may answer the client's questions.
    /// `arrived`: the client's record shows that the text has arrived.
    pub(crate) fn next_act(
        &mut self,
        screen: &Screen,
        attached: bool,
        arrived: bool,
        now: Instant,
    ) -> Act {
        if arrived && self.pastes > 0 {
            return Act::Sent;
        }
        if screen.fingerprint != self.fingerprint {
            self.fingerprint = screen.fingerprint;
            self.since = now;
        }
        match self.phase {
            Phase::Waiting => self.wait_for_prompt(screen, attached, now),
            Phase::Pasted(at) => self.after_paste(screen, at, now),
            Phase::Entered(at) => self.after_enter(screen, at, now),
        }
    }

    fn wait_for_prompt(&mut self, screen: &Screen, attached: bool, now: Instant) -> Act {
        if attached {
            // An attached person can answer and takes the needed time.
            self.began = now;
            self.asked_since = None;
        }
        match &screen.state {
            ScreenState::Prompt { busy: false, .. }
                if now.duration_since(self.since) >= SETTLED =>
            {
                return self.begin_paste(now);
            }
            ScreenState::Question(question) if !attached => {
                let since = *self.asked_since.get_or_insert(now);
                if now.duration_since(since) >= QUESTION_WAIT {
                    return Act::Fail(describe_unanswered(question.kind, &question.text));
                }
            }
            ScreenState::Question(_) => {}
            _ => self.asked_since = None,
        }
        if now.duration_since(self.began) > READY_WAIT {
            return Act::Fail(format!(
                "its input line did not appear within {} s",
                READY_WAIT.as_secs()
            ));
        }
        Act::Nothing
    }

    fn begin_paste(&mut self, now: Instant) -> Act {
        if self.pastes >= PASTES {
            return Act::Fail(format!(
                "the instruction was pasted {PASTES} times and never appeared in the input line"
            ));
        }
        self.pastes += 1;
        self.phase = Phase::Pasted(now);
        Act::Paste
    }

    fn after_paste(&mut self, screen: &Screen, at: Instant, now: Instant) -> Act {
        match &screen.state {
            ScreenState::Prompt { input, .. } if self.is_in(input) => {
                if now.duration_since(at) >= PASTE_PAUSE {
                    return self.press_enter(now);
                }
                Act::Nothing
            }
            _ if now.duration_since(at) < PASTE_WAIT => Act::Nothing,
            ScreenState::Prompt { .. } => self.begin_paste(now),
            _ => Act::Fail("its input line went away while the instruction was pasted".to_owned()),
        }
    }

    fn press_enter(&mut self, now: Instant) -> Act {
        if self.enters >= ENTERS {
            return Act::Fail(format!(
                "the instruction stands in the input line, and Enter was pressed {ENTERS} times in \
                 vain"
            ));
        }
        self.enters += 1;
        self.phase = Phase::Entered(now);
        Act::Enter
    }

    fn after_enter(&mut self, screen: &Screen, at: Instant, now: Instant) -> Act {
        match &screen.state {
            ScreenState::Prompt { input, .. } if self.is_in(input) => {
                if now.duration_since(at) < ENTER_WAIT {
                    Act::Nothing
                } else {
                    self.press_enter(now)
                }
            }
            // The text left the input line, so it was sent, and may have led to a question already.
            ScreenState::Prompt { .. } | ScreenState::Question(_) => Act::Sent,
            ScreenState::Unknown if now.duration_since(at) < READY_WAIT => Act::Nothing,
            ScreenState::Unknown => Act::Fail(
                "its screen is none that is known, after the instruction was sent".to_owned(),
            ),
        }
    }

    fn is_in(&self, input: &str) -> bool {
        let input = letters_and_digits(input);
        // A long text is shown as `[Pasted text #1 +44 lines]`.
        input.contains("Pastedtext")
            || (!self.head.is_empty() && (input.contains(&self.head) || input.contains(&self.tail)))
    }
}

/// Letters and digits alone: lines are wrapped, and blanks shown in several ways.
fn letters_and_digits(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns the text without control characters except line ends and tabs. A paste stands between
/// two control sequences, so a text with such a sequence could end the paste and press keys.
pub(crate) fn sanitize_for_paste(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// Explains why a question at the start ends the run, and the remedy.
fn describe_unanswered(kind: QuestionKind, text: &str) -> String {
    let what = match kind {
        QuestionKind::Trust => "it asks whether this folder is trusted",
        QuestionKind::ApiKey => {
            "it asks whether the ANTHROPIC_API_KEY of the environment is to be used"
        }
        QuestionKind::Bypass => "it asks to accept the risks of permission mode bypassPermissions",
        QuestionKind::Login => "it asks how to log in",
        QuestionKind::Onboarding => "it is started for the first time, and asks for its settings",
        QuestionKind::Other => {
            return format!(
                "it asks something that only a person can answer: {}; {REMEDY}",
                one_line(text, 120)
            );
        }
    };
    format!("{what}, which el does not answer for you; {REMEDY}")
}

/// The remedy for a client that needs a person.
pub(crate) const REMEDY: &str = "start `claude` by hand in the agent's working folder, with the \
                                 same HOME and key, answer, and leave with /exit";

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "You are claude.\n\n# Work Item: t-1\n\nmore text at the end";

    /// Plays looks at intervals of `step` and gives each act that is not `Nothing`, with its
    /// second.
    fn play(screens: impl Fn(u64) -> ScreenState, seconds: u64) -> Vec<(u64, Act)> {
        let start = Instant::now();
        let mut typing = Typing::new(TEXT, start);
        let mut acts = Vec::new();
        for tenth in 0..seconds * 10 {
            let state = screens(tenth / 10);
            let fingerprint = std::hash::BuildHasher::hash_one(
                &std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default(),
                format!("{state:?}"),
            );
            let screen = Screen { state, fingerprint, body: Vec::new() };
            let act =
                typing.next_act(&screen, false, false, start + Duration::from_millis(tenth * 100));
            let is_end = matches!(act, Act::Sent | Act::Fail(_));
            if act != Act::Nothing {
                acts.push((tenth / 10, act));
            }
            if is_end {
                break;
            }
        }
        acts
    }

    fn input(text: &str) -> ScreenState {
        ScreenState::Prompt { input: text.to_owned(), busy: false, background: false }
    }

    #[test]
    fn a_text_is_pasted_seen_and_then_sent() {
        let acts = play(
            |second| match second {
                0..2 => ScreenState::Unknown,
                2..4 => input("Try \"fix lint errors\""),
                4..6 => input("[Pasted text #1 +44 lines]"),
                _ => ScreenState::Prompt { input: String::new(), busy: true, background: false },
            },
            60,
        );
        assert_eq!(acts, [(2, Act::Paste), (4, Act::Enter), (6, Act::Sent)]);
    }

    #[test]
    fn a_short_text_is_known_by_its_words() {
        let acts = play(
            |second| {
                if second < 3 {
                    input("")
                } else {
                    input("You are claude.  # Work\n  Item: t-1  more text at …")
                }
            },
            5,
        );
        assert_eq!(acts, [(0, Act::Paste), (3, Act::Enter)]);
    }

    #[test]
    fn a_lost_paste_and_a_swallowed_enter_are_tried_again_and_not_for_ever() {
        let lost = play(|_| input(""), 120);
        assert_eq!(lost.iter().filter(|(_, act)| *act == Act::Paste).count(), 3);
        assert!(
            matches!(lost.last(), Some((_, Act::Fail(why))) if why.contains("never appeared")),
            "{lost:?}"
        );
        let swallowed =
            play(|second| input(if second < 2 { "" } else { "[Pasted text #1 +9 lines]" }), 120);
        assert_eq!(swallowed.iter().filter(|(_, act)| *act == Act::Enter).count(), 5);
        assert!(
            matches!(swallowed.last(), Some((_, Act::Fail(why))) if why.contains("in vain")),
            "{swallowed:?}"
        );
    }

    #[test]
    fn what_is_asked_at_the_start_is_never_answered() {
        let question = |kind| super::super::screen::Question { kind, text: "Do you?".to_owned() };
        for kind in [
            QuestionKind::Trust,
            QuestionKind::ApiKey,
            QuestionKind::Bypass,
            QuestionKind::Login,
            QuestionKind::Onboarding,
            QuestionKind::Other,
        ] {
            let acts = play(|_| ScreenState::Question(question(kind)), 60);
            assert!(
                matches!(&acts[..], [(2, Act::Fail(why))] if why.contains("by hand")),
                "{acts:?}"
            );
        }
    }

    #[test]
    fn nothing_is_pressed_once_the_text_is_gone_from_the_input_line() {
        let question = super::super::screen::Question {
            kind: QuestionKind::Other,
            text: "Do you want to proceed?".to_owned(),
        };
        let acts = play(
            |second| match second {
                0 => input(""),
                1..3 => input("[Pasted text #1 +44 lines]"),
                _ => ScreenState::Question(question.clone()),
            },
            60,
        );
        assert_eq!(acts, [(0, Act::Paste), (1, Act::Enter), (3, Act::Sent)]);
    }

    #[test]
    fn a_client_that_never_shows_its_input_line_fails() {
        let acts = play(|_| ScreenState::Unknown, 200);
        assert!(matches!(&acts[..], [(120, Act::Fail(_))]), "{acts:?}");
    }

    #[test]
    fn a_text_cannot_end_its_paste() {
        let text = "a\x1b[201~\r!rm -rf x\r\nb\tc\u{9b}201~\u{7}\u{0}\n\n";
        assert_eq!(sanitize_for_paste(text), "a[201~\n!rm -rf x\nb\tc201~");
    }
}
