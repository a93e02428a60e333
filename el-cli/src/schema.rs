//! The JSON schemas of `--robot` output, generated from the printed types.
//!
//! The schemas describe written documents: a key that is always present is required, even if the
//! value may be `null`, and no object has a key that the schema does not name. The end-to-end tests
//! run every command and hold its document against its schema.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, RestrictFormats, Transform as _};
use schemars::{JsonSchema as _, Schema, SchemaGenerator};
use serde_json::Value;

use crate::output::robot::Document;

/// A function that builds the schema of an answer: `SchemaGenerator::subschema_for` of its type.
/// A function for each type; all other code here is compiled once.
pub(crate) type Answer = fn(&mut SchemaGenerator) -> Schema;

/// The schema of a whole document: this answer, or a failure.
pub(crate) fn of_document(title: &str, answer: Answer) -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let data = answer(&mut generator);
    let mut document = Document::<Value>::json_schema(&mut generator).to_value();
    *document.pointer_mut("/oneOf/0/properties/data").expect("a success has data") =
        data.to_value();
    let mut schema = schemars::json_schema!({
        "$schema": generator.settings().meta_schema,
        "title": title,
        "oneOf": document["oneOf"],
        "$defs": generator.take_definitions(false),
    });
    // `int64` and similar words are no formats of JSON Schema.
    RestrictFormats::default().transform(&mut schema);
    RecursiveTransform(close_object).transform(&mut schema);
    RecursiveTransform(drop_code_notes).transform(&mut schema);
    schema.to_value()
}

/// Forbids unnamed keys in an object with named keys.
fn close_object(schema: &mut Schema) {
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

/// Removes notes for readers of the code: rustdoc links, and the defaults of missing keys.
fn drop_code_notes(schema: &mut Schema) {
    schema.remove("default");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`").replace('\n', " ");
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Serialize;
    use serde_json::json;

    use super::*;

    /// See [`Inner`].
    #[derive(Serialize, JsonSchema)]
    struct Outer {
        #[serde(flatten)]
        inner: Inner,
        always: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        sometimes: Option<u32>,
        #[serde(default)]
        list: Vec<Inner>,
        any: Value,
    }

    #[derive(Serialize, JsonSchema)]
    struct Inner {
        a: bool,
    }

    #[test]
    fn a_schema_tells_what_is_written() {
        let schema = of_document("x", SchemaGenerator::subschema_for::<Outer>);
        assert_eq!(schema["title"], "x");
        let outer = &schema["$defs"]["Outer"];
        assert_eq!(outer["description"], "See `Inner`.");
        assert_eq!(outer["required"], json!(["a", "always", "list", "any"]));
        assert_eq!(outer["additionalProperties"], false);
        assert_eq!(
            outer["properties"]["always"],
            json!({ "type": ["integer", "null"], "minimum": 0 })
        );
        assert_eq!(
            outer["properties"]["list"],
            json!({ "type": "array", "items": { "$ref": "#/$defs/Inner" } })
        );
        assert_eq!(outer["properties"]["any"], true);
        assert_eq!(
            schema["oneOf"][1]["properties"]["status"],
            json!({ "type": "string", "const": "error" })
        );
    }
}
