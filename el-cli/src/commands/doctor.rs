use el_agents::clock;
use el_core::ops::{self, Finding};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::output::{Page, sanitize, style};
use crate::{App, CommandError, Exit, Result, modes};

mod machine;

/// Find faults, and say how to fix them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el doctor
  el doctor --fix            Rebuild the search index, and close the tracker to others
  el doctor --robot

Looks at the database, the graph, claims and runs, the configuration, and the programs that el
work needs; outside of a project, at the machine alone. Without --fix nothing is changed.

Exit codes: 1 something is seriously wrong; 6 el work could not run here.")]
pub(crate) struct Args {
    /// Rebuild the data that can be rebuilt without loss
    #[arg(long)]
    pub(super) fix: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Report<'a> {
    count: usize,
    serious: usize,
    /// The things that `--fix` rebuilt.
    fixed: &'a [&'static str],
    /// Facts about the machine: versions, the log-in, identities, permissions.
    facts: &'a [machine::Fact],
    findings: &'a [Finding],
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let mut fixed = Vec::new();
    if args.fix {
        ops::rebuild_derived(&mut app.open_for_writing()?)?;
        fixed.push("search_index");
        let project = app.project()?;
        let closed = modes::close_to_others(project)
            .map_err(|source| CommandError::file_error("close", &project.state, source))?;
        fixed.extend(closed.then_some("modes"));
    }
    let place = machine::MachineScope::for_app(app)?;
    let mut findings = match place.is_project() {
        true => ops::doctor(&app.open_for_reading()?, clock::machine_time())?,
        false => Vec::new(),
    };
    let (found, facts) = machine::inspect_machine(app, &place);
    findings.extend(found);
    findings.sort_by_key(|finding| !finding.serious);
    let serious = findings.iter().filter(|finding| finding.serious).count();
    let data = Report {
        count: findings.len(),
        serious,
        fixed: &fixed,
        facts: &facts,
        findings: &findings,
    };
    let cannot_work = findings.iter().find(|finding| finding.code == machine::CANNOT_WORK);
    let exit = match (serious, cannot_work) {
        (1.., _) => Exit::Internal,
        (0, Some(_)) => Exit::Configuration,
        (0, None) => Exit::Done,
    };
    if exit != Exit::Done && app.printer.is_robot() {
        let error = match cannot_work.filter(|_| serious == 0) {
            Some(finding) => CommandError::new(exit, "config", finding.message.clone())
                .with_hint(finding.hint.clone()),
            None => {
                let these = match serious {
                    1 => "one thing is".to_owned(),
                    many => format!("{many} things are"),
                };
                CommandError::new(exit, "unhealthy", format!("{these} seriously wrong"))
                    .with_hint("details.findings has them, each with its own hint")
            }
        };
        return Err(error
            .with_detail("findings", json!(findings))
            .with_detail("facts", json!(facts)));
    }
    app.printer.emit_and_exit(&data, exit, |page| {
        if !page.is_quiet() {
            machine::print_facts(page, &facts);
        }
        print_findings(page, &findings, app);
    })
}

fn print_findings(page: &mut Page, findings: &[Finding], app: &App) {
    if let Ok(project) = app.project()
        && !page.is_quiet()
    {
        let place = match project.server_address() {
            Ok(Some(address)) => address.without_password(),
            _ => project.db.display().to_string(),
        };
        let place = sanitize::one_line(&place);
        page.push_painted(style::DIM, &format!("el {} · {place}", env!("CARGO_PKG_VERSION")));
    }
    for finding in findings {
        let (style, mark) =
            if finding.serious { (style::ERROR, "✗") } else { (style::WARNING, "!") };
        let mark = page.paint(style, mark);
        page.push_line(format!("{mark} {}", sanitize::one_line(&finding.message)));
        let hint = page.paint(style::DIM, &sanitize::one_line(&finding.hint));
        page.push_line(format!("  {hint}"));
    }
    if findings.is_empty() && !page.is_quiet() {
        page.push_painted(style::GOOD, "All is well");
    }
}
