//! The rights that a role of the server needs to work with a tracker or to own it.

use super::Store;
use super::engine::Tx;
use crate::error::{Doing, ServerFault};
use crate::{Error, Result};

/// The part that a role plays for a tracker on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerRole {
    /// Makes the tables and brings them up.
    Owner,
    /// Reads and writes the tables, for people and workers.
    Member,
}

const DOING: &str = "grant a role what it needs";

impl Store {
    /// Returns the statements that grant a role of the server its rights. Unless `dry_run` is set,
    /// executes them, all or none.
    ///
    /// # Errors
    ///
    /// If the tracker is in a file, there is no such role, or the caller does not own the tables.
    pub fn grant(
        &mut self,
        role: ServerRole,
        name: &str,
        is_rehearsal: bool,
    ) -> Result<Vec<String>> {
        if self.database.sqlite().is_some() {
            let message = "a tracker in a file has no roles: whoever may write the file works";
            return Err(Error::conflict("in_file", message));
        }
        let statements = self.read(|tx| statements_for(tx, role, name, is_rehearsal))?;
        if !is_rehearsal {
            let tx = self.database.begin_write().doing(DOING)?;
            for statement in &statements {
                tx.execute_batch(statement).doing(DOING)?;
            }
            tx.commit().doing(DOING)?;
        }
        Ok(statements)
    }
}

/// Refuses a role that does not own the tables, since it could not move them.
pub(super) fn ensure_mover(tx: &Tx<'_>) -> Result<()> {
    const DOING: &str = "move the tracker";
    if tx.is_sqlite() {
        return Ok(());
    }
    let owner: Option<String> = tx
        .query_row(
            "SELECT min(pg_get_userbyid(relowner)::text) FROM pg_class
             WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
               AND NOT pg_has_role(relowner, 'USAGE')",
            [],
            |row| row.get(0),
        )
        .doing(DOING)?;
    owner.map_or(Ok(()), |owner| {
        let why = format!("only the owner moves a tracker: its tables are of the role {owner}");
        Err(Error::Server { doing: DOING, fault: ServerFault::NoGrant, why })
    })
}

fn statements_for(
    tx: &Tx<'_>,
    role: ServerRole,
    name: &str,
    is_rehearsal: bool,
) -> Result<Vec<String>> {
    let (exists, owns, schema, role_name, may_give): (bool, bool, String, String, bool) = tx
        .query_row(
            "SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = ?1),
               (SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class
                WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'),
               quote_ident(current_schema()), quote_ident(?1),
               EXISTS (SELECT 1 FROM pg_roles
                 WHERE rolname = ?1 AND pg_has_role(oid, 'MEMBER'))",
            [name],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
        )
        .doing(DOING)?;
    if !exists {
        return Err(Error::not_found("role", name));
    }
    if !owns {
        let why = "only the owner of the tables can".to_owned();
        return Err(Error::Server { doing: DOING, fault: ServerFault::NoGrant, why });
    }
    match role {
        ServerRole::Member => Ok(member_grants(&schema, &role_name)),
        ServerRole::Owner if !may_give && !is_rehearsal => {
            let message = format!(
                "only a superuser, or a member of {name}, gives the tables to {name}: GRANT \
                 {role_name} TO CURRENT_USER first, or call as a superuser"
            );
            Err(Error::conflict("no_member", message))
        }
        ServerRole::Owner => owner_changes(tx, &schema, &role_name),
    }
}

/// Tables that a later migration makes are granted too, if the same role makes them.
fn member_grants(schema: &str, name: &str) -> Vec<String> {
    const ROWS: &str = "SELECT, INSERT, UPDATE, DELETE";
    let later = format!("ALTER DEFAULT PRIVILEGES IN SCHEMA {schema}");
    vec![
        format!("GRANT USAGE ON SCHEMA {schema} TO {name}"),
        format!("GRANT {ROWS} ON ALL TABLES IN SCHEMA {schema} TO {name}"),
        format!("GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {name}"),
        format!("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {name}"),
        format!("{later} GRANT {ROWS} ON TABLES TO {name}"),
        format!("{later} GRANT USAGE ON SEQUENCES TO {name}"),
        format!("{later} GRANT EXECUTE ON FUNCTIONS TO {name}"),
    ]
}

/// A schema of the database's owner keeps its owner; sequences go with their tables.
fn owner_changes(tx: &Tx<'_>, schema: &str, name: &str) -> Result<Vec<String>> {
    let found = "SELECT format('ALTER SCHEMA %I OWNER TO ', nspname) FROM pg_namespace
          WHERE nspname = current_schema() AND nspowner <> 'pg_database_owner'::regrole
        UNION ALL SELECT format('ALTER TABLE %s OWNER TO ', oid::regclass) FROM pg_class
          WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
        UNION ALL SELECT format('ALTER FUNCTION %s OWNER TO ', oid::regprocedure) FROM pg_proc
          WHERE pronamespace = current_schema()::regnamespace";
    let heads: Vec<String> = tx.read_all(found, [], |row| row.get(0)).doing(DOING)?;
    let usage = format!("GRANT USAGE, CREATE ON SCHEMA {schema} TO {name}");
    Ok([usage].into_iter().chain(heads.into_iter().map(|head| head + name)).collect())
}
