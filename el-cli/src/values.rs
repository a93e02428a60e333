//! Values that are words of the tracker (statuses, types, priorities, kinds of bond): checked by
//! the tracker's own rules, offered by completion, named in errors.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use el_core::model::{BondKind, IssueType, Outcome, Priority, SeriesName, Status, TaskStatus};
use el_core::ops::Sort;

/// A type with a fixed list of words as values.
pub(crate) trait Word:
    FromStr<Err = el_core::Error> + Clone + Send + Sync + 'static
{
    fn all_words() -> Vec<&'static str>;
}

macro_rules! word {
    ($($type:ty),+) => { $(impl Word for $type {
        fn all_words() -> Vec<&'static str> {
            <$type>::ALL.iter().map(|value| value.as_str()).collect()
        }
    })+ };
}

word!(Status, IssueType, BondKind, Outcome, TaskStatus, SeriesName);

impl Word for Priority {
    fn all_words() -> Vec<&'static str> {
        Priority::WORDS.to_vec()
    }
}

/// The parser for a [`Word`].
#[derive(Debug)]
pub(crate) struct WordParser<T>(PhantomData<fn() -> T>);

impl<T> Clone for WordParser<T> {
    fn clone(&self) -> WordParser<T> {
        WordParser(PhantomData)
    }
}

pub(crate) fn word_parser<T: Word>() -> WordParser<T> {
    WordParser(PhantomData)
}

impl<T: Word> TypedValueParser for WordParser<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let text = value
            .to_str()
            .ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command))?;
        text.parse().map_err(|error: el_core::Error| {
            let mut built = clap::Error::raw(ErrorKind::ValueValidation, format!("{error}\n"))
                .with_cmd(command);
            if let Some(arg) = arg {
                built.insert(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
            }
            built
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(T::all_words().into_iter().map(PossibleValue::new)))
    }
}

/// `--sort`. The values have no help of their own, which would double the length of every help
/// text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SortArg {
    Priority,
    Oldest,
    Newest,
    Updated,
    Title,
    Status,
    Hybrid,
}

impl From<SortArg> for Sort {
    fn from(sort: SortArg) -> Sort {
        match sort {
            SortArg::Priority => Sort::Priority,
            SortArg::Oldest => Sort::Oldest,
            SortArg::Newest => Sort::Newest,
            SortArg::Updated => Sort::Updated,
            SortArg::Title => Sort::Title,
            SortArg::Status => Sort::Status,
            SortArg::Hybrid => Sort::Hybrid,
        }
    }
}
