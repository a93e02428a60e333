use schemars::JsonSchema;
use serde::Serialize;

use crate::Result;
use crate::model::{Atom, Bond, Comment, Name, Review, Run};
use crate::store::{Store, alias, atom, bond, comment, review, run};

/// An atom with what hangs on it: the atom's own row with more keys.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Shown {
    #[serde(flatten)]
    pub atom: Atom,
    pub dependencies: Dependencies,
    pub comments: Vec<Comment>,
    pub runs: Vec<Run>,
    /// What it is called in the trackers that it came from.
    pub aliases: Vec<Name>,
    /// Its hand-overs, oldest first.
    pub reviews: Vec<Review>,
    /// Id, title and status of every atom at the other end of a bond, for people.
    #[serde(skip)]
    pub neighbours: Vec<Atom>,
}

/// The bonds of an atom, by direction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Dependencies {
    /// It is the source.
    pub outgoing: Vec<Bond>,
    /// It is the target: these can hold it back.
    pub incoming: Vec<Bond>,
}

/// One atom and everything about it.
pub fn show(store: &Store, id: &str) -> Result<Shown> {
    store.read(|tx| {
        let id = atom::resolve(tx, id)?;
        let atom = atom::get(tx, &id)?;
        let (outgoing, incoming): (Vec<Bond>, Vec<Bond>) =
            bond::touching(tx, &id)?.into_iter().partition(|b| b.source_id == id);
        let mut neighbours = Vec::new();
        for other in
            outgoing.iter().map(|b| &b.target_id).chain(incoming.iter().map(|b| &b.source_id))
        {
            neighbours.extend(atom::find(tx, other)?);
        }
        Ok(Shown {
            atom,
            dependencies: Dependencies { outgoing, incoming },
            comments: comment::of(tx, &id)?,
            runs: run::of_atom(tx, &id)?,
            aliases: alias::of(tx, &id)?,
            reviews: review::of_atom(tx, &id)?,
            neighbours,
        })
    })
}

/// One atom's own row.
pub fn brief(store: &Store, id: &str) -> Result<Atom> {
    store.read(|tx| super::change::resolved(tx, id))
}

/// The whole id that `text` means.
pub fn resolve(store: &Store, text: &str) -> Result<String> {
    store.read(|tx| atom::resolve(tx, text))
}
