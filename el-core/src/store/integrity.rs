use super::Store;
use crate::Result;
use crate::error::Doing;

impl Store {
    /// Runs SQLite's check of the file and of the references. Returns no lines if the file is
    /// sound.
    ///
    /// # Errors
    ///
    /// If SQLite fails.
    pub fn check_integrity(&self) -> Result<Vec<String>> {
        let mut found = self.pragma_lines("PRAGMA integrity_check")?;
        found.extend(
            self.pragma_lines("PRAGMA foreign_key_check")?
                .into_iter()
                .map(|row| format!("dangling reference: {row}")),
        );
        Ok(found)
    }

    /// Checks that all pages can be read, in a third of the time: indices are not compared.
    ///
    /// # Errors
    ///
    /// If the check cannot be made at all.
    pub fn check_pages(&self) -> Result<Vec<String>> {
        self.pragma_lines("PRAGMA quick_check")
    }

    /// The rows of a check, without the row that says `ok`.
    fn pragma_lines(&self, sql: &str) -> Result<Vec<String>> {
        // A server checks its own files.
        let Some(conn) = self.database.sqlite() else { return Ok(Vec::new()) };
        let collect = || -> rusqlite::Result<Vec<String>> {
            let mut statement = conn.prepare(sql)?;
            let columns = statement.column_count();
            let rows = statement.query_map([], |row| {
                let cells: Vec<String> = (0..columns)
                    .map(|i| {
                        row.get_ref(i)
                            .map(|v| v.as_str().map_or_else(|_| format!("{v:?}"), str::to_owned))
                    })
                    .collect::<Result<_, _>>()?;
                Ok(cells.join(" "))
            })?;
            rows.collect()
        };
        let mut found = collect().doing("check the database file")?;
        found.retain(|line| line != "ok");
        Ok(found)
    }
}
