//! The agent's run: the steps, the Stop hook between steps, and the result at the end.

use std::io::BufRead;

use serde_json::{Value, json};

use crate::args::{Args, Mode};
use crate::events::{Cost, Ending, Events, id};
use crate::hook::Settings;
use crate::script::{Plan, Step, hello};
use crate::session::Session;
use crate::signals;
use crate::tui::{PROCEED, Tui};

/// The reason why the steps ended early.
pub(crate) enum Stop {
    /// SIGINT, while a tool ran or not.
    Interrupted { in_tool: bool },
    /// The run is over and all output is written.
    Exit(u8),
}

pub(crate) type Flow = Result<(), Stop>;

/// The number of blocks by the Stop hook after which the client ends the run.
const BLOCK_CAP: usize = 8;

pub(crate) struct Agent {
    pub(crate) args: Args,
    pub(crate) session: Session,
    pub(crate) prompt: String,
    pub(crate) events: Events,
    /// The cost of the next message.
    pub(crate) price: Cost,
    /// The cost since the last result, and of the whole conversation.
    since: Cost,
    total: Cost,
    pub(crate) asks_stop_hook: bool,
    pub(crate) gives_result: bool,
    settings: Settings,
    turns: u32,
    last_text: String,
    denials: Vec<Value>,
}

impl Agent {
    pub(crate) fn new(
        args: Args,
        settings: Settings,
        session: Session,
        prompt: String,
        tui: Option<Tui>,
    ) -> Self {
        let model = args.model.clone().unwrap_or_else(|| "claude-opus-5-5".to_owned());
        let events = Events::new(args.mode, &model, &session, tui);
        let total = session.spent();
        Self {
            args,
            session,
            prompt,
            events,
            price: Cost { input: 100, output: 20, usd: 0.001 },
            since: Cost::default(),
            total,
            asks_stop_hook: true,
            gives_result: true,
            settings,
            turns: 0,
            last_text: String::new(),
            denials: Vec::new(),
        }
    }

    /// Plays the conversation to the end. Returns the exit status.
    pub(crate) fn play(&mut self, plan: &Plan) -> u8 {
        let code = self.converse(plan);
        if let Some(tui) = &self.events.tui {
            tui.borrow_mut().close();
        }
        code
    }

    fn converse(&mut self, plan: &Plan) -> u8 {
        self.events.init(&self.session.cwd, &self.args.permission_mode);
        match self.turns(plan) {
            Ok(()) => {
                if self.gives_result {
                    self.result();
                }
                if self.args.mode == Mode::Screen {
                    return self.stay(plan);
                }
                0
            }
            Err(Stop::Exit(code)) => code,
            Err(Stop::Interrupted { in_tool }) => {
                self.events.user_text("[Request interrupted by user]", false);
                // While waiting for the API, the client ends without a result.
                if in_tool {
                    self.end(
                        "error_during_execution",
                        "aborted_tools",
                        None,
                        "[ede_diagnostic] interrupted",
                    );
                }
                0
            }
        }
    }

    fn turns(&mut self, plan: &Plan) -> Flow {
        if self.session.resumed {
            self.steps(plan.resumed(self.session.resumes()).unwrap_or(&hello()))?;
        } else {
            self.steps(&plan.first)?;
        }
        let mut blocks = 0;
        while self.asks_stop_hook
            && let Some(reason) = self.settings.stop(
                &self.session,
                blocks > 0,
                &self.args.permission_mode,
                &self.last_text,
            )
        {
            if blocks == BLOCK_CAP {
                self.last_text.clear();
                break;
            }
            let event = self.events.user_text(&format!("Stop hook feedback:\n{reason}"), true);
            self.session.remember(&event);
            self.events.system(json!({
                "type": "system", "subtype": "notification", "key": "stop-hook-error",
                    "text": "stop hook problem",
                "priority": "immediate",
            }));
            match plan.on_block.get(blocks) {
                Some(steps) => self.steps(steps)?,
                None => self.say("I have nothing to add.")?,
            }
            blocks += 1;
        }
        Ok(())
    }

    fn steps(&mut self, steps: &[Step]) -> Flow {
        for step in steps {
            if signals::interrupted() {
                return Err(Stop::Interrupted { in_tool: false });
            }
            self.step(step)?;
        }
        Ok(())
    }

    pub(crate) fn say(&mut self, text: &str) -> Flow {
        self.turn()?;
        text.clone_into(&mut self.last_text);
        self.events.screen(&format!("● {text}"));
        let event = self.events.assistant(&json!({"type": "text", "text": text}), self.price);
        self.session.remember(&event);
        Ok(())
    }

    /// Emits a message of the model: counted, paid, and bounded by `--max-turns` and
    /// `--max-budget-usd`.
    fn turn(&mut self) -> Flow {
        if self.args.max_turns.is_some_and(|max| self.turns >= max) {
            let text = format!("Reached maximum number of turns ({})", self.turns);
            self.turns += 1;
            return Err(self.end("error_max_turns", "max_turns", None, &text));
        }
        if let Some(max) = self.args.max_budget_usd.filter(|max| self.total.usd >= *max) {
            return Err(self.end(
                "error_max_budget_usd",
                "budget_exhausted",
                None,
                &format!("Reached maximum budget (${max})"),
            ));
        }
        self.turns += 1;
        self.since = self.since.plus(self.price);
        self.total = self.total.plus(self.price);
        Ok(())
    }

    /// Begins a call of the Bash tool. Returns the call's id.
    pub(crate) fn call(&mut self, line: &str) -> Result<String, Stop> {
        self.turn()?;
        let tool_use_id = id("toolu_");
        self.events.screen(&format!("● Bash({line})"));
        let block = json!({"type": "tool_use", "id": tool_use_id, "name": "Bash",
            "input": {"command": line}});
        let event = self.events.assistant(&block, self.price);
        self.session.remember(&event);
        Ok(tool_use_id)
    }

    /// Refuses a call, as the client does for a call without a rule.
    pub(crate) fn refuse(&mut self, tool_use_id: &str, line: &str) {
        self.denials.push(json!({"tool_name": "Bash", "tool_use_id": tool_use_id,
            "tool_input": {"command": line}}));
        self.events.tool_result(tool_use_id, "This command requires approval", true);
    }

    /// Returns true if a rule of `--allowedTools` or of the settings covers the line.
    ///
    /// In the screen mode a person is asked instead: any line on stdin is a yes.
    pub(crate) fn may_run(&self, line: &str) -> bool {
        let covers = |rule: &String| {
            let Some(inner) = rule.strip_prefix("Bash(").and_then(|r| r.strip_suffix(')')) else {
                return rule == "Bash";
            };
            match inner.strip_suffix(" *").or_else(|| inner.strip_suffix(":*")) {
                Some(start) => {
                    line == start || line.strip_prefix(start).is_some_and(|r| r.starts_with(' '))
                }
                None => inner == "*" || inner == line,
            }
        };
        let rules = self.settings.allowed();
        if self.args.bypasses_permissions()
            || self.args.allowed_tools.iter().chain(&rules).any(covers)
        {
            return true;
        }
        if let Some(tui) = &self.events.tui {
            return tui.borrow_mut().asks(&PROCEED);
        }
        self.args.mode == Mode::Screen && {
            self.events.screen("Do you want to proceed?");
            std::io::stdin().lock().read_line(&mut String::new()).is_ok_and(|n| n > 0)
        }
    }

    /// The result of a run that ended by itself.
    pub(crate) fn result(&mut self) {
        let text = std::mem::take(&mut self.last_text);
        self.give_result(&Ending {
            subtype: "success",
            is_error: false,
            api_error_status: None,
            terminal_reason: "completed",
            text: &text,
        });
        self.last_text = text;
    }

    /// The result of a run ended from outside, and the exit status.
    pub(crate) fn end(
        &mut self,
        subtype: &str,
        reason: &str,
        status: Option<u16>,
        text: &str,
    ) -> Stop {
        self.give_result(&Ending {
            subtype,
            is_error: true,
            api_error_status: status,
            terminal_reason: reason,
            text,
        });
        Stop::Exit(1)
    }

    fn give_result(&mut self, ending: &Ending<'_>) {
        self.events.result(ending, self.turns, self.since, self.total, &self.denials);
        let Cost { input, output, usd } = self.total;
        self.session
            .remember(&json!({"type": "cost-state", "input": input, "output": output, "usd": usd}));
        self.since = Cost::default();
        self.turns = 0;
    }

    /// The client's screen waits for `/exit`. Returns the next message, which resumes the
    /// conversation.
    fn stay(&mut self, plan: &Plan) -> u8 {
        if self.events.tui.is_some() {
            return self.stay_on_screen(plan);
        }
        self.events.screen("> ");
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if line.trim() == "/exit" {
                break;
            }
            self.events.screen(&format!("● I heard: {line}"));
        }
        0
    }

    fn stay_on_screen(&mut self, plan: &Plan) -> u8 {
        let mut steps = plan.resumed(1);
        loop {
            let said = self.events.tui.as_ref().and_then(|tui| tui.borrow_mut().submission());
            let Some(said) = said.filter(|said| said.trim() != "/exit") else { return 0 };
            let event = self.events.user_text(&said, false);
            self.session.remember(&event);
            let played = match steps.take() {
                Some(steps) => self.steps(steps),
                None => self.say("I heard it."),
            };
            match played {
                Ok(()) => {}
                Err(Stop::Exit(code)) => return code,
                Err(Stop::Interrupted { .. }) => return 0,
            }
        }
    }
}
