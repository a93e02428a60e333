use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use el_core::exchange::{self, Edge, Snapshot, Vertex};
use el_core::model::{BondKind, Status};
use el_core::ops::{self, AtomFilter};
use schemars::JsonSchema;
use serde::Serialize;

use super::list::FilterArgs;
use crate::app::App;
use crate::args::values::word;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{count, sanitize, style};

/// Write the project out, or a part of it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el export -o issues.jsonl                   Everything, to be imported again
  el export --format markdown --active
  el export --format csv --label api -o api.csv
  el export --format mermaid --status open,blocked
  el export --format dot | dot -Tsvg > graph.svg

Without filters, JSON Lines hold everything, the other formats everything but what was
discarded. The order depends on nothing but the content, so that a diff in git is readable.
docs/export-format.md describes the JSON Lines; el import reads them.")]
pub(crate) struct Args {
    /// In which format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "jsonl")]
    format: Format,
    /// Into this file, written anew as a whole [default: stdout]
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Only these statuses
    #[arg(short, long, value_parser = word::<Status>(), value_delimiter = ',', value_name = "STATUS")]
    status: Vec<Status>,
    /// Only what is not over
    #[arg(long, conflicts_with = "status")]
    active: bool,
    #[command(flatten)]
    filter: FilterArgs,
}

impl Args {
    pub(super) fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    Jsonl,
    Markdown,
    Csv,
    Dot,
    Mermaid,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Report<'a> {
    format: Format,
    /// Where it was written; `null` if it is in `content`.
    path: Option<&'a Path>,
    atoms: usize,
    bonds: usize,
    comments: usize,
    content: Option<&'a str>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let snapshot = ops::export(&app.reader()?, &filter(args, app)?)?;
    let text = match args.format {
        Format::Jsonl => exchange::jsonl(&snapshot),
        Format::Markdown => exchange::markdown(&snapshot),
        Format::Csv => exchange::csv(&snapshot),
        Format::Dot | Format::Mermaid => {
            let (vertices, edges) = graph(&snapshot);
            if args.format == Format::Dot {
                exchange::dot(&vertices, &edges)
            } else {
                exchange::mermaid(&vertices, &edges)
            }
        }
    };
    if let Some(path) = &args.output {
        write(path, text.as_bytes())?;
    }
    let report = Report {
        format: args.format,
        path: args.output.as_deref(),
        atoms: snapshot.atoms.len(),
        bonds: snapshot.bonds.len(),
        comments: snapshot.comments.len(),
        content: args.output.is_none().then_some(&text),
    };
    if app.printer.is_robot() {
        app.printer.emit(&report, |_| {})?;
    } else if let Some(path) = &args.output {
        app.printer.emit(&report, |page| {
            if !page.quiet() {
                let done = page.paint(style::GOOD, "Exported");
                let counts =
                    [(report.atoms, "atom"), (report.bonds, "bond"), (report.comments, "comment")]
                        .map(|(many, what)| count::of(many, what))
                        .join(", ");
                page.line(format!("{done} {counts} to {}", sanitize::path(path)));
            }
        })?;
    } else {
        raw(app, &text)?;
    }
    Ok(Exit::Done)
}

/// Text as it is, but for what a terminal would obey.
pub(super) fn raw(app: &App, text: &str) -> Result<()> {
    if app.printer.is_terminal() {
        app.printer.write(sanitize::block(text).as_bytes())
    } else {
        app.printer.write(text.as_bytes())
    }
}

fn filter(args: &Args, app: &App) -> Result<AtomFilter> {
    let mut filter = args.filter.filter(app)?;
    if !args.status.is_empty() {
        filter.statuses.clone_from(&args.status);
    } else if !args.active {
        if args.format == Format::Jsonl {
            filter.include_over = true;
        } else {
            filter.statuses =
                Status::ALL.iter().copied().filter(|status| *status != Status::Discard).collect();
        }
    }
    Ok(filter)
}

fn graph(snapshot: &Snapshot) -> (Vec<Vertex>, Vec<Edge>) {
    let vertices: Vec<Vertex> = snapshot
        .atoms
        .iter()
        .map(|atom| Vertex {
            id: atom.id.clone(),
            title: atom.title.clone(),
            status: atom.status,
            issue_type: atom.issue_type,
        })
        .collect();
    let here: std::collections::HashSet<&str> =
        vertices.iter().map(|vertex| vertex.id.as_str()).collect();
    let families = snapshot.atoms.iter().filter_map(|atom| {
        Some(Edge {
            source: atom.parent_id.clone()?,
            target: atom.id.clone(),
            kind: BondKind::ParentChild,
        })
    });
    let bonds = snapshot.bonds.iter().map(|bond| Edge {
        source: bond.source_id.clone(),
        target: bond.target_id.clone(),
        kind: bond.dependency_type,
    });
    let edges = families.chain(bonds).filter(|edge| here.contains(edge.source.as_str())).collect();
    (vertices, edges)
}

/// Writes a file as a whole or not at all: a reader meanwhile sees the old one.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_file(path, |file| file.write_all(bytes))
}

/// Replaces a file by what `fill` writes, as a whole or not at all.
pub(super) fn replace_file<T>(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> Result<T> {
    let failed = |source| CommandError::file("write", path, source);
    // A link is written through, not replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.exists() && !target.is_file() {
        // A pipe or a device cannot be replaced.
        return fs::File::create(&target)
            .and_then(|file| fill_file(file, fill).map(|(_, value)| value))
            .map_err(failed);
    }
    let name = target.file_name().ok_or_else(|| {
        CommandError::invalid("output", format!("{} is no file name", path.display()))
    })?;
    let aside =
        target.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    let written = fs::File::create(&aside).and_then(|file| {
        let (file, value) = fill_file(file, fill)?;
        file.sync_all()?;
        if let Ok(old) = fs::metadata(&target) {
            fs::set_permissions(&aside, old.permissions())?;
        }
        fs::rename(&aside, &target)?;
        Ok(value)
    });
    if written.is_err() {
        // It may not have been made at all.
        let _ = fs::remove_file(&aside);
    }
    written.map_err(failed)
}

fn fill_file<T>(
    file: fs::File,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> io::Result<(fs::File, T)> {
    let mut out = io::BufWriter::with_capacity(1 << 16, file);
    let value = fill(&mut out)?;
    Ok((out.into_inner().map_err(io::IntoInnerError::into_error)?, value))
}
