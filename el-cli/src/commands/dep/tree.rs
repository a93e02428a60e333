use el_core::exchange::{self, Edge, Vertex};
use el_core::model::{BondKind, IssueType};
use el_core::ops::{self, TreeNode};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::export;
use crate::output::{Page, atoms, style};
use crate::{App, Exit, Result, complete};

/// Show the atoms that wait for an atom as a tree, or the atoms that it waits for
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el dep tree q5e6                   Atoms that wait for q5e6
  el dep tree q5e6 --up              Atoms that q5e6 waits for or is part of
  el dep tree q5e6 --blocking-only
  el dep tree q5e6 --format mermaid  For Markdown; dot is for Graphviz

Each atom is unfolded once; further mentions are marked with ….")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    id: String,
    /// The other way: sources and parents
    #[arg(long)]
    up: bool,
    /// Only bonds that can hold an atom back
    #[arg(long)]
    blocking_only: bool,
    /// As a tree for people, or as a graph for programs that draw
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "tree")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Tree,
    Mermaid,
    Dot,
}

/// The direction in which bonds are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Up,
    Down,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Tree<'a> {
    atom_id: &'a str,
    direction: Direction,
    tree: &'a TreeNode,
    format: Format,
    /// The graph as text, with `--format`.
    content: Option<&'a str>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let tree = ops::dep_tree(&app.open_for_reading()?, &args.id, args.up, args.blocking_only)?;
    let content = match args.format {
        Format::Tree => None,
        Format::Mermaid => Some(tree_graph(&tree, args.up, exchange::render_mermaid)),
        Format::Dot => Some(tree_graph(&tree, args.up, exchange::render_dot)),
    };
    let direction = if args.up { Direction::Up } else { Direction::Down };
    let data = Tree {
        atom_id: &tree.id,
        direction,
        tree: &tree,
        format: args.format,
        content: content.as_deref(),
    };
    if let Some(text) = content.as_deref().filter(|_| !app.printer.is_robot()) {
        return export::write_raw(app, text.as_bytes()).map(|()| Exit::Done);
    }
    app.printer.emit(&data, |page| {
        let root = node_line(page, &tree);
        page.push_line(root);
        print_branches(page, &tree, "");
    })
}

/// The tree as a graph: each atom once, each bond once.
fn tree_graph(root: &TreeNode, up: bool, write: impl Fn(&[Vertex], &[Edge]) -> String) -> String {
    let (mut vertices, mut edges) = (Vec::new(), Vec::new());
    let mut todo = vec![root];
    while let Some(node) = todo.pop() {
        if !node.repeated {
            vertices.push(Vertex {
                id: node.id.clone(),
                title: node.title.clone(),
                status: node.status,
                // A tree does not tell types.
                issue_type: IssueType::Task,
            });
        }
        for child in &node.children {
            let (source, target) = if up { (child, node) } else { (node, child) };
            let kind = child.bond.unwrap_or(BondKind::Related);
            edges.push(Edge { source: source.id.clone(), target: target.id.clone(), kind });
        }
        todo.extend(node.children.iter().rev());
    }
    write(&vertices, &edges)
}

fn print_branches(page: &mut Page, parent: &TreeNode, indent: &str) {
    for (at, child) in parent.children.iter().enumerate() {
        let last = at + 1 == parent.children.len();
        let branch = if last { "└─ " } else { "├─ " };
        let line = node_line(page, child);
        page.push_line(format!("{indent}{branch}{line}"));
        print_branches(page, child, &format!("{indent}{}", if last { "   " } else { "│  " }));
    }
}

fn node_line(page: &Page, node: &TreeNode) -> String {
    let mut line = atoms::one_line(page, node.status.as_str(), &node.id, &node.title);
    // Containment and plain blocking are expected; other kinds are named.
    if let Some(kind) =
        node.bond.filter(|kind| !matches!(kind, BondKind::ParentChild | BondKind::Blocks))
    {
        line.push_str(&page.paint(style::DIM, &format!(" ({kind})")));
    }
    if node.repeated {
        line.push_str(&page.paint(style::DIM, " …"));
    }
    line
}
