//! The way to a server: its address, then a service's file, then the variables of libpq; its
//! password, and the certificates that it has to show.
//!
//! The driver knows `postgres://…` alone. This module does the rest that users of libpq expect.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postgres::Config;
use postgres::config::{Host, SslMode};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::super::engine::Opening;
use super::super::server_address::ServerAddress;

/// The settings that the driver's parser of addresses does not know.
const OURS: [&str; 7] =
    ["passfile", "service", "servicefile", "sslcert", "sslkey", "sslmode", "sslrootcert"];

/// A host that does not answer is given up after this long.
const CONNECT: Duration = Duration::from_secs(10);
/// A dead host is noticed within seconds, in the middle of a wait too.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(2);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
const KEEPALIVE_RETRIES: u32 = 2;

/// Reads an address, and the files that it names.
///
/// # Errors
///
/// The fault, in words that hold no password.
pub(super) fn find_way(address: &ServerAddress) -> Result<Opening, String> {
    let (url, given) = take_ours(address.url())?;
    // The parser's message does not repeat the address.
    let mut config: Config = url.parse().map_err(|error: postgres::Error| {
        std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string)
    })?;
    let service = read_service(address, &given)?;
    let setting = |name: &str, variable: &str| {
        let said = given.get(name).or_else(|| service.get(name)).map(String::as_str);
        said.or_else(|| address.variable(variable))
    };
    add_missing(&mut config, &setting)?;
    if config.get_password().is_none() {
        match setting("password", "PGPASSWORD") {
            Some(password) => drop(config.password(password)),
            None => {
                if let Some(password) = password_from_file(address, &given, &config)? {
                    config.password(password);
                }
            }
        }
    }
    if config.get_application_name().is_none() {
        config.application_name("el");
    }
    config.keepalives(true).keepalives_idle(KEEPALIVE_IDLE);
    config.keepalives_interval(KEEPALIVE_INTERVAL).keepalives_retries(KEEPALIVE_RETRIES);
    // In seconds here, unlike in libpq: for what was sent and is not acknowledged.
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(CONNECT);
    }
    let tls = tls_for(&config, address, &setting)?;
    config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
    Ok(Opening { config: Box::new(config), tls })
}

type Pairs = BTreeMap<String, String>;

/// Takes the settings out of an address that its parser does not know.
fn take_ours(url: &str) -> Result<(String, Pairs), String> {
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return Err("it does not begin with postgres://".to_owned());
    }
    if url.contains('\0') || url.contains("%00") {
        return Err("it contains %00, which no name on a server does".to_owned());
    }
    let Some((head, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), Pairs::new()));
    };
    let mut ours = Pairs::new();
    let mut rest: Vec<&str> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some((name, value)) if OURS.contains(&name) => {
                ours.insert(name.to_owned(), decode(value)?);
            }
            _ => rest.push(pair),
        }
    }
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    Ok((format!("{head}{query}"), ours))
}

fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte.unwrap_or(b' ')).to_digit(16);
        match byte {
            b'%' => match (digit(rest.next()), digit(rest.next())) {
                (Some(high), Some(low)) => bytes.extend(u8::try_from(high * 16 + low)),
                _ => return Err("a % is not followed by two hexadecimal digits".to_owned()),
            },
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).map_err(|_| "it is no UTF-8 text".to_owned())
}

/// Adds the settings that the address omits, from a service's file, the variables and defaults.
fn add_missing<'a>(
    config: &mut Config,
    setting: &impl Fn(&str, &str) -> Option<&'a str>,
) -> Result<(), String> {
    if config.get_hosts().is_empty() {
        let hosts = setting("host", "PGHOST").or_else(|| setting("hostaddr", "PGHOSTADDR"));
        let sockets = ["/var/run/postgresql", "/run/postgresql"];
        let default = sockets.into_iter().find(|folder| Path::new(folder).is_dir());
        let hosts = hosts.unwrap_or_else(|| default.unwrap_or("/tmp"));
        for host in hosts.split(',') {
            config.host(host);
        }
    }
    if config.get_ports().is_empty()
        && let Some(ports) = setting("port", "PGPORT")
    {
        for port in ports.split(',') {
            config.port(port.trim().parse().map_err(|_| format!("'{port}' is no port"))?);
        }
    }
    if config.get_user().is_none()
        && let Some(user) = setting("user", "PGUSER")
    {
        config.user(user);
    }
    if config.get_dbname().is_none()
        && let Some(name) = setting("dbname", "PGDATABASE")
    {
        config.dbname(name);
    }
    if config.get_options().is_none()
        && let Some(options) = setting("options", "PGOPTIONS")
    {
        config.options(options);
    }
    if config.get_connect_timeout().is_none() {
        let seconds = setting("connect_timeout", "PGCONNECT_TIMEOUT");
        let given = seconds.and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0);
        config.connect_timeout(given.map_or(CONNECT, Duration::from_secs));
    }
    Ok(())
}

/// Lists the files with secrets that the address, its service or a variable names. An address that
/// cannot be read names none.
pub(in crate::store) fn secret_files(address: &ServerAddress) -> Vec<PathBuf> {
    let given = take_ours(address.url()).map(|(_, given)| given).unwrap_or_default();
    let service = read_service(address, &given).unwrap_or_default();
    let named = |name: &str, variable: &str| {
        let said = given.get(name).or_else(|| service.get(name)).map(String::as_str);
        said.or_else(|| address.variable(variable)).map(PathBuf::from)
    };
    let of_system = address.variable("PGSYSCONFDIR").map(Path::new);
    [
        named("passfile", "PGPASSFILE"),
        named("servicefile", "PGSERVICEFILE"),
        named("sslkey", "PGSSLKEY"),
        of_system.map(|folder| folder.join("pg_service.conf")),
    ]
    .into_iter()
    .flatten()
    .filter_map(|path| std::path::absolute(path).ok())
    .collect()
}

fn home_file(address: &ServerAddress, name: &str) -> Option<PathBuf> {
    Some(Path::new(address.variable("HOME")?).join(name))
}

/// Reads the settings in the named service's section.
fn read_service(address: &ServerAddress, given: &Pairs) -> Result<Pairs, String> {
    let named = given.get("service").map(String::as_str);
    let Some(service) = named.or_else(|| address.variable("PGSERVICE")) else {
        return Ok(Pairs::new());
    };
    let files = [
        given.get("servicefile").map(PathBuf::from),
        address.variable("PGSERVICEFILE").map(PathBuf::from),
        home_file(address, ".pg_service.conf"),
        address.variable("PGSYSCONFDIR").map(|folder| Path::new(folder).join("pg_service.conf")),
    ];
    let texts = files.iter().flatten().filter_map(|file| fs::read_to_string(file).ok());
    for text in texts {
        let mut lines = text.lines().map(str::trim);
        if !lines.any(|line| line == format!("[{service}]")) {
            continue;
        }
        let section = lines.take_while(|line| !line.starts_with('['));
        let pairs = section.filter(|line| !line.starts_with('#'));
        return Ok(pairs
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect());
    }
    Err(format!("no service's file has a section [{service}]"))
}

/// The password that the user's file has for this server.
fn password_from_file(
    address: &ServerAddress,
    given: &Pairs,
    config: &Config,
) -> Result<Option<String>, String> {
    let named = given.get("passfile").map(String::as_str);
    let named = named.or_else(|| address.variable("PGPASSFILE")).map(PathBuf::from);
    let Some(path) = named.or_else(|| home_file(address, ".pgpass")) else { return Ok(None) };
    let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
    let is_open = fs::metadata(&path).is_ok_and(|meta| meta.mode() & 0o077 != 0);
    let (user, host) = (config.get_user().unwrap_or_default(), config.get_hosts().first());
    let host = match host {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) if is_default_folder(path) => "localhost".to_owned(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let database = config.get_dbname().unwrap_or(user);
    let wanted = [host.as_str(), &port, database, user];
    let found = text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = split_fields(line);
        let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
        (fields.len() == 5 && fields.iter().zip(&wanted).all(fits)).then(|| fields[4].clone())
    });
    match found {
        Some(_) if is_open => {
            Err(format!("others may read the password file {0}: chmod 600 {0}", path.display()))
        }
        found => Ok(found),
    }
}

fn is_default_folder(path: &Path) -> bool {
    ["/var/run/postgresql", "/run/postgresql", "/tmp"]
        .iter()
        .any(|folder| path == Path::new(folder))
}

/// The fields of a line of a password file: `\` takes the next character as it is.
fn split_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut rest = line.chars();
    while let Some(char) = rest.next() {
        let last = fields.len() - 1;
        match char {
            '\\' => fields[last].extend(rest.next()),
            ':' if fields.len() < 5 => fields.push(String::new()),
            char => fields[last].push(char),
        }
    }
    fields
}

/// The host of a name that is this very machine.
fn is_loopback(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
        }
    }
}

/// The connector for a server that is reached by TCP: its certificate is always looked at, and has
/// to name the host. `sslmode=disable` counts for this very machine alone.
fn tls_for<'a>(
    config: &Config,
    address: &ServerAddress,
    setting: &impl Fn(&str, &str) -> Option<&'a str>,
) -> Result<Option<MakeRustlsConnect>, String> {
    let hosts = config.get_hosts();
    let is_unix = |host: &Host| matches!(host, Host::Unix(_));
    if hosts.iter().all(is_unix) {
        return Ok(None);
    }
    if hosts.iter().any(is_unix) {
        return Err("it names a unix socket and a host at once".to_owned());
    }
    if setting("sslmode", "PGSSLMODE") == Some("disable") {
        return match hosts.iter().all(is_loopback) {
            true => Ok(None),
            false => Err("sslmode=disable is for this very machine alone".to_owned()),
        };
    }
    let mut roots = RootCertStore::empty();
    let own = home_file(address, ".postgresql/root.crt").filter(|path| path.is_file());
    let named = setting("sslrootcert", "PGSSLROOTCERT").map(PathBuf::from).or(own);
    match named.filter(|path| path != Path::new("system")) {
        Some(path) => {
            for certificate in read_certificates(&path)? {
                let refused =
                    |error| format!("{} has no usable certificate: {error}", path.display());
                roots.add(certificate).map_err(refused)?;
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
        }
    }
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots);
    let own = (setting("sslcert", "PGSSLCERT"), setting("sslkey", "PGSSLKEY"));
    let config = match own {
        (Some(certificate), Some(key)) => {
            let unusable = |error| format!("{key} has no usable key: {error}");
            let key = rustls::pki_types::PrivateKeyDer::from_pem_file(key).map_err(unusable)?;
            builder
                .with_client_auth_cert(read_certificates(Path::new(certificate))?, key)
                .map_err(|error| error.to_string())?
        }
        _ => builder.with_no_client_auth(),
    };
    Ok(Some(MakeRustlsConnect::new(config)))
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = fs::File::open(path).map_err(|error| unreadable(&error))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_reader_iter(BufReader::new(file)).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(unreadable(&"there is no certificate in it")),
        Err(error) => Err(unreadable(&error)),
    }
}
