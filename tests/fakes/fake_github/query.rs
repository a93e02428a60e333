//! A reader of GraphQL: selection sets, aliases, arguments, fragments and variables. It knows no
//! types, so it takes whatever a version of `gh` asks for.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

pub(crate) struct Document {
    /// `query` or `mutation`.
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) selections: Vec<Selection>,
    pub(crate) fragments: BTreeMap<String, Vec<Selection>>,
}

pub(crate) enum Selection {
    Field(Field),
    /// `... on Type { … }`
    On(Option<String>, Vec<Selection>),
    Spread(String),
}

pub(crate) struct Field {
    pub(crate) alias: String,
    pub(crate) name: String,
    pub(crate) arguments: Map<String, Value>,
    /// Empty for a value without parts.
    pub(crate) selections: Vec<Selection>,
}

impl Document {
    pub(crate) fn parse(text: &str, variables: &Map<String, Value>) -> Result<Document, String> {
        let mut reader = Reader { tokens: tokens(text)?, at: 0, variables };
        let mut found = Document {
            kind: "query".to_owned(),
            name: String::new(),
            selections: Vec::new(),
            fragments: BTreeMap::new(),
        };
        while let Some(token) = reader.peek() {
            if token == "fragment" {
                reader.next()?;
                let name = reader.next()?;
                // `on Type`
                reader.next()?;
                reader.next()?;
                found.fragments.insert(name, reader.selections()?);
                continue;
            }
            if token != "{" {
                found.kind = reader.next()?;
                if !matches!(reader.peek(), Some("{" | "(")) {
                    found.name = reader.next()?;
                }
                reader.skip_parentheses()?;
            }
            found.selections = reader.selections()?;
        }
        Ok(found)
    }

    /// The names of the fields at the top.
    pub(crate) fn field_names(&self) -> Vec<&str> {
        self.selections
            .iter()
            .filter_map(|selection| match selection {
                Selection::Field(field) => Some(field.name.as_str()),
                _ => None,
            })
            .collect()
    }
}

struct Reader<'a> {
    tokens: Vec<String>,
    at: usize,
    variables: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn next(&mut self) -> Result<String, String> {
        let token = self.tokens.get(self.at).cloned().ok_or("the query ends early")?;
        self.at += 1;
        Ok(token)
    }

    fn takes(&mut self, wanted: &str) -> bool {
        let is_it = self.peek() == Some(wanted);
        self.at += usize::from(is_it);
        is_it
    }

    /// The variables that the operation declares: their values come with the request.
    fn skip_parentheses(&mut self) -> Result<(), String> {
        let mut depth = usize::from(self.takes("("));
        while depth > 0 {
            match self.next()?.as_str() {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn selections(&mut self) -> Result<Vec<Selection>, String> {
        let mut found = Vec::new();
        if !self.takes("{") {
            return Err(format!("a selection begins with {:?}", self.peek()));
        }
        while !self.takes("}") {
            found.push(if self.takes("...") { self.spread()? } else { self.field()? });
        }
        Ok(found)
    }

    fn spread(&mut self) -> Result<Selection, String> {
        let name = if self.peek() == Some("{") { None } else { Some(self.next()?) };
        match name {
            Some(word) if word == "on" => {
                let name = self.next()?;
                self.directives()?;
                Ok(Selection::On(Some(name), self.selections()?))
            }
            Some(name) => Ok(Selection::Spread(name)),
            None => Ok(Selection::On(None, self.selections()?)),
        }
    }

    fn field(&mut self) -> Result<Selection, String> {
        let alias = self.next()?;
        let name = if self.takes(":") { self.next()? } else { alias.clone() };
        let arguments = self.arguments()?;
        self.directives()?;
        let selections = if self.peek() == Some("{") { self.selections()? } else { Vec::new() };
        Ok(Selection::Field(Field { alias, name, arguments, selections }))
    }

    fn directives(&mut self) -> Result<(), String> {
        while self.takes("@") {
            self.next()?;
            self.arguments()?;
        }
        Ok(())
    }

    fn arguments(&mut self) -> Result<Map<String, Value>, String> {
        let mut found = Map::new();
        if self.takes("(") {
            self.pairs(")", &mut found)?;
        }
        Ok(found)
    }

    fn pairs(&mut self, end: &str, found: &mut Map<String, Value>) -> Result<(), String> {
        while !self.takes(end) {
            let name = self.next()?;
            if !self.takes(":") {
                return Err(format!("{name} has no value"));
            }
            let value = self.value()?;
            found.insert(name, value);
        }
        Ok(())
    }

    fn value(&mut self) -> Result<Value, String> {
        let token = self.next()?;
        Ok(match token.as_str() {
            "$" => {
                let name = self.next()?;
                self.variables.get(&name).cloned().unwrap_or(Value::Null)
            }
            "[" => {
                let mut items = Vec::new();
                while !self.takes("]") {
                    items.push(self.value()?);
                }
                Value::Array(items)
            }
            "{" => {
                let mut found = Map::new();
                self.pairs("}", &mut found)?;
                Value::Object(found)
            }
            // Numbers, strings, true, false and null are written as in JSON; all else is an enum.
            word => serde_json::from_str(word).unwrap_or_else(|_| Value::String(token)),
        })
    }
}

fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => {
                rest = rest.split_once('\n').map_or("", |(_, after)| after);
                continue;
            }
            _ if first.is_whitespace() || first == ',' || first == '\u{feff}' => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            '"' => string_length(rest).ok_or("a string without an end")?,
            '.' if rest.starts_with("...") => 3,
            '{' | '}' | '(' | ')' | '[' | ']' | ':' | '!' | '$' | '@' | '=' | '|' | '&' => 1,
            _ => {
                let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            }
        };
        if length == 0 {
            return Err(format!("GraphQL has no {first:?} here"));
        }
        found.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    Ok(found)
}

/// The length of the string that a text begins with, with both quotes.
fn string_length(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().skip(1).find_map(|(at, c)| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end.then_some(at + 1)
    })
}
