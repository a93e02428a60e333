//! The secrets that no agent can read unless a setting opens them.

use std::path::{Path, PathBuf};

/// Paths below the home.
const SECRETS: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".pypirc",
    ".pgpass",
    ".pg_service.conf",
    ".postgresql",
    ".my.cnf",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".password-store",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".terraform.d/credentials.tfrc.json",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/git/credentials",
    ".config/gcloud",
    ".config/op",
    ".config/sops",
    ".config/age",
    ".config/rclone",
    ".config/doctl",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".mozilla",
    ".thunderbird",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/state/el",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".psql_history",
    ".mysql_history",
    ".node_repl_history",
    ".local/share/fish/fish_history",
];

/// The secrets of a home.
pub(super) fn below(home: Option<&Path>) -> Vec<PathBuf> {
    home.iter().flat_map(|home| SECRETS.iter().map(|name| home.join(name))).collect()
}

/// Variables by which programs find an agent, a bus or a daemon outside.
pub(super) const SERVICES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "TMPDIR",
    "TMP",
    "TEMP",
];

/// Variables with the tokens of forges: an agent sends nothing anywhere.
pub(super) const TOKENS: &[&str] = &[
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GITLAB_TOKEN",
    "GITLAB_ACCESS_TOKEN",
    "OAUTH_TOKEN",
];

/// Variables with the folder in which a forge's program keeps its log-in.
pub(super) const FORGE_FOLDERS: &[&str] = &["GH_CONFIG_DIR", "GLAB_CONFIG_DIR"];

/// The parts of `/run` that are seen: how names are resolved, the system's own programs, and disks.
/// All else there belongs to services.
pub(super) const OF_RUN: &[&str] = &[
    "systemd/resolve",
    "resolvconf",
    "NetworkManager",
    "connman",
    "current-system",
    "booted-system",
    "opengl-driver",
    "wrappers",
    "media",
    "mount",
];
