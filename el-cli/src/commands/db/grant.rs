//! Grants a role of the server its rights.

use el_core::{Durability, ServerRole};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{sanitize, style};
use crate::{App, Exit, Result};

/// Let a role of the server work with the tracker, or own it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  createuser ann && el db grant member ann
  el db grant member ann --dry-run | psql shop      The same, by hand
  el db grant owner shop_admin                      Hand the tables over

A member reads and writes all rows: people and workers. It makes, changes and drops no table.
The owner brings the tables up (el db migrate), moves them, and grants roles. The rights of
members to tables of later versions are granted with the rest, if the same owner makes them.

Exit codes: 3 the server has no such role; 6 only the owner of the tables grants.")]
pub(crate) struct Args {
    /// The rights that the role gets
    #[arg(value_name = "ROLE")]
    role: Role,
    /// The role's name on the server
    #[arg(value_name = "NAME")]
    name: String,
    /// Print the statements, and execute none
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Role {
    Owner,
    Member,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Answer<'a> {
    role: Role,
    name: &'a str,
    dry_run: bool,
    /// In SQL.
    statements: Vec<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let role = match args.role {
        Role::Owner => ServerRole::Owner,
        Role::Member => ServerRole::Member,
    };
    let mut store = app.project()?.open_store(Durability::Normal)?;
    let statements = store.grant(role, &args.name, args.dry_run)?;
    let answer = Answer { role: args.role, name: &args.name, dry_run: args.dry_run, statements };
    app.printer.emit(&answer, |page| {
        if args.dry_run {
            for statement in &answer.statements {
                page.push_line(format!("{};", sanitize::one_line(statement)));
            }
            return;
        }
        let done = page.paint(style::GOOD, "Granted");
        let name = sanitize::one_line(&args.name);
        let what = match args.role {
            Role::Owner => "owns the tables now",
            Role::Member => "can work with the tracker",
        };
        page.push_line(format!("{done}: {name} {what}"));
    })
}
