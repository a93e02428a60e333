use el_core::model::BondKind;
use el_core::ops::{self, TreeNode};
use serde::Serialize;

use crate::app::App;
use crate::complete;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::page::Page;
use crate::output::{atoms, style};

/// Show the tree of what waits for an atom, or of what it waits for
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el dep tree q5e6                   What hangs on q5e6
  el dep tree q5e6 --up              What q5e6 waits for and is part of
  el dep tree q5e6 --blocking-only

Each atom is unfolded once; further mentions are marked with ….")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    id: String,
    /// The other way: sources and parents
    #[arg(short, long)]
    up: bool,
    /// Only bonds that can hold something back
    #[arg(short, long)]
    blocking_only: bool,
}

#[derive(Serialize)]
struct Tree<'a> {
    atom_id: &'a str,
    direction: &'static str,
    tree: &'a TreeNode,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let tree = ops::dep_tree(&app.reader()?, &args.id, args.up, args.blocking_only)?;
    let data = Tree { atom_id: &tree.id, direction: if args.up { "up" } else { "down" }, tree: &tree };
    app.printer.emit(&data, |page| {
        let root = node(page, &tree);
        page.line(root);
        branches(page, &tree, "");
    })?;
    Ok(Exit::Done)
}

fn branches(page: &mut Page, parent: &TreeNode, indent: &str) {
    for (at, child) in parent.children.iter().enumerate() {
        let last = at + 1 == parent.children.len();
        let branch = if last { "└─ " } else { "├─ " };
        let line = node(page, child);
        page.line(format!("{indent}{branch}{line}"));
        branches(page, child, &format!("{indent}{}", if last { "   " } else { "│  " }));
    }
}

fn node(page: &Page, node: &TreeNode) -> String {
    let mut line = atoms::one_line(page, node.status.as_str(), &node.id, &node.title);
    // Containment and plain blocking are what one expects; other kinds are worth a word.
    if let Some(kind) = node.bond.filter(|kind| !matches!(kind, BondKind::ParentChild | BondKind::Blocks)) {
        line.push_str(&page.paint(style::DIM, &format!(" ({kind})")));
    }
    if node.repeated {
        line.push_str(&page.paint(style::DIM, " …"));
    }
    line
}
