use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::change::{ChangeDetails, set_status};
use super::PlanSettings;
use crate::model::{Atom, EventKind, Phase, Run, Status, Timestamp};
use crate::ops::comment::insert_comment;
use crate::protocol::response::{
    Answer as Told, Completion, FallbackAnswer, Faulty, FieldFault, Good, Payload, Reading,
    ask_again, carried_answer, select_answer,
};
use crate::rules::orchestrate::{Question, exceeded_limits};
use crate::store::orchestration::{self, Answer, Asked, State};
use crate::store::{Store, Tx, atom, event, run};
use crate::{Ctx, Error, Result, SessionCredentials, count_noun, count_times};

/// The output of an agent in one call.
#[derive(Debug, Clone, Copy)]
pub struct AgentAnswer<'a> {
    pub run: &'a str,
    pub token: &'a str,
    pub reading: &'a Reading,
    /// How often the question was asked again before, in this run.
    pub asked_again: u32,
    /// The conversation can go on.
    pub may_ask_again: bool,
}

/// The consequence of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// There is nothing to do: the atom is over, or waits for somebody else.
    None,
    /// The atom asks no question, and the agent has left it in progress.
    LeftOpen,
    /// The answer was stored and has ended the atom.
    Kept,
    /// Ask again in the same conversation, with this prompt.
    AskAgain { prompt: String },
    /// No answer was usable. The atom is blocked until a person answers.
    Stopped { why: String },
}

/// Longest reason that is made of an answer, in characters.
const REASON: usize = 300;

/// The most faults of a question that are shown.
const FAULTS: i64 = 20;

/// An answer that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnswerFault {
    pub at: Timestamp,
    pub run_id: Option<String>,
    /// The fault, as told to the agent.
    pub why: String,
}

/// Returns the last twenty faults of the answers to a question, oldest first.
///
/// # Errors
///
/// If the atom is not orchestrated, the id is unknown or ambiguous, or the database cannot be read.
pub fn answer_faults(store: &Store, epic: &str, question: Question) -> Result<Vec<AnswerFault>> {
    store.read(|tx| {
        let found = orchestration::list_faults(tx, epic, &question.storage_name(), FAULTS)?;
        Ok(found
            .into_iter()
            .rev()
            .map(|(at, run_id, why)| AnswerFault { at, run_id, why })
            .collect())
    })
}

/// Returns true if the agent's answer, and no command, ends the run's atom.
///
/// # Errors
///
/// If the database cannot be read.
pub fn is_asked(store: &Store, atom: &str) -> Result<bool> {
    store.read(|tx| orchestration::is_question(tx, atom))
}

/// Records the output of an agent's call that ended well. A good answer to a question ends the
/// question's atom; a faulty answer is asked for again; a worker's report about a task is stored
/// with the run.
///
/// # Errors
///
/// If the run is not live, or the database cannot be written.
pub fn record_answer(store: &mut Store, ctx: &Ctx<'_>, heard: &AgentAnswer<'_>) -> Result<Reply> {
    let session =
        SessionCredentials { run: heard.run.to_owned(), token: Some(heard.token.to_owned()) };
    let ctx = Ctx { session: Some(&session), ..*ctx };
    store.write(|tx| {
        let live = run::live_with_token(tx, heard.run, Some(heard.token))?;
        let Some(found) = atom::find(tx, &live.atom_id)? else { return Ok(Reply::None) };
        let Some(asked) = orchestration::question_of(tx, &found.id)? else {
            record_completion(tx, &ctx, &live, heard.reading)?;
            let is_open = found.status == Status::InProgress;
            return Ok(if is_open { Reply::LeftOpen } else { Reply::None });
        };
        let question = Question::from_name(&asked.name).ok_or_else(|| Error::Corrupt {
            table: "questions",
            why: format!("'{}' is the name of no question", asked.name),
        })?;
        if found.status != Status::InProgress {
            return Ok(Reply::None);
        }
        let own = orchestration::find(tx, &asked.epic_id)?;
        let settings = own.as_ref().map(PlanSettings::of_plan).unwrap_or_default();
        let exchange =
            QuestionContext { tx, ctx: &ctx, live: &live, atom: &found, asked: &asked, question };
        match select_answer(heard.reading, question.phase(), None) {
            Told::Good(good) => match too_many(&good, &settings) {
                None => exchange.accept_answer(&good),
                Some(faulty) => exchange.record_fault(heard, Some(&faulty), &settings),
            },
            Told::Faulty(faulty) => exchange.record_fault(heard, Some(&faulty), &settings),
            Told::NotFound => exchange.record_fault(heard, None, &settings),
        }
    })
}

fn too_many(good: &Good, settings: &PlanSettings) -> Option<Faulty> {
    let Payload::TaskList(list) = &good.payload else { return None };
    let message = exceeded_limits(list.tasks.len(), settings.tasks_max)?;
    let fields = vec![FieldFault { field: "tasks".to_owned(), message, is_grave: true }];
    Some(Faulty { block: Some(good.block), fault: None, fields })
}

/// A question and the run that answers the question.
struct QuestionContext<'a> {
    tx: &'a Tx<'a>,
    ctx: &'a Ctx<'a>,
    live: &'a Run,
    atom: &'a Atom,
    asked: &'a Asked,
    question: Question,
}

impl QuestionContext<'_> {
    fn accept_answer(&self, good: &Good) -> Result<Reply> {
        let data = data_of(&good.payload);
        let slight: Vec<String> = good.slight.iter().map(ToString::to_string).collect();
        let mut told = json!({ "question": self.asked.name, "came": "data" });
        if !slight.is_empty() {
            told["left_out"] = json!(slight);
        }
        self.end_question(State::Data, &data, &answer_line(&good.payload), &told)
    }

    fn end_question(
        &self,
        state: State,
        data: &Value,
        reason: &str,
        told: &Value,
    ) -> Result<Reply> {
        let answer = Answer { state, data, by: self.ctx.actor, run: Some(&self.live.id) };
        orchestration::record_answer(
            self.tx,
            &self.asked.epic_id,
            &self.asked.name,
            answer,
            self.ctx.now,
        )?;
        self.record_event(told)?;
        let to =
            ChangeDetails { reason: Some(reason), via: Some("answer"), ..ChangeDetails::default() };
        set_status(self.tx, self.ctx, self.atom, Status::Closed, to)?;
        Ok(Reply::Kept)
    }

    fn record_event(&self, told: &Value) -> Result<()> {
        let (epic, run) = (Some(self.asked.epic_id.as_str()), Some(self.live.id.as_str()));
        event::insert(self.tx, self.ctx, EventKind::Answered, epic, run, told)
    }

    fn record_fault(
        &self,
        heard: &AgentAnswer<'_>,
        faulty: Option<&Faulty>,
        settings: &PlanSettings,
    ) -> Result<Reply> {
        let phase = self.question.phase();
        let words = faulty.map_or_else(
            || "its answer had no block that could be read".to_owned(),
            |faulty| faulty.fault_lines().join(" "),
        );
        orchestration::set_fault(self.tx, &self.asked.epic_id, &self.asked.name, &words)?;
        let told = json!({ "question": self.asked.name, "came": "faulty", "why": words });
        self.record_event(&told)?;
        let left = settings.asks_again.checked_sub(heard.asked_again + 1);
        if let Some(left) = left.filter(|_| heard.may_ask_again) {
            return Ok(Reply::AskAgain { prompt: ask_again(phase, faulty, left) });
        }
        let said = heard.reading.texts.join("\n");
        if let Some(FallbackAnswer::Analysis { summary }) = carried_answer(&said, phase) {
            let told = json!({ "question": self.asked.name, "came": "carried" });
            return self.end_question(
                State::Carried,
                &json!({ "words": summary }),
                "answered in words, without the form",
                &told,
            );
        }
        set_status(self.tx, self.ctx, self.atom, Status::Blocked, ChangeDetails::default())?;
        let faults =
            orchestration::list_faults(self.tx, &self.asked.epic_id, &self.asked.name, FAULTS)?;
        let faults = faults
            .iter()
            .rev()
            .filter(|(_, run, _)| run.as_deref() == Some(&self.live.id))
            .enumerate();
        let told: String = faults.map(|(n, (_, _, why))| format!("\n{}. {why}", n + 1)).collect();
        let text = format!(
            "The {} of {} got no answer that could be used, asked {}. The faults of each answer:\n\
             {told}\n\nEither `el retry {}` asks anew, or a person supplies it: `{}`; then `el \
             orchestrate resume {}` goes on.",
            phase.as_str().replace('_', " "),
            self.asked.epic_id,
            count_times(usize::try_from(heard.asked_again).unwrap_or(usize::MAX).saturating_add(1)),
            self.atom.id,
            supply_command(&self.asked.epic_id, self.question),
            self.asked.epic_id
        );
        insert_comment(self.tx, self.ctx, &self.atom.id, Some(&self.live.id), &text)?;
        Ok(Reply::Stopped { why: words })
    }
}

/// Returns the command with which a person answers a question.
pub(super) fn supply_command(epic: &str, question: Question) -> String {
    let round = match question {
        Question::Failures { round } => format!(" --round {round}"),
        _ => String::new(),
    };
    format!("el phase set {epic} --phase {}{round} --file FILE", question.phase())
}

/// Returns the data of a payload, without the phase.
pub(super) fn data_of(payload: &Payload) -> Value {
    match serde_json::to_value(payload) {
        Ok(Value::Object(mut whole)) => whole.remove("data").unwrap_or(Value::Null),
        _ => Value::Null,
    }
}

/// Returns the answer in one line.
pub(super) fn answer_line(payload: &Payload) -> String {
    let text = match payload {
        Payload::Analysis(analysis) => analysis.summary.clone(),
        Payload::TaskList(list) => count_noun(list.tasks.len(), "task"),
        Payload::Aggregation(result) => {
            result.summary.clone().unwrap_or_else(|| result.status.clone())
        }
        Payload::Progress(_) | Payload::Completion(_) => String::new(),
    };
    format!("answered: {}", crate::text::one_line(&text, REASON))
}

/// Records a worker's completion report for a task of a plan. Without a block, the report is taken
/// from the worker's words.
fn record_completion(tx: &Tx<'_>, ctx: &Ctx<'_>, live: &Run, reading: &Reading) -> Result<()> {
    let Some((_, planned)) = orchestration::planned_as(tx, &live.atom_id)? else { return Ok(()) };
    let completion = match select_answer(reading, Phase::Completion, Some(&planned.task_id)) {
        Told::Good(good) => match good.payload {
            Payload::Completion(completion) => Some(completion),
            _ => None,
        },
        Told::Faulty(faulty) => {
            let why = faulty.fault_lines().join(" ");
            let text = format!("The completion block of {} could not be read. {why}", live.id);
            insert_comment(tx, ctx, &live.atom_id, Some(&live.id), &text)?;
            None
        }
        Told::NotFound => {
            match carried_answer(reading.texts.last().map_or("", String::as_str), Phase::Completion)
            {
                Some(FallbackAnswer::Completion { status, summary }) => Some(Completion {
                    task_id: planned.task_id,
                    status,
                    summary: Some(summary),
                    output_files: Vec::new(),
                    output: None,
                    error: None,
                    warnings: vec!["told from its words; it gave no block".to_owned()],
                    metrics: serde_json::Map::new(),
                    extra: serde_json::Map::new(),
                }),
                _ => None,
            }
        }
    };
    let Some(completion) = completion else { return Ok(()) };
    let text = serde_json::to_string(&completion).expect("a completion has string keys only");
    run::set_column(tx, &live.id, "completion", &text)
}
