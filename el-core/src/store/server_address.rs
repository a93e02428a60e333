//! The address of a database server, as a person names it. Nothing here prints a password.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::{Deserialize, Serialize};

/// The variables by which users of libpq name a server, and keep its password.
pub const SERVER_VARIABLES: [&str; 24] = [
    "PGAPPNAME",
    "PGCHANNELBINDING",
    "PGCLIENTENCODING",
    "PGCONNECT_TIMEOUT",
    "PGDATABASE",
    "PGHOST",
    "PGHOSTADDR",
    "PGOPTIONS",
    "PGPASSFILE",
    "PGPASSWORD",
    "PGPORT",
    "PGREQUIREAUTH",
    "PGSERVICE",
    "PGSERVICEFILE",
    "PGSSLCERT",
    "PGSSLCERTMODE",
    "PGSSLCRL",
    "PGSSLKEY",
    "PGSSLMODE",
    "PGSSLNEGOTIATION",
    "PGSSLROOTCERT",
    "PGSYSCONFDIR",
    "PGTARGETSESSIONATTRS",
    "PGUSER",
];

/// A server: its address, and the additions of the caller's environment.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerAddress {
    url: String,
    /// The variables of libpq, and `HOME`, where its files are.
    variables: BTreeMap<String, String>,
}

impl std::fmt::Debug for ServerAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ServerAddress").field(&self.without_password()).finish()
    }
}

impl ServerAddress {
    /// The server at this address, with the caller's environment.
    pub fn new(
        url: &str,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> ServerAddress {
        let of_libpq = |name: &str| name == "HOME" || SERVER_VARIABLES.contains(&name);
        let variables = environment
            .into_iter()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            // An empty variable counts as unset.
            .filter(|(name, value)| of_libpq(name) && !value.is_empty())
            .collect();
        ServerAddress { url: url.to_owned(), variables }
    }

    /// The address, which may hold a password.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The variables that belong to the address, which may hold a password.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    #[cfg(feature = "postgres")]
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The address for people and logs, without a password.
    pub fn without_password(&self) -> String {
        hide_password(&self.url)
    }
}

/// Returns true if an address contains a password.
pub fn has_password(url: &str) -> bool {
    hide_password(url) != url
}

/// The address without its password.
pub fn hide_password(url: &str) -> String {
    let (head, query) = match url.split_once('?') {
        Some((head, query)) => (head, Some(query)),
        None => (url, None),
    };
    let (scheme, rest) = match head.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), head),
    };
    // A password may contain a slash and an at sign, although neither is legal there.
    let rest = match rest.rsplit_once('@') {
        Some((user, place)) => match user.split_once(':') {
            Some((name, _)) => format!("{name}@{place}"),
            None => rest.to_owned(),
        },
        None => rest.to_owned(),
    };
    let is_open = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        !name.contains("pass") || name == "passfile"
    };
    let query = query.map(|query| query.split('&').filter(is_open).collect::<Vec<_>>().join("&"));
    let query = query.filter(|query| !query.is_empty());
    format!("{scheme}{rest}{}", query.map_or_else(String::new, |query| format!("?{query}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (url, shown) in [
            ("postgres://ann:s3cret@db.example.org:5433/shop", "ann@db.example.org:5433/shop"),
            ("postgres://ann:s3/cr@et@db/shop", "ann@db/shop"),
            ("postgres://db/shop?user=ann&password=s3cret", "db/shop?user=ann"),
            ("postgres://db/shop?sslpassword=s3cret", "db/shop"),
            ("postgres://ann@/shop?host=/run&passfile=/x", "ann@/shop?host=/run&passfile=/x"),
        ] {
            let address = ServerAddress::new(url, []);
            assert_eq!(address.without_password(), format!("postgres://{shown}"));
            assert!(!format!("{address:?}").contains("s3"), "{address:?}");
            assert_eq!(has_password(url), url.contains("s3"), "{url}");
        }
    }

    #[test]
    fn of_the_environment_only_what_names_a_server_is_kept() {
        let environment =
            [("PGHOST", "db"), ("PGUSER", ""), ("PATH", "/bin"), ("HOME", "/h"), ("PGDATA", "/d")];
        let environment = environment.map(|(name, value)| (name.into(), value.into()));
        let address = ServerAddress::new("postgres://", environment);
        assert_eq!(address.variables().collect::<Vec<_>>(), [("HOME", "/h"), ("PGHOST", "db")]);
    }
}
