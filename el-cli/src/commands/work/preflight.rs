//! A line about the cost and the rights of agents, before agents cost money.

use el_agents::settings::{AgentSettings, Executor};
use el_agents::worker::{Served, WorkOptions};

use crate::App;
use crate::output::sanitize;

/// Prints, for each agent, the folder, the permissions and the cost limit. For people only: a
/// program asked for its own choice.
pub(in crate::commands) fn print_preflight(app: &App, options: &WorkOptions) {
    if app.printer.is_robot() {
        return;
    }
    for served in &options.agents {
        app.printer.note(&agent_line(served, options));
    }
}

fn agent_line(served: &Served, options: &WorkOptions) -> String {
    let agent = &served.agent;
    let mut parts = vec![workplace_words(agent)];
    if matches!(agent.executor, Executor::Claude | Executor::Interactive) {
        parts.push(format!("permission mode {}", agent.permission_mode));
    }
    parts.push(cost_bound(agent, options));
    format!("{}: {}", sanitize::one_line(&agent.name), parts.join(" · "))
}

pub(super) fn workplace_words(agent: &AgentSettings) -> String {
    match &agent.isolation {
        Some(isolation) => {
            format!("a git worktree for each atom, in {}", sanitize::path_line(&isolation.folder))
        }
        None => format!("works in {}", sanitize::path_line(&agent.working_directory)),
    }
}

fn cost_bound(agent: &AgentSettings, options: &WorkOptions) -> String {
    let amount = |amount: Option<f64>, each: &str| Some(format!("${:.2} a{each}", amount?));
    let bounds: Vec<String> = [
        amount(agent.budget_per_run, " run"),
        amount(options.resources.budget_per_epic, "n epic"),
        amount(options.resources.budget_per_day, " day"),
    ]
    .into_iter()
    .flatten()
    .collect();
    match (bounds.as_slice(), &agent.executor) {
        ([], Executor::Command(_)) => "no bound on cost".to_owned(),
        ([], _) => "no bound on cost (budget_per_run, budget_per_day set one)".to_owned(),
        (bounds, _) => format!("at most {}", bounds.join(", ")),
    }
}
