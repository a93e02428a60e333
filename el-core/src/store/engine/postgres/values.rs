//! The values of a statement on their way to a server, and those of its answer.

use std::error::Error as StdError;

use postgres::types::private::BytesMut;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use rusqlite::types::Value;

use super::super::Params;
use super::super::dialect::{Bound, translate};
use super::super::numeric::whole_part;

/// The statement for a server, with the values of its parameters.
pub(in super::super) fn bind(sql: &str, params: &impl Params) -> (String, Vec<Wire>) {
    let mut values = Vec::new();
    let mut names = Vec::new();
    params.each_value(&mut |name, value| {
        names.push(name.map(str::to_owned));
        values.push(Wire(value));
    });
    let names: Vec<Option<&str>> = names.iter().map(Option::as_deref).collect();
    (translate_for(sql, &names, &values), values)
}

/// The statement for a server; `names` are those of the values that are bound by name.
pub(in super::super) fn translate_for(
    sql: &str,
    names: &[Option<&str>],
    values: &[Wire],
) -> String {
    let bound: Vec<Bound<'_>> = values
        .iter()
        .enumerate()
        .map(|(at, value)| Bound {
            name: names.get(at).copied().flatten(),
            is_null: matches!(value.0, Value::Null),
            is_text: matches!(value.0, Value::Text(_)),
        })
        .collect();
    translate(sql, &bound)
}

pub(in super::super) fn with_types(values: &[Wire]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    values.iter().map(|value| (value as &(dyn ToSql + Sync), value.type_of())).collect()
}

/// A value on its way to the server.
#[derive(Debug)]
pub(in super::super) struct Wire(pub(in super::super) Value);

impl Wire {
    /// A null is in the text of the statement, so its type does not matter.
    fn type_of(&self) -> Type {
        match self.0 {
            Value::Integer(_) => Type::INT8,
            Value::Real(_) => Type::FLOAT8,
            Value::Blob(_) => Type::BYTEA,
            Value::Null | Value::Text(_) => Type::TEXT,
        }
    }
}

impl ToSql for Wire {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match &self.0 {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(number) => number.to_sql(ty, out),
            Value::Real(number) => number.to_sql(ty, out),
            Value::Text(text) => text.to_sql(ty, out),
            Value::Blob(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A value as it came, among those that SQLite knows.
pub(in super::super) struct FromServer(pub(in super::super) Value);

impl<'a> FromSql<'a> for FromServer {
    fn from_sql(
        ty: &Type,
        raw: &'a [u8],
    ) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(FromServer(match *ty {
            Type::BOOL => Value::Integer(i64::from(bool::from_sql(ty, raw)?)),
            Type::INT2 => Value::Integer(i64::from(i16::from_sql(ty, raw)?)),
            Type::INT4 => Value::Integer(i64::from(i32::from_sql(ty, raw)?)),
            Type::INT8 => Value::Integer(i64::from_sql(ty, raw)?),
            Type::FLOAT4 => Value::Real(f64::from(f32::from_sql(ty, raw)?)),
            Type::FLOAT8 => Value::Real(f64::from_sql(ty, raw)?),
            // A sum of numbers.
            Type::NUMERIC => Value::Integer(whole_part(raw).ok_or("a number is too large")?),
            Type::BYTEA => Value::Blob(raw.to_owned()),
            _ => Value::Text(std::str::from_utf8(raw)?.to_owned()),
        }))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(FromServer(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
