use schemars::JsonSchema;
use serde::Serialize;

use super::load_settings;
use crate::output::{Cell, Column, List, Table, style};
use crate::{App, Exit, Result};

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
    let settings = load_settings(app)?;
    let mut rows = Vec::new();
    for name in settings.known_agents() {
        let agent = settings.agent_settings(&name)?;
        rows.push(Row {
            name,
            executor: agent.executor.name(),
            model: agent.model,
            permission_mode: agent.permission_mode,
            max_parallel: agent.max_parallel,
        });
    }
    app.printer.emit(&List::complete(&rows), |page| {
        if page.is_quiet() {
            return rows.iter().for_each(|row| page.push_line(&row.name));
        }
        let mut table = Table::new([
            Column::new("AGENT"),
            Column::new("EXECUTOR"),
            Column::new("MODEL").hide_when_narrow(1),
            Column::new("PERMISSION MODE").hide_when_narrow(2),
        ]);
        for row in &rows {
            table.push_row([
                Cell::styled(style::PERSON, &row.name),
                Cell::new(row.executor),
                Cell::new(row.model.as_deref().unwrap_or("the client's own")),
                Cell::new(&row.permission_mode),
            ]);
        }
        table.print_table(page);
    })
}
