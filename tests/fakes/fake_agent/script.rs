//! The script: the agent's steps, one per line.
//!
//! ```text
//! script: say I will do it
//! script: sh echo hello > hello.txt
//! script: close all tests pass
//! ```
//! The first block of such lines in the prompt counts (blank lines may stand between; blanks, `>`
//! and `|` may stand before `script:`). Words like `$EL_ATOM` are replaced from the environment in
//! paths and texts; paths are relative to the agent's folder.
//!
//! **Words and deeds**
//! ```text
//! say TEXT                 a text of the model
//! answer PHASE DATA        a block of the orchestrator's protocol with this JSON, between
//!                          other words; as it is, if DATA is none
//! answer-file PHASE PATH   the same, with the JSON of a file
//! close [REASON]           runs: el close $EL_ATOM --reason REASON (as the Bash tool)
//! update STATUS            runs: el update $EL_ATOM --status STATUS (the same)
//! el ARGS…                 runs: el ARGS… (the same)
//! sh COMMAND               runs any shell line as the Bash tool, always allowed
//! ask COMMAND              the same, if a rule allows it; on a screen, a person is asked
//! denied COMMAND           a call that is not allowed: nothing runs, the result lists it
//! write PATH TEXT          writes a file (\n in TEXT is a new line);  append PATH TEXT  adds to it
//! touch PATH               makes an empty file: "I am here", for the test
//! record PATH              writes {argv, cwd, env, prompt, attempt, pid} as JSON
//! sleep MS                 waits, as for the API
//! wait-file PATH           waits until the test has made the file (120 s at most, then exit 98)
//! hang                     waits for ever
//! usage IN OUT USD         what each following message costs (default 100 20 0.001)
//! ```
//! **The end.** After the last step the turn ends, and the Stop hook of `--settings` is asked.
//! After a block, the steps under the next `on-block` run, and the turn ends again (8 blocks end
//! the run, as in the client). Then comes the result event, exit 0.
//! ```text
//! result                   the result event now; steps behind it run after it (a second
//!                          result comes at the end)
//! linger SECONDS           the result, then alive for SECONDS, then exit 0
//! no-result                no result event at the end
//! no-stop-hook             the Stop hook is not asked
//! exit N                   ends at once, without a result
//! die SIGNAL               kills itself: KILL, TERM, SEGV, …
//! api-error STATUS [TEXT]  the API refuses: an error text and an is_error result, exit 1
//! api-retry STATUS         one api_retry event; the run goes on
//! rate-limit EPOCH [TYPE]  a subscription's limit (five_hour): rate_limit_event rejected,
//!                          error result, exit 1
//! rate-warning EPOCH       rate_limit_event allowed_warning; the run goes on
//! max-turns · max-budget   the bound is reached: result error_max_turns or
//!                          error_max_budget_usd, exit 1
//! ```
//! **Misbehaviour**
//! ```text
//! ignore-signals           HUP, INT, TERM do nothing from now on, here and in what it starts
//! child SECONDS [FLAGS]    leaves a process behind for SECONDS. FLAGS: setsid · double-fork ·
//!                          clean-env (no EL_* in its environment) · ignore-signals ·
//!                          hold-stdout (keeps the agent's stdout open) ·
//!                          close (at its end it runs el close) · pid=PATH (writes its pid)
//! spam BYTES               about so many bytes of texts · spam-stderr BYTES
//! long-line BYTES          one text of that size
//! bad-utf8                 an event with bytes that are no UTF-8
//! control-codes            a text full of terminal escapes
//! raw TEXT                 the line as it is · partial TEXT   the same without a line end
//! stderr TEXT              a line on stderr
//! ```
//! **Sections.** Steps before any section are the first turn.
//! ```text
//! on-block                 when the Stop hook has sent the agent back; a second one for the
//!                          second time, …
//! on-resume                when the conversation is resumed (--resume); without it: says
//!                          hello and closes. A second one for the second time, …; the last
//!                          one for all further times
//! on-attempt N             instead of the steps above, from the N-th conversation about this
//!                          atom on
//! ```
//! **Questions of a plan.** If the prompt asks for an answer of the orchestrator's protocol, and
//! `FAKE_AGENT_ANSWERS` names a folder, the script is the file `analysis`, `task_list`, `failures`
//! or `aggregation` there: steps without `script:`. `joining` is for an atom that merges
//! conflicting work.

use crate::question;

/// A parsed step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    Say(String),
    Answer {
        phase: String,
        data: String,
    },
    AnswerFile {
        phase: String,
        path: String,
    },
    /// A call that `--allowedTools` must cover.
    El(String),
    Sh(String),
    Denied(String),
    Write {
        path: String,
        text: String,
        append: bool,
    },
    Record(String),
    Sleep(u64),
    WaitFile(String),
    Hang,
    Usage {
        input: u64,
        output: u64,
        usd: f64,
    },
    Result,
    Linger(u64),
    NoResult,
    NoStopHook,
    Exit(u8),
    Die(String),
    ApiError {
        status: u16,
        text: String,
    },
    ApiRetry(u16),
    RateLimit {
        resets_at: u64,
        kind: String,
    },
    RateWarning(u64),
    MaxTurns,
    MaxBudget,
    IgnoreSignals,
    Child(Vec<String>),
    Spam(usize),
    SpamStderr(usize),
    LongLine(usize),
    BadUtf8,
    ControlCodes,
    Raw {
        text: String,
        end: bool,
    },
    Stderr(String),
}

/// The steps of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) first: Vec<Step>,
    pub(crate) on_block: Vec<Vec<Step>>,
    pub(crate) on_resume: Vec<Vec<Step>>,
}

impl Plan {
    /// Reads the script in `prompt` for the `attempt`-th conversation about the atom.
    pub(crate) fn parse(prompt: &str, attempt: u32) -> Result<Self, String> {
        let answers = question::script(prompt)?;
        let lines = match &answers {
            Some(text) => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
            None => block(prompt),
        };
        if lines.is_empty() {
            return Ok(Self { first: hello(), ..Self::default() });
        }
        let mut plan = Self::default();
        let mut section = Section::First;
        let mut skipped = false;
        for line in lines {
            let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            match word {
                "on-attempt" => {
                    skipped = number::<u32>(line, rest)? > attempt;
                    if !skipped {
                        plan = Self::default();
                        section = Section::First;
                    }
                }
                _ if skipped => {}
                "on-block" => {
                    plan.on_block.push(Vec::new());
                    section = Section::Block;
                }
                "on-resume" => {
                    plan.on_resume.push(Vec::new());
                    section = Section::Resume;
                }
                _ => {
                    let step = step(line, word, rest.trim())?;
                    match section {
                        Section::First => plan.first.push(step),
                        Section::Block => {
                            plan.on_block.last_mut().into_iter().for_each(|s| s.push(step.clone()))
                        }
                        Section::Resume => {
                            plan.on_resume.last_mut().into_iter().for_each(|s| s.push(step.clone()))
                        }
                    }
                }
            }
        }
        Ok(plan)
    }

    /// The steps of the `n`-th time, from 1, that the conversation is resumed.
    pub(crate) fn resumed(&self, n: usize) -> Option<&[Step]> {
        self.on_resume.get(n.saturating_sub(1)).or(self.on_resume.last()).map(Vec::as_slice)
    }
}

enum Section {
    First,
    Block,
    Resume,
}

/// The steps of an agent without a script.
pub(crate) fn hello() -> Vec<Step> {
    vec![Step::Say("Hello, I will do it.".to_owned()), close("done")]
}

fn close(reason: &str) -> Step {
    Step::El(format!("el close \"$EL_ATOM\" --reason '{}'", reason.replace('\'', "'\\''")))
}

/// Returns the first block of script lines, without their mark.
fn block(prompt: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for line in prompt.lines() {
        let bare =
            line.trim_start_matches(|c: char| c.is_whitespace() || c == '>' || c == '|').trim_end();
        match bare.strip_prefix("script:") {
            Some(step) if !step.trim().is_empty() => lines.push(step.trim()),
            Some(_) => {}
            None if !lines.is_empty() && !bare.is_empty() => break,
            None => {}
        }
    }
    lines
}

fn step(line: &str, word: &str, rest: &str) -> Result<Step, String> {
    let text = || put_env(rest);
    let (head, tail) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let file = |append| Step::Write {
        path: put_env(head),
        text: put_env(tail).replace("\\n", "\n"),
        append,
    };
    Ok(match word {
        "say" => Step::Say(text()),
        "answer" => Step::Answer { phase: head.to_owned(), data: put_env(tail) },
        "answer-file" => Step::AnswerFile { phase: head.to_owned(), path: put_env(tail) },
        "close" => close(if rest.is_empty() { "done" } else { rest }),
        "update" => Step::El(format!("el update \"$EL_ATOM\" --status {rest}")),
        "el" => Step::El(format!("el {rest}")),
        "ask" => Step::El(rest.to_owned()),
        "sh" | "run" => Step::Sh(rest.to_owned()),
        "denied" => Step::Denied(rest.to_owned()),
        "write" => file(false),
        "append" => file(true),
        "touch" => Step::Write { path: text(), text: String::new(), append: true },
        "record" => Step::Record(text()),
        "sleep" => Step::Sleep(number(line, rest)?),
        "wait-file" => Step::WaitFile(text()),
        "hang" => Step::Hang,
        "usage" => match rest.split_whitespace().collect::<Vec<_>>()[..] {
            [input, output, usd] => Step::Usage {
                input: number(line, input)?,
                output: number(line, output)?,
                usd: number(line, usd)?,
            },
            _ => return Err(unknown(line)),
        },
        "result" => Step::Result,
        "linger" => Step::Linger(number(line, rest)?),
        "no-result" => Step::NoResult,
        "no-stop-hook" => Step::NoStopHook,
        "exit" => Step::Exit(number(line, rest)?),
        "die" => Step::Die(rest.to_owned()),
        "api-error" => Step::ApiError { status: number(line, head)?, text: put_env(tail) },
        "api-retry" => Step::ApiRetry(number(line, rest)?),
        "rate-limit" => Step::RateLimit {
            resets_at: number(line, head)?,
            kind: if tail.is_empty() { "five_hour" } else { tail }.to_owned(),
        },
        "rate-warning" => Step::RateWarning(number(line, rest)?),
        "max-turns" => Step::MaxTurns,
        "max-budget" => Step::MaxBudget,
        "ignore-signals" => Step::IgnoreSignals,
        "child" => Step::Child(text().split_whitespace().map(str::to_owned).collect()),
        "spam" => Step::Spam(number(line, rest)?),
        "spam-stderr" => Step::SpamStderr(number(line, rest)?),
        "long-line" => Step::LongLine(number(line, rest)?),
        "bad-utf8" => Step::BadUtf8,
        "control-codes" => Step::ControlCodes,
        "raw" => Step::Raw { text: text(), end: true },
        "partial" => Step::Raw { text: text(), end: false },
        "stderr" => Step::Stderr(text()),
        _ => return Err(unknown(line)),
    })
}

fn number<T: std::str::FromStr>(line: &str, text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| unknown(line))
}

fn unknown(line: &str) -> String {
    format!("fake-agent: not a step: {line}")
}

/// Replaces `$NAME` and `${NAME}` by the variable's value; an unset variable is empty, as in a
/// shell.
fn put_env(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let braced = behind.starts_with('{');
        let name_at = behind.strip_prefix('{').unwrap_or(behind);
        let size = name_at
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(name_at.len());
        let (name, after) = name_at.split_at(size);
        if name.is_empty() {
            out.push('$');
            rest = behind;
            continue;
        }
        out.push_str(&std::env::var(name).unwrap_or_default());
        rest = if braced { after.strip_prefix('}').unwrap_or(after) } else { after };
    }
    out.push_str(rest);
    out
}
