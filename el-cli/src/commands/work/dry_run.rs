//! `el work --dry-run`.

use std::collections::HashSet;

use el_agents::worker::{self, WorkOptions};
use el_core::model::Atom;
use el_core::ops::{self, AssigneeFilter, Sort};
use serde_json::json;

use super::preflight;
use crate::output::{atoms, pauses, sanitize, style};
use crate::{App, Exit, Result};

pub(super) fn run(app: &App, options: &WorkOptions) -> Result<Exit> {
    let calls = worker::preview_commands(options)?;
    let store = app.open_for_reading()?;
    let now = app.now();
    let mut queue: Vec<Atom> = Vec::new();
    for served in &options.agents {
        let mut filter = options.claim_filter();
        filter.assignee.get_or_insert_with(|| AssigneeFilter::NobodyOr(served.agent.name.clone()));
        let found = ops::ready(&store, &filter, Sort::Priority, None, 0, now)?;
        queue.extend(found.items);
    }
    // Each list is in the order of the queue. Of equally good atoms, the first agent's come first,
    // as in a claim.
    queue.sort_by_key(|atom| (atom.priority, atom.created_at));
    let mut seen = HashSet::new();
    queue.retain(|atom| seen.insert(atom.id.clone()));
    let ready = queue.len();
    queue.truncate(options.max_claims.unwrap_or(usize::MAX));
    let pause = ops::current_pause(&store, now)?;
    let agents: Vec<_> = options.agents.iter().map(|served| &served.agent).collect();
    let data = json!({
        "agent": agents.first(), "command": calls.first(), "agents": agents, "commands": calls,
        "would_claim": queue, "ready": ready, "pause": pause,
    });
    app.printer.emit(&data, |page| {
        for (served, call) in options.agents.iter().zip(&calls) {
            let whose = if options.agents.len() == 1 {
                String::new()
            } else {
                format!(" of {}", sanitize::one_line(&served.agent.name))
            };
            page.push_heading(&format!("Each atom{whose} would be given, as standard input, to"));
            page.push_line(format!("  {}", call.join(" ")));
            page.push_line(format!("  {}", preflight::workplace_words(&served.agent)));
            page.push_blank();
        }
        page.push_heading("Ready, in this order");
        if queue.is_empty() {
            page.push_line("  nothing");
        }
        atoms::print_ready(page, &queue, now);
        if let Some(pause) = &pause {
            page.push_blank();
            page.push_painted(style::WARNING, &pauses::pause_sentence(pause));
        }
    })
}
