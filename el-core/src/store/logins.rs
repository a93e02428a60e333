//! The files with which a person logs in at a server.

use std::path::PathBuf;

use super::ServerAddress;

/// Lists the files with passwords and keys that a server's address, its service or its variables
/// name, besides those at their usual places in the home.
pub fn login_files(address: &ServerAddress) -> Vec<PathBuf> {
    #[cfg(feature = "postgres")]
    return super::server::secret_files(address);
    #[cfg(not(feature = "postgres"))]
    {
        let _ = address;
        Vec::new()
    }
}
