/// Defines an enum as a closed set of words: the same names in the store, in JSON and on the
/// command line.
///
/// Parsing ignores case and accepts `-` for `_`; the error lists the legal words. The schema is the
/// list of words.
macro_rules! text_enum {
    (
        $(#[doc = $doc:literal])* pub enum $name:ident as $field:literal {
            $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            /// Every value, in the order of listings.
            pub const ALL: &[$name] = &[$($name::$variant,)+];

            /// The word in the store, in JSON and on the command line.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let wanted = text.trim().to_ascii_lowercase().replace('-', "_");
                $name::ALL.iter().copied().find(|v| v.as_str() == wanted).ok_or_else(|| {
                    let known: Vec<_> = $name::ALL.iter().map(|v| v.as_str()).collect();
                    $crate::Error::invalid($field, format!("'{text}' is not one of \
                        {}", known.join(", ")))
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let words: Vec<_> = $name::ALL.iter().map(|v| v.as_str()).collect();
                schemars::json_schema!({
                    "description": concat!($($doc, "\n"),*).trim(),
                    "type": "string",
                    "enum": words
                })
            }
        }
    };
}

pub(crate) use text_enum;
