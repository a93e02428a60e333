//! The values that are bound to the parameters of a statement.

use rusqlite::ToSql;
#[cfg(feature = "postgres")]
use rusqlite::types::{ToSqlOutput, Value};

/// The values of a statement's parameters, by place or by name.
pub(crate) trait Params: rusqlite::Params {
    /// Gives each value, with its name if it has one.
    #[cfg(feature = "postgres")]
    fn each_value(&self, give: &mut dyn FnMut(Option<&str>, Value));
}

#[cfg(feature = "postgres")]
fn value_of(value: &dyn ToSql) -> Value {
    match value.to_sql() {
        Ok(ToSqlOutput::Borrowed(value)) => Value::try_from(value).unwrap_or(Value::Null),
        Ok(ToSqlOutput::Owned(value)) => value,
        // No value of the store is of another kind.
        _ => Value::Null,
    }
}

impl Params for &[&dyn ToSql] {
    #[cfg(feature = "postgres")]
    fn each_value(&self, give: &mut dyn FnMut(Option<&str>, Value)) {
        self.iter().for_each(|value| give(None, value_of(*value)));
    }
}

impl Params for &[(&str, &dyn ToSql)] {
    #[cfg(feature = "postgres")]
    fn each_value(&self, give: &mut dyn FnMut(Option<&str>, Value)) {
        self.iter().for_each(|(name, value)| give(Some(name), value_of(*value)));
    }
}

impl Params for [&(dyn ToSql + Send + Sync); 0] {
    #[cfg(feature = "postgres")]
    fn each_value(&self, _: &mut dyn FnMut(Option<&str>, Value)) {}
}

macro_rules! arrays {
    ($($n:literal)+) => {
        $(impl<T: ToSql> Params for [T; $n] {
            #[cfg(feature = "postgres")]
            fn each_value(&self, give: &mut dyn FnMut(Option<&str>, Value)) {
                self.iter().for_each(|value| give(None, value_of(value)));
            }
        })+
    };
}
arrays!(1 2 3 4 5 6);

/// A column of a row: its place, or its name.
pub(crate) trait ColumnAt: rusqlite::RowIndex {
    /// The place among columns of these names.
    #[cfg(feature = "postgres")]
    fn place_among(&self, names: &[Box<str>]) -> Option<usize>;
}

impl ColumnAt for usize {
    #[cfg(feature = "postgres")]
    fn place_among(&self, _: &[Box<str>]) -> Option<usize> {
        Some(*self)
    }
}

impl ColumnAt for &str {
    #[cfg(feature = "postgres")]
    fn place_among(&self, names: &[Box<str>]) -> Option<usize> {
        names.iter().position(|name| **name == **self)
    }
}
