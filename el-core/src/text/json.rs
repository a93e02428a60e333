//! JSON for programs that is harmless on a terminal too.

use std::cell::Cell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

use super::is_deceptive;

/// Appends a JSON value in one line. C1 controls, DEL and characters that reorder text are escaped
/// too: outside of texts, JSON has none of them.
///
/// # Errors
///
/// If the value has no JSON form.
pub fn append_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> serde_json::Result<()> {
    let start = out.len();
    serde_json::to_writer(&mut *out, value)?;
    escape_deceptive(out, start);
    Ok(())
}

/// Escapes what a terminal would not show as it is, from `start` on.
fn escape_deceptive(out: &mut Vec<u8>, start: usize) {
    // DEL, and each byte that is not ASCII, have the highest bit after one is added.
    let bits = out[start..].iter().fold(0, |bits, byte| bits | byte.wrapping_add(1));
    if bits & 0x80 == 0 {
        return;
    }
    let text = std::str::from_utf8(&out[start..]).expect("serde_json writes UTF-8");
    let Some(first) = text.find(needs_escape) else { return };
    let tail = text[first..].to_owned();
    out.truncate(start + first);
    for character in tail.chars() {
        if needs_escape(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            }
        } else {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

fn needs_escape(character: char) -> bool {
    matches!(character, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}') || is_deceptive(character)
}

/// A text of JSON as the value that it holds. It goes from the parser to the writer piece by piece,
/// with no tree between the two.
#[derive(Debug, Clone, Copy)]
pub struct JsonText<'a>(pub &'a str);

impl Serialize for JsonText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut parser = serde_json::Deserializer::from_str(self.0);
        let written = parser.deserialize_any(Pipe(serializer)).map_err(S::Error::custom)?;
        parser.end().map_err(S::Error::custom)?;
        Ok(written)
    }
}

/// Writes what is parsed.
struct Pipe<S>(S);

/// A value that is about to be parsed.
struct Parsed<D>(Cell<Option<D>>);

impl<D> Parsed<D> {
    fn new(parser: D) -> Parsed<D> {
        Parsed(Cell::new(Some(parser)))
    }
}

impl<'de, D: Deserializer<'de>> Serialize for Parsed<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parser = self.0.take().ok_or_else(|| S::Error::custom("it was parsed before"))?;
        parser.deserialize_any(Pipe(serializer)).map_err(S::Error::custom)
    }
}

/// Where a part of a list or a map goes.
enum Part<'s, L, M> {
    Item(&'s mut L),
    Key(&'s mut M),
    Value(&'s mut M),
}

impl<'de, L: SerializeSeq, M: SerializeMap> DeserializeSeed<'de> for Part<'_, L, M> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<(), D::Error> {
        let parsed = Parsed::new(parser);
        match self {
            Part::Item(list) => list.serialize_element(&parsed).map_err(de::Error::custom),
            Part::Key(map) => map.serialize_key(&parsed).map_err(de::Error::custom),
            Part::Value(map) => map.serialize_value(&parsed).map_err(de::Error::custom),
        }
    }
}

macro_rules! pass_on {
    ($($visit:ident $kind:ty => $serialize:ident)+) => {
        $(fn $visit<E: de::Error>(self, value: $kind) -> Result<S::Ok, E> {
            self.0.$serialize(value).map_err(E::custom)
        })+
    };
}

impl<'de, S: Serializer> Visitor<'de> for Pipe<S> {
    type Value = S::Ok;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a JSON value")
    }

    pass_on! {
        visit_bool bool => serialize_bool
        visit_i64 i64 => serialize_i64
        visit_u64 u64 => serialize_u64
        visit_f64 f64 => serialize_f64
        visit_str &str => serialize_str
    }

    fn visit_unit<E: de::Error>(self) -> Result<S::Ok, E> {
        self.0.serialize_unit().map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<S::Ok, A::Error> {
        let mut list = self.0.serialize_seq(None).map_err(de::Error::custom)?;
        while items.next_element_seed(Part::<_, S::SerializeMap>::Item(&mut list))?.is_some() {}
        list.end().map_err(de::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<S::Ok, A::Error> {
        let mut map = self.0.serialize_map(None).map_err(de::Error::custom)?;
        while entries.next_key_seed(Part::<S::SerializeSeq, _>::Key(&mut map))?.is_some() {
            entries.next_value_seed(Part::<S::SerializeSeq, _>::Value(&mut map))?;
        }
        map.end().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn written(value: &(impl Serialize + ?Sized)) -> String {
        let mut out = Vec::new();
        append_json(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((".{0,6}", inner), 0..6)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn a_text_that_is_no_json_is_an_error() {
        for text in ["", "{", "{} x", "{\"a\":1,}", "[1 2]", "\"\u{1}\"", &"[".repeat(1_000)] {
            assert!(append_json(&mut Vec::new(), &JsonText(text)).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_text_is_written_as_the_tree_that_it_holds(value in any_value()) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                prop_assert_eq!(written(&JsonText(&text)), written(&value));
            }
        }
    }
}
