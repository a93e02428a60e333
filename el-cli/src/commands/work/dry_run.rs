//! `el work --dry-run`.

use el_agents::worker::{self, WorkOptions};
use el_core::ops::{self, AssigneeFilter, Sort};
use serde_json::json;

use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{atoms, style};

pub(super) fn run(app: &App, options: &WorkOptions) -> Result<Exit> {
    let call = worker::preview(options)?;
    let mut filter = options.filter.clone();
    filter.assignee.get_or_insert_with(|| AssigneeFilter::NobodyOr(options.agent.name.clone()));
    let store = app.reader()?;
    let now = app.now();
    let limit = options.max_claims.and_then(|max| i64::try_from(max).ok());
    let queue = ops::ready(&store, &filter, Sort::Priority, limit, 0, now)?;
    let pause = ops::paused(&store, now)?;
    let data =
        json!({ "agent": options.agent, "command": call, "would_claim": queue.items, "ready": queue.total, "pause": pause });
    app.printer.emit(&data, |page| {
        page.heading("Each atom would be given, as standard input, to");
        page.line(format!("  {}", call.join(" ")));
        page.line(format!("  in {}", options.agent.working_directory.display()));
        page.blank();
        page.heading("Ready, in this order");
        if queue.items.is_empty() {
            page.line("  nothing");
        }
        atoms::table(page, &queue.items, now);
        if let Some(pause) = &pause {
            page.blank();
            page.line(page.paint(style::WARNING, &format!("Nothing is claimed before {}: {}", pause.until, pause.reason)));
        }
    })?;
    Ok(Exit::Done)
}
