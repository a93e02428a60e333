//! The prompts of each phase. Foreign text is fenced and capped; the requested form comes last.

mod again;

pub use again::ask_again;

use std::fmt::Write as _;

use super::delimiter::{END, START};
use super::phases::Analysis;
use super::proposed::ProposedTask;
use super::{PROGRESS_EVERY_S, TASKS_MAX};
use crate::model::Phase;
use crate::protocol::fence::{fence_block, fence_line};

const GOAL_MAX: usize = 60_000;
const TEXT_MAX: usize = 20_000;
const LINE_MAX: usize = 300;
const LIST_MAX: usize = 200;

/// Returns the form of an answer with the fields of the phase. The placeholders in `<…>` make sure
/// that an echo of the form is no answer.
pub(super) fn answer_form(phase: Phase) -> String {
    let data = match phase {
        Phase::Analysis => {
            "\
    \"summary\": \"what you found, briefly\",
    \"recommended_splits\": <a whole number>,
    \"key_files\": [\"path/to/file\"],
    \"estimated_complexity\": <\"low\", \"medium\" or \"high\">,
    \"components\": [{\"name\": \"Name\", \"files\": [\"path\"], \"complexity\": \"low\"}],
    \"notes\": \"what else matters\",
    \"warnings\": [\"a likely problem\"]"
        }
        Phase::TaskList => {
            "\
    \"total_tasks\": 2,
    \"tasks\": [
      {
        \"id\": \"task_001\",
        \"title\": \"A short title\",
        \"description\": \"The goal of the task, for someone who has read nothing else\",
        \"scope\": [\"path/to/file\"],
        \"priority\": <1 to 10>,
        \"dependencies\": [],
        \"estimated_tokens\": <a whole number>
      },
      {
        \"id\": \"task_002\",
        \"title\": \"Another\",
        \"description\": \"…\",
        \"dependencies\": [\"task_001\"]
      }
    ],
    \"parallelizable_groups\": [[\"task_001\"], [\"task_002\"]],
    \"execution_order\": [\"task_001\", \"task_002\"]"
        }
        Phase::Progress => {
            "\
    \"task_id\": \"the id of your task\",
    \"status\": <\"in_progress\", \"blocked\" or \"retrying\">,
    \"progress_percent\": <0 to 100>,
    \"current_action\": \"what you are doing\",
    \"files_processed\": <a whole number>,
    \"files_total\": <a whole number>"
        }
        Phase::Completion => {
            "\
    \"task_id\": \"the id of your task\",
    \"status\": <\"success\", \"partial\", \"failed\" or \"timeout\">,
    \"summary\": \"what was accomplished\",
    \"output_files\": [\"path/to/file\"],
    \"error\": \"what went wrong, if something did\",
    \"warnings\": [\"what is not as it should be\"]"
        }
        Phase::Aggregation => {
            "\
    \"status\": <\"success\", \"partial\" or \"failed\">,
    \"summary\": \"what became of all of it together\",
    \"conflicts\": [{\"type\": \"duplicate\", \"description\": \"what does not go \
    together\", \"resolution\": \"what you did about it\"}],
    \"merged_output\": \"the merged content, if it is not in files\",
    \"output_files\": [\"path/to/file\"]"
        }
    };
    format!("{START}\n{{\n  \"phase\": \"{phase}\",\n  \"data\": {{\n    {data}\n  }}\n}}\n{END}")
}

fn required_fields(phase: Phase) -> &'static str {
    match phase {
        Phase::Analysis => "`summary` and `recommended_splits` are required",
        Phase::TaskList => "`tasks` is required, and in each task `id`, `title` and `description`",
        Phase::Progress | Phase::Completion => "`task_id` and `status` are required",
        Phase::Aggregation => "`status` is required",
    }
}

fn phase_rules(phase: Phase) -> String {
    format!(
        "End your answer with exactly one block in this form, with your own values for what stands \
         in `<…>`; {}, leave out what you cannot say. It is strict JSON: double quotes, no \
         comments, no trailing commas, line ends in texts as `\\n`. Anything else you want to say \
         comes before it.\n\n{}",
        required_fields(phase),
        answer_form(phase)
    )
}

/// Returns the prompt for an analysis.
pub fn analysis_prompt(goal: &str) -> String {
    format!(
        "Look at this project and find out what the work below takes. Change nothing yet. Find its \
         parts, the files that matter, and what could go wrong, and say into how many tasks it \
         splits that can be worked on side by side.\n\n## The work\n\n{}\n\n## Your answer\n\n{}\n",
        fence_block(goal, GOAL_MAX),
        phase_rules(Phase::Analysis)
    )
}

/// The parts of the prompt for a task list.
#[derive(Debug, Clone, Copy)]
pub struct TaskListPrompt<'a> {
    pub goal: &'a str,
    /// The analysis, or the model's own words if only words could be carried.
    pub analysis: Result<&'a Analysis, &'a str>,
    /// The most tasks accepted by the configuration.
    pub tasks_max: usize,
}

/// Asks for the list of tasks.
pub fn task_list(prompt: &TaskListPrompt<'_>) -> String {
    let analysis = match prompt.analysis {
        Err(words) => fence_block(words, TEXT_MAX),
        Ok(analysis) => {
            let mut text =
                fence_block(&serde_json::to_string_pretty(analysis).unwrap_or_default(), TEXT_MAX);
            let _ = write!(text, "\n\nIt recommends {} tasks.", analysis.recommended_splits);
            text
        }
    };
    format!(
        "Cut the work below into tasks. Each is done by an agent of its own that sees only its \
         description, in its own copy of the project, at the same time as others: no two tasks \
         that can run together may change the same file. `dependencies` names the tasks that must \
         be over before; there must be no circle. `priority` is from 1 to 10, 10 the most \
         important. At most {} tasks. Change nothing yet.\n\n## The work\n\n{}\n\n## The analysis\n\
         \n{analysis}\n\n## Your answer\n\n{}\n",
        prompt.tasks_max.clamp(1, TASKS_MAX),
        fence_block(prompt.goal, GOAL_MAX),
        phase_rules(Phase::TaskList)
    )
}

/// The parts of a worker's prompt about a task of a plan.
#[derive(Debug, Clone, Copy)]
pub struct WorkerPrompt<'a> {
    pub task: &'a ProposedTask,
    pub epic_title: &'a str,
    /// Ask for progress.
    pub with_progress: bool,
}

/// Returns the part of a worker's context about the task: scope, and requested blocks.
pub fn worker_prompt(prompt: &WorkerPrompt<'_>) -> String {
    let task = prompt.task;
    let mut text = format!(
        "## Part of a larger work\n\nThis is the task `{}` of: {}. Others work on its other tasks \
         at the same time; keep to yours.",
        fence_line(&task.id, LINE_MAX),
        fence_line(prompt.epic_title, LINE_MAX)
    );
    if !task.scope.is_empty() {
        let mut places: Vec<String> = task
            .scope
            .iter()
            .take(LIST_MAX)
            .map(|place| format!("- {}", short_place(place)))
            .collect();
        if task.scope.len() > LIST_MAX {
            places.push(format!("- and {} more", task.scope.len() - LIST_MAX));
        }
        let _ = write!(
            text,
            "\n\nIt is about these files and places:\n\n{}",
            fence_block(&places.join("\n"), TEXT_MAX)
        );
    }
    if prompt.with_progress {
        let _ = write!(
            text,
            "\n\nWhile you work, say now and then how far you are, at most every \
             {PROGRESS_EVERY_S} seconds and only where something changed, in this form:\n\n{}",
            answer_form(Phase::Progress)
        );
    }
    let _ = write!(
        text,
        "\n\nWhen you are done, say how it ended with one block in this form ({}); then run the \
         command that ends the work item, since only that command ends it:\n\n{}",
        required_fields(Phase::Completion),
        answer_form(Phase::Completion)
    );
    text
}

/// Returns a path as a single line. The surrounding fence defuses the text.
fn short_place(place: &str) -> String {
    let folded: Vec<&str> = place.split_whitespace().collect();
    folded.join(" ").chars().take(LINE_MAX).collect()
}

/// The result of a task.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// The model's id, and the atom's.
    pub task_id: String,
    pub atom_id: String,
    pub title: String,
    /// The end of the atom, such as `closed`, with the reason of a failure.
    pub ended: String,
    pub summary: String,
    /// Files created or changed.
    pub files: Vec<String>,
    /// Files left uncommitted in the worktree, with the folder.
    pub uncommitted: Vec<String>,
    pub workdir: String,
}

/// The parts of the prompt for an aggregation.
#[derive(Debug, Clone, Copy)]
pub struct AggregationPrompt<'a> {
    pub goal: &'a str,
    pub parts: &'a [Part],
    /// Tasks without a result, a line each.
    pub missing: &'a [String],
    /// Bytes for all parts together.
    pub budget: usize,
}

/// Asks to bring the results together.
pub fn aggregation_prompt(prompt: &AggregationPrompt<'_>) -> String {
    let mut text = format!(
        "The tasks of the work below are over. Bring their results together: read what was made, \
         remove what stands twice, settle what does not go together, and make it one whole. Report \
         every conflict, with what you did about it.\n\n## The work\n\n{}\n\n\
         ## What the tasks gave",
        fence_block(prompt.goal, GOAL_MAX.min(prompt.budget.max(1_000)))
    );
    let share = share_budget(prompt.parts, prompt.budget);
    for (part, share) in prompt.parts.iter().zip(share) {
        let _ = write!(
            text,
            "\n\n### {} ({}): {}\n\nIt ended as: {}",
            fence_line(&part.task_id, LINE_MAX),
            fence_line(&part.atom_id, LINE_MAX),
            fence_line(&part.title, LINE_MAX),
            fence_line(&part.ended, LINE_MAX)
        );
        if !part.files.is_empty() {
            let mut files = String::new();
            for file in part.files.iter().take(LIST_MAX) {
                let file = fence_line(file, LINE_MAX);
                if files.len() + file.len() > share / 2 {
                    break;
                }
                let _ = write!(files, "\n- {file}");
            }
            let shown = files.lines().filter(|line| !line.is_empty()).count();
            let _ = write!(text, "\n\nFiles:\n{files}");
            if shown < part.files.len() {
                let _ = write!(text, "\n- and {} more", part.files.len() - shown);
            }
        }
        if !part.uncommitted.is_empty() {
            let files: Vec<String> = part
                .uncommitted
                .iter()
                .take(LIST_MAX)
                .map(|file| fence_line(file, LINE_MAX))
                .collect();
            let _ = write!(
                text,
                "\n\nNot committed, so that no branch has it; bring in what of it is part of the \
                 result, from {}: {}",
                fence_line(&part.workdir, LINE_MAX),
                files.join(", ")
            );
        }
        let summary = if part.summary.trim().is_empty() {
            "(it left no summary)"
        } else {
            part.summary.trim()
        };
        let _ = write!(text, "\n\n{}", fence_block(summary, share));
    }
    if !prompt.missing.is_empty() {
        text.push_str(
            "\n\n## What is missing\n\nThese tasks gave no result; say in your summary what that \
             leaves open:\n",
        );
        for missing in prompt.missing.iter().take(LIST_MAX) {
            let _ = write!(text, "\n- {}", fence_line(missing, LINE_MAX));
        }
        if prompt.missing.len() > LIST_MAX {
            let _ = write!(text, "\n- and {} more", prompt.missing.len() - LIST_MAX);
        }
    }
    let _ = writeln!(text, "\n\n## Your answer\n\n{}", phase_rules(Phase::Aggregation));
    text
}

/// Divides the bytes among the summaries: short summaries get their full length, the others equal
/// shares of the rest.
fn share_budget(parts: &[Part], budget: usize) -> Vec<usize> {
    let wanted = |part: &Part| {
        part.summary.len() + part.files.iter().map(|file| file.len() + 3).sum::<usize>()
    };
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|n| wanted(&parts[*n]));
    let mut shares = vec![0; parts.len()];
    let mut left = budget;
    for (served, n) in order.into_iter().enumerate() {
        shares[n] = wanted(&parts[n]).min(left / (parts.len() - served));
        left -= shares[n];
    }
    shares
}

/// Returns the prompt about a failed check: find the cause, and propose tasks for the repair.
pub fn verification_prompt(goal: &str, command: &str, output: &str, tasks_max: usize) -> String {
    format!(
        "The work below was done and brought together, but the command that checks it failed. Find \
         out why. Change nothing; name what is to be done as tasks, at most {}, each for an agent \
         of its own.\n\n## The work\n\n{}\n\n## The command\n\n{}\n\n## What it printed\n\n{}\n\n\
         ## Your answer\n\n{}\n",
        tasks_max.clamp(1, TASKS_MAX),
        fence_block(goal, GOAL_MAX),
        fence_block(command, LINE_MAX * 10),
        // Failures stand at the end.
        fence_block(crate::text::tail_bytes(output, TEXT_MAX), TEXT_MAX),
        phase_rules(Phase::TaskList)
    )
}
