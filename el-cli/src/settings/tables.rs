//! Where the tables are, and how a change is kept.

use super::{Origin, Settings, keys};
use crate::Result;

impl Settings {
    /// The server that the project's file names. A user's file cannot, since it counts for all.
    pub(crate) fn database_url(&self) -> Result<Option<String>> {
        let key = keys::Key::find_key(keys::DATABASE_URL).expect("it is among the keys");
        let found = self.get(key, None)?;
        let is_projects = matches!(found.origin, Origin::Project { .. });
        Ok(Some(found.value.to_text()).filter(|url| is_projects && !url.is_empty()))
    }

    /// The durability of a change when a command returns.
    pub(crate) fn durability(&self) -> Result<el_core::Durability> {
        Ok(match self.optional_text("durability", None)?.as_deref() {
            Some("full") => el_core::Durability::Full,
            _ => el_core::Durability::Normal,
        })
    }
}
