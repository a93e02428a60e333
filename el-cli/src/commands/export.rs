use std::collections::HashSet;
use std::fs;
use std::io::{self, BufReader, Seek as _, Write};
use std::path::{Path, PathBuf};

use el_core::Store;
use el_core::exchange::{self, Edge, Exported, Piece, Vertex};
use el_core::model::{BondKind, Status};
use el_core::ops::{self, AtomFilter};
use schemars::JsonSchema;
use serde::Serialize;

use super::list::FilterArgs;
use crate::output::{count, sanitize};
use crate::values::word_parser;
use crate::{App, CommandError, Exit, Result, input};

/// Export the project, or a part of the project
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
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "jsonl")]
    format: Format,
    /// Write to this file, replaced as a whole [default: stdout]
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    /// Only these statuses
    #[arg(short, long, value_parser = word_parser::<Status>(),
        value_delimiter = ',', value_name = "STATUS")]
    status: Vec<Status>,
    /// Only atoms that are not over
    #[arg(long, conflicts_with = "status")]
    active: bool,
    #[command(flatten)]
    filter: FilterArgs,
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
    /// The written file; `null` if the export is in `content`.
    path: Option<&'a Path>,
    #[serde(flatten)]
    counts: Counts,
    content: Option<&'a str>,
}

/// The parts of an export, counted.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
struct Counts {
    atoms: usize,
    bonds: usize,
    comments: usize,
}

/// The bytes that are gathered before each write to stdout.
const CHUNK: usize = 1 << 16;

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let filter = export_filter(args, app)?;
    let report = |counts: Counts| Report {
        format: args.format,
        path: args.output.as_deref(),
        counts,
        content: args.output.is_none().then_some(""),
    };
    let Some(path) = &args.output else {
        if !app.printer.is_robot() {
            write_export(&store, &filter, args.format, &mut |bytes| write_raw(app, bytes))?;
            return Ok(Exit::Done);
        }
        // The counts come before the text.
        let failed = |source| CommandError::file_error("write", &std::env::temp_dir(), source);
        let mut text = input::spare_file().map_err(failed)?;
        let counts = write_export(&store, &filter, args.format, &mut |bytes| {
            text.write_all(bytes).map_err(failed)
        })?;
        text.rewind().map_err(failed)?;
        return app.printer.emit_with_text(&report(counts), &mut BufReader::new(text));
    };
    let counts = replace_file(app, path, |out| {
        write_export(&store, &filter, args.format, &mut |bytes| {
            out.write_all(bytes).map_err(|source| CommandError::file_error("write", path, source))
        })
    })?;
    app.printer.emit_sentence(&report(counts), |page| {
        let Counts { atoms, bonds, comments } = counts;
        let counts = [(atoms, "atom"), (bonds, "bond"), (comments, "comment")]
            .map(|(many, what)| count::with_noun(many, what))
            .join(", ");
        let path = sanitize::path_line(path);
        page.push_done("Exported", &format!("{counts} to {path}"));
    })
}

/// Hands an export to `write`, in pieces of whole lines. Of graphs, ids, titles and bonds are held;
/// other texts are never held whole.
fn write_export(
    store: &Store,
    filter: &AtomFilter,
    format: Format,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Counts> {
    let mut counts = Counts::default();
    let mut graph = Graph::default();
    let mut buffer: Vec<u8> = Vec::new();
    let mut push = |piece: Piece, depth: usize| {
        if let Piece::Atom(exported) = &piece {
            counts.atoms += 1;
            counts.bonds += exported.bonds.len();
            counts.comments += exported.comments.len();
        }
        let written = match format {
            Format::Jsonl => exchange::write_jsonl(&mut buffer, &piece),
            Format::Csv => exchange::write_csv(&mut buffer, &piece),
            Format::Markdown => exchange::write_markdown(&mut buffer, &piece, depth),
            Format::Dot | Format::Mermaid => {
                graph.push(piece);
                Ok(())
            }
        };
        written.expect("a vector takes all bytes, and every row has string keys");
        if buffer.len() >= CHUNK {
            write(&buffer)?;
            buffer.clear();
        }
        Ok::<(), CommandError>(())
    };
    if format == Format::Markdown {
        ops::export_tree(store, filter, &mut push)?;
    } else {
        ops::export(store, filter, &mut |piece| push(piece, 0))?;
    }
    match format {
        Format::Jsonl | Format::Csv | Format::Markdown => write(&buffer)?,
        Format::Dot | Format::Mermaid => {
            let Graph { vertices, edges } = graph.without_loose_edges();
            let render =
                if format == Format::Dot { exchange::render_dot } else { exchange::render_mermaid };
            write(render(&vertices, &edges).as_bytes())?;
        }
    }
    Ok(counts)
}

/// The part of an export that a picture shows.
#[derive(Default)]
struct Graph {
    vertices: Vec<Vertex>,
    edges: Vec<Edge>,
}

impl Graph {
    fn push(&mut self, piece: Piece) {
        let Piece::Atom(exported) = piece else { return };
        let Exported { atom, bonds, .. } = *exported;
        self.edges.extend(atom.parent_id.map(|parent| Edge {
            source: parent,
            target: atom.id.clone(),
            kind: BondKind::ParentChild,
        }));
        self.edges.extend(bonds.into_iter().map(|bond| Edge {
            source: bond.source_id,
            target: bond.target_id,
            kind: bond.dependency_type,
        }));
        self.vertices.push(Vertex {
            id: atom.id,
            title: atom.title,
            status: atom.status,
            issue_type: atom.issue_type,
        });
    }

    /// Leaves out the edges from atoms that are not shown. Families come first.
    fn without_loose_edges(mut self) -> Graph {
        let here: HashSet<&str> = self.vertices.iter().map(|vertex| vertex.id.as_str()).collect();
        self.edges.retain(|edge| here.contains(edge.source.as_str()));
        self.edges.sort_by_key(|edge| edge.kind != BondKind::ParentChild);
        self
    }
}

/// Writes a text unchanged, but without terminal control codes if stdout is a terminal.
pub(super) fn write_raw(app: &App, bytes: &[u8]) -> Result<()> {
    if app.printer.is_terminal() {
        app.printer.write_bytes(sanitize::multi_line(&String::from_utf8_lossy(bytes)).as_bytes())
    } else {
        app.printer.write_bytes(bytes)
    }
}

fn export_filter(args: &Args, app: &App) -> Result<AtomFilter> {
    let mut filter = args.filter.atom_filter(app)?;
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

/// Writes a file atomically: readers see the old or the new file.
pub(super) fn write_whole_file(app: &App, path: &Path, bytes: &[u8]) -> Result<()> {
    replace_file(app, path, |file| {
        file.write_all(bytes).map_err(|source| CommandError::file_error("write", path, source))
    })
}

/// Replaces a file atomically by the output of `fill`.
pub(super) fn replace_file<T>(
    app: &App,
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let failed = |source| CommandError::file_error("write", path, source);
    if let Some(caller) = app.caller() {
        // With the rights of the caller, who has the file.
        let mut out = io::BufWriter::new(caller.create(path).map_err(failed)?);
        let value = fill(&mut out)?;
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().and_then(|()| caller.keep_new_file()).map_err(failed)?;
        return Ok(value);
    }
    // A link is written through, not replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.exists() && !target.is_file() {
        // A pipe or a device cannot be replaced.
        let mut out = io::BufWriter::new(fs::File::create(&target).map_err(failed)?);
        let value = fill(&mut out)?;
        out.flush().map_err(failed)?;
        return Ok(value);
    }
    let name = target.file_name().ok_or_else(|| {
        CommandError::invalid_value("output", format!("{} is not a file name", path.display()))
    })?;
    let aside =
        target.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    let written = fill_aside(&aside, &target, failed, fill);
    if written.is_err() {
        // The file may not exist yet.
        let _ = fs::remove_file(&aside);
    }
    written
}

fn fill_aside<T>(
    aside: &Path,
    target: &Path,
    failed: impl Fn(io::Error) -> CommandError,
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let mut out = io::BufWriter::new(fs::File::create(aside).map_err(&failed)?);
    let value = fill(&mut out)?;
    let close = || -> io::Result<()> {
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        if let Ok(old) = fs::metadata(target) {
            fs::set_permissions(aside, old.permissions())?;
        }
        fs::rename(aside, target)
    };
    close().map_err(failed)?;
    Ok(value)
}
