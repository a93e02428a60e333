use el_agents::settings::Executor;
use schemars::JsonSchema;
use serde::Serialize;

use super::load;
use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::list::List;
use crate::output::style;
use crate::output::table::{Cell, Column, Table};

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Row {
    name: String,
    /// `claude`, `interactive` or `command`.
    executor: &'static str,
    model: Option<String>,
    permission_mode: String,
    max_parallel: Option<u32>,
}

pub(super) fn run(app: &App) -> Result<Exit> {
    let settings = load(app)?;
    let mut rows = Vec::new();
    for name in settings.known_agents() {
        let agent = settings.agent(&name)?;
        let executor = match agent.executor {
            Executor::Claude => "claude",
            Executor::Interactive => "interactive",
            Executor::Command(_) => "command",
        };
        rows.push(Row {
            name,
            executor,
            model: agent.model,
            permission_mode: agent.permission_mode,
            max_parallel: agent.max_parallel,
        });
    }
    app.printer.emit(&List::all(&rows), |page| {
        if page.quiet() {
            return rows.iter().for_each(|row| page.line(&row.name));
        }
        let mut table = Table::new([
            Column::new("AGENT"),
            Column::new("EXECUTOR"),
            Column::new("MODEL").spare(1),
            Column::new("PERMISSION MODE").spare(2),
        ]);
        for row in &rows {
            table.row([
                Cell::styled(style::PERSON, &row.name),
                Cell::new(row.executor),
                Cell::new(row.model.as_deref().unwrap_or("the client's own")),
                Cell::new(&row.permission_mode),
            ]);
        }
        table.print(page);
    })?;
    Ok(Exit::Done)
}
