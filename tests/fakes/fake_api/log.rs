//! The request log: a JSON object per line, in order of arrival.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value, json};

pub(crate) struct Log {
    file: Option<Mutex<File>>,
    start: Instant,
}

impl Log {
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, String> {
        let file = path
            .map(|p| {
                File::options()
                    .create(true)
                    .append(true)
                    .open(p)
                    .map_err(|e| format!("cannot write the log {}: {e}", p.display()))
            })
            .transpose()?;
        Ok(Self { file: file.map(Mutex::new), start: Instant::now() })
    }

    /// Adds a line. A failure is ignored: the answer to the client matters more.
    pub(crate) fn add(&self, mut fields: Map<String, Value>) {
        let Some(file) = &self.file else { return };
        let since = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        fields.insert("at_ms".to_owned(), json!(since));
        let mut line = Value::Object(fields).to_string();
        line.push('\n');
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = file.write_all(line.as_bytes());
    }
}
