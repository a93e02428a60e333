//! File names of keys and credentials. No task and no link can release such a file.

/// Folders with only secrets.
const FOLDERS: &str = "\
    .ssh .gnupg .aws .azure .kube .docker .password-store gcloud";
const NAMES: &str = "\
    .envrc .netrc _netrc .pgpass .my.cnf .git-credentials .htpasswd .npmrc .yarnrc.yml .pypirc \
    .dockercfg .vault-token .boto .s3cfg kubeconfig id_rsa id_dsa id_ecdsa id_ed25519 \
    id_ecdsa_sk id_ed25519_sk secrets .secrets terraform.tfstate token .token secret passwd \
    htpasswd auth.json .claude.json rclone.conf .vault_pass";
const ENDINGS: &str = "\
    .pem .key .p12 .pfx .pkcs12 .p8 .jks .keystore .kdbx .kdb .ppk .ovpn .tfvars .gpg .agekey \
    .mobileprovision credentials _rsa _dsa _ecdsa _ed25519 _token";
/// Beginnings of the names of data files (`credentials.json`, `client_secret_12.json`).
const STEMS: &str = "\
    credential secret client_secret client-secret service-account service_account \
    serviceaccount token api_key api-key apikey private_key private-key passwd id_rsa id_dsa \
    id_ecdsa id_ed25519";
/// Endings of such data; a program may be called `secrets.rs`.
const DATA: &str = "\
    json yml yaml toml ini env txt cfg conf properties csv xml";
/// Endings of `.env.example` and the like: files with only the names of settings.
const EXAMPLES: &str = "\
    example sample template dist defaults";

fn list_entries(list: &str) -> impl Iterator<Item = &str> {
    list.split(' ')
}

/// Returns true if a name in the path is typical of a secret, in any letter case.
pub(super) fn is_secret(path: &str) -> bool {
    let path = path.to_lowercase();
    let mut names = path.split('/').rev();
    let name = names.next().unwrap_or_default();
    names.any(|folder| list_entries(FOLDERS).any(|one| one == folder)) || is_secret_name(name)
}

fn is_secret_name(name: &str) -> bool {
    if let Some(kind) = name.strip_prefix(".env") {
        return kind.is_empty()
            || kind.starts_with(['.', '-', '_', '~'])
                && !list_entries(EXAMPLES).any(|example| kind.ends_with(example));
    }
    // A copy or an old one of a secret is a secret (`id_rsa.bak`, `.env~`).
    let bare = name.trim_end_matches('~');
    let bare = [".bak", ".old", ".orig", ".backup", ".save"]
        .iter()
        .find_map(|ending| bare.strip_suffix(ending))
        .unwrap_or(bare);
    let is_data = bare
        .rsplit_once('.')
        .is_some_and(|(_, ending)| list_entries(DATA).any(|one| one == ending));
    list_entries(NAMES).any(|one| one == bare)
        || list_entries(ENDINGS).any(|ending| bare.ends_with(ending))
        || bare.ends_with(".env")
        || is_data && list_entries(STEMS).any(|stem| bare.trim_start_matches('.').starts_with(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_keys_and_credentials_are_secret() {
        for path in [
            ".env",
            ".env.local",
            "app/.env.production",
            ".ENV",
            ".env~",
            ".env.bak",
            "prod.env",
            "id_rsa",
            "keys/id_ed25519",
            "id_rsa.bak",
            "id_ed25519.txt",
            "server.pem",
            "server.KEY",
            "a.p12",
            ".npmrc",
            ".netrc",
            ".git-credentials",
            "home/.ssh/config",
            ".aws/config",
            ".aws/credentials",
            "credentials.json",
            "client_secret_12.json",
            "secrets.yaml",
            "service-account.json",
            "token.json",
            "prod.tfvars",
            "release.keystore",
            "Credentials",
            "aws_credentials",
            "deploy_rsa",
            "github_token",
            "auth.json",
        ] {
            assert!(is_secret(path), "{path}");
        }
        for path in [
            ".env.example",
            "id_rsa.pub",
            "src/secrets.rs",
            "credentials.py",
            "tokenizer.rs",
            "docs/keys.md",
            "environment.md",
            "monkey",
            "src/key.rs",
            "next_token.rs",
            "package.json",
            "envoy.yaml",
        ] {
            assert!(!is_secret(path), "{path}");
        }
    }
}
