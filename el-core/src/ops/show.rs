use schemars::JsonSchema;
use serde::Serialize;

use crate::Result;
use crate::model::{Atom, Bond, Comment, Name, PullRequest, Review, Run};
use crate::store::{Store, alias, atom, bond, comment, pull_request, review, run};

/// An atom with all related data: the row of the atom with more keys.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Shown {
    #[serde(flatten)]
    pub atom: Atom,
    pub dependencies: Dependencies,
    pub comments: Vec<Comment>,
    pub runs: Vec<Run>,
    /// The atom's names in other trackers.
    pub aliases: Vec<Name>,
    /// The hand-overs, oldest first.
    pub reviews: Vec<Review>,
    /// The pull requests of its branch, oldest first.
    pub pull_requests: Vec<PullRequest>,
    /// Id, title and status of every atom at the other end of a bond, for people.
    #[serde(skip)]
    pub neighbours: Vec<Atom>,
}

/// The bonds of an atom, by direction.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Dependencies {
    /// Bonds from the atom.
    pub outgoing: Vec<Bond>,
    /// Bonds to the atom: the bonds that can hold the atom back.
    pub incoming: Vec<Bond>,
}

/// Returns an atom with all related data.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn show(store: &Store, id: &str) -> Result<Shown> {
    store.read(|tx| {
        let id = atom::resolve(tx, id)?;
        let atom = atom::get(tx, &id)?;
        let (outgoing, incoming): (Vec<Bond>, Vec<Bond>) =
            bond::list_touching(tx, &id)?.into_iter().partition(|b| b.source_id == id);
        let mut neighbours = Vec::new();
        for other in
            outgoing.iter().map(|b| &b.target_id).chain(incoming.iter().map(|b| &b.source_id))
        {
            neighbours.extend(atom::find(tx, other)?);
        }
        Ok(Shown {
            atom,
            dependencies: Dependencies { outgoing, incoming },
            comments: comment::list_of(tx, &id)?,
            runs: run::of_atom(tx, &id)?,
            aliases: alias::names_of(tx, &id)?,
            reviews: review::of_atom(tx, &id)?,
            pull_requests: pull_request::of_atom(tx, &id)?,
            neighbours,
        })
    })
}

/// Returns the row of an atom.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn get_atom(store: &Store, id: &str) -> Result<Atom> {
    store.read(|tx| super::change::resolve_atom(tx, id))
}

/// Resolves a text to a whole id.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn resolve_id(store: &Store, text: &str) -> Result<String> {
    store.read(|tx| atom::resolve(tx, text))
}
