use el_core::ops::{self, Finding};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::page::Page;
use crate::output::{sanitize, style};

mod machine;

/// Look for what is wrong, and say what to do about it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el doctor
  el doctor --fix            Rebuild what can be rebuilt: the search index
  el doctor --robot

Looks at the database, the graph, claims and runs, the configuration, and the programs that el
work needs. Exit code 1 if something is seriously wrong; without --fix nothing is changed.")]
pub(crate) struct Args {
    /// Rebuild what can be rebuilt without loss
    #[arg(long)]
    fix: bool,
}

impl Args {
    pub(super) fn fixes(&self) -> bool {
        self.fix
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Report<'a> {
    count: usize,
    serious: usize,
    /// What `--fix` rebuilt.
    fixed: &'a [&'static str],
    findings: &'a [Finding],
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let mut fixed = Vec::new();
    if args.fix {
        ops::rebuild(&mut app.writer()?)?;
        fixed.push("search_index");
    }
    let mut findings = ops::doctor(&app.reader()?, app.now())?;
    findings.extend(machine::look(app)?);
    findings.sort_by_key(|finding| !finding.serious);
    let serious = findings.iter().filter(|finding| finding.serious).count();
    let data = Report { count: findings.len(), serious, fixed: &fixed, findings: &findings };
    if serious > 0 && app.printer.is_robot() {
        return Err(CommandError::new(
            Exit::Internal,
            "unhealthy",
            format!(
                "{} seriously wrong",
                if serious == 1 {
                    "one thing is".to_owned()
                } else {
                    format!("{serious} things are")
                }
            ),
        )
        .with_hint("details.findings has them, each with its own hint")
        .with_detail("findings", json!(findings)));
    }
    let exit = if serious > 0 { Exit::Internal } else { Exit::Done };
    app.printer.conclude(&data, exit, |page| view(page, &findings, app))
}

fn view(page: &mut Page, findings: &[Finding], app: &App) {
    if let Ok(project) = app.project()
        && !page.quiet()
    {
        let text = page.paint(
            style::DIM,
            &format!("el {} · {}", env!("CARGO_PKG_VERSION"), sanitize::path(&project.db)),
        );
        page.line(text);
    }
    for finding in findings {
        let (style, mark) =
            if finding.serious { (style::ERROR, "✗") } else { (style::WARNING, "!") };
        let mark = page.paint(style, mark);
        page.line(format!("{mark} {}", sanitize::line(&finding.message)));
        let hint = page.paint(style::DIM, &sanitize::line(&finding.hint));
        page.line(format!("  {hint}"));
    }
    if findings.is_empty() && !page.quiet() {
        let text = page.paint(style::GOOD, "All is well");
        page.line(text);
    }
}
