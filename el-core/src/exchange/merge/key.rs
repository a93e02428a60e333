//! The identity of a line.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::exchange::detect::parse_time;

/// The record that a line is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Header,
    Atom(Box<str>),
    Bond {
        target: Box<str>,
        source: Box<str>,
        kind: Box<str>,
    },
    Comment {
        atom: Box<str>,
        id: Box<str>,
    },
    /// A record that a newer `el` knows.
    Other(Box<str>),
    /// A line that is no record: kept unchanged.
    Opaque(Box<str>),
}

/// The fields of a line that make the key. Reading only these fields is several times as fast as
/// reading the whole line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    _type: Box<str>,
    id: Option<Box<str>>,
    target_id: Box<str>,
    source_id: Box<str>,
    dependency_type: Box<str>,
    parent_id: Option<Box<str>>,
    created_at: Option<Box<str>>,
}

impl Head {
    fn from_line(line: &str) -> Option<Head> {
        if !line.starts_with('{') {
            return None;
        }
        // Fields of another type, or keys that occur twice, are read as a map.
        serde_json::from_str(line)
            .ok()
            .or_else(|| Some(Head::from_map(&serde_json::from_str(line).ok()?)))
    }

    fn from_map(object: &Map<String, Value>) -> Head {
        let text = |key: &str| object.get(key).and_then(Value::as_str).map(Box::from);
        Head {
            _type: text("_type").unwrap_or_default(),
            id: object.contains_key("id").then(|| text("id").unwrap_or_default()),
            target_id: text("target_id").unwrap_or_default(),
            source_id: text("source_id").unwrap_or_default(),
            dependency_type: text("dependency_type").unwrap_or_default(),
            parent_id: text("parent_id"),
            created_at: text("created_at"),
        }
    }
}

impl Key {
    /// Returns the key of a line, and the creation time of the record in microseconds.
    pub(super) fn from_line(line: &str) -> (Key, Option<i64>) {
        let Some(head) = Head::from_line(line) else { return (Key::Opaque(line.into()), None) };
        let created = head.created_at.as_deref().and_then(parse_time).map(|time| time.as_micros());
        let key = match &*head._type {
            "header" => Key::Header,
            "atom" => Key::Atom(head.id.unwrap_or_default()),
            "bond" => Key::Bond {
                target: head.target_id,
                source: head.source_id,
                kind: head.dependency_type,
            },
            "comment" => Key::Comment {
                atom: head.parent_id.unwrap_or_default(),
                id: head.id.unwrap_or_default(),
            },
            kind => match head.id {
                Some(id) => Key::Other(format!("{kind} {id}").into()),
                None => Key::Opaque(line.into()),
            },
        };
        (key, created)
    }

    /// Returns a number for the key. Two keys share a number with a chance of 2⁻¹²⁸.
    pub(super) fn stable_hash(&self) -> u128 {
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, self).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(0) << 64 | half(1)
    }

    /// The atom that the record belongs to.
    pub(super) fn atom_id(&self) -> Option<&str> {
        match self {
            Key::Atom(atom) | Key::Bond { target: atom, .. } | Key::Comment { atom, .. } => {
                Some(atom)
            }
            Key::Header | Key::Other(_) | Key::Opaque(_) => None,
        }
    }

    /// The record's name in messages.
    pub(super) fn display_name(&self) -> String {
        match self {
            Key::Header => "the header".to_owned(),
            Key::Atom(id) => id.to_string(),
            Key::Bond { target, source, kind } => format!("{source} {kind} {target}"),
            Key::Comment { atom, id } => format!("comment {id} of {atom}"),
            Key::Other(name) => name.to_string(),
            Key::Opaque(_) => "a line that is no record".to_owned(),
        }
    }
}
