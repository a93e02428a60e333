//! Names of servers and sessions, and tmux's lines about sessions.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{SessionIds, SessionInfo};

/// Returns the socket name of a tracker's private server: the same for all processes on this
/// database, and distinct from other trackers.
#[must_use]
pub fn socket_name(database: &Path) -> String {
    // FNV-1a: small, and the same in every build; std's hasher promises neither.
    let hash =
        database.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("el-{hash:016x}")
}

/// Returns `eluent-<id8>-<epoch>-<hex8>`: recognisable by the id, unique by the random part. The
/// last eight characters of the atom's id are used, since they distinguish the atoms of a project.
#[must_use]
pub fn session_name(atom: &str, epoch_seconds: i64, random: u32) -> String {
    let safe: Vec<char> =
        atom.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect();
    let tail: String = safe[safe.len().saturating_sub(8)..].iter().collect();
    let tail = tail.trim_matches('-');
    let tail = if tail.is_empty() { "atom" } else { tail };
    format!("eluent-{tail}-{}-{random:08x}", epoch_seconds.max(0))
}

/// Returns true if tmux takes the name unchanged. tmux rewrites `.` and `:`, and runs the text in
/// `#( )`.
pub(super) fn is_safe(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('-')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Makes a socket's name safe as a file name.
pub(super) fn safe_socket_name(name: &str) -> String {
    let safe: String = name
        .chars()
        .map(
            |char| {
                if char.is_ascii_alphanumeric() || matches!(char, '-' | '_') { char } else { '-' }
            },
        )
        .collect();
    if safe.is_empty() { "el".to_owned() } else { safe.chars().take(60).collect() }
}

/// `$TMUX` is `<socket path>,<server pid>,<session>`.
pub(super) fn is_same_server(tmux: &OsStr, socket: &Path) -> bool {
    let tmux = tmux.to_string_lossy();
    let mut parts = tmux.rsplitn(3, ',');
    let (_session, _pid, Some(path)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(Path::new(path)) == real(socket)
}

/// `$0 %0 1234 1200`
pub(super) fn parse_ids(line: &str) -> Option<SessionIds> {
    let mut words = line.split_ascii_whitespace();
    Some(SessionIds {
        session_id: words.next().filter(|id| id.starts_with('$'))?.to_owned(),
        pane_id: words.next().filter(|id| id.starts_with('%'))?.to_owned(),
        pane_pid: words.next()?.parse().ok()?,
        server_pid: words.next()?.parse().ok()?,
    })
}

/// Parses a line per pane: `$0 %0 1234 1200 0 1 1795824000 the name`. A session with several panes
/// is represented by its first pane.
pub(super) fn parse_list(text: &str) -> Vec<SessionInfo> {
    let mut sessions: Vec<SessionInfo> = Vec::new();
    for line in text.lines() {
        let Some(info) = parse_line(line) else { continue };
        let number = |info: &SessionInfo| info.ids.pane_id[1..].parse::<u64>().unwrap_or(u64::MAX);
        match sessions.iter_mut().find(|known| known.ids.session_id == info.ids.session_id) {
            Some(known) if number(&info) < number(known) => *known = info,
            Some(_) => {}
            None => sessions.push(info),
        }
    }
    sessions
}

fn parse_line(line: &str) -> Option<SessionInfo> {
    let mut words = line.splitn(8, ' ');
    let ids: Vec<&str> = words.by_ref().take(4).collect();
    Some(SessionInfo {
        ids: parse_ids(&ids.join(" "))?,
        dead: words.next()? == "1",
        attached: words.next()?.parse().unwrap_or(0),
        created: words.next()?.parse().unwrap_or(0),
        name: words.next()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_name_shows_what_tells_the_atom_apart() {
        assert_eq!(
            session_name("eluent-7k2m", 1_795_824_000, 0xab),
            "eluent-ent-7k2m-1795824000-000000ab"
        );
        assert_eq!(session_name("TSK-123", 5, 0xdead_beef), "eluent-TSK-123-5-deadbeef");
        assert_eq!(session_name("a.b:c #(touch x)", 0, 1), "eluent-touch-x-0-00000001");
        assert_eq!(session_name("日本", -4, 1), "eluent-atom-0-00000001");
        assert_eq!(session_name("", 1, 1), "eluent-atom-1-00000001");
        assert_eq!(session_name("my-project-4-", 1, 1), "eluent-oject-4-1-00000001");
    }

    #[test]
    fn every_session_name_is_safe() {
        for atom in ["", "-", "a;", "$(x)", "é\u{202e}x", "=x", "@1", "el-1\n2", "............"] {
            let name = session_name(atom, i64::MAX, u32::MAX);
            assert!(is_safe(&name), "{name}");
        }
        for name in ["", "-x", "a.b", "a:b", "a b", "n#(touch f)", "é", "a;"] {
            assert!(!is_safe(name), "{name}");
        }
    }

    #[test]
    fn a_socket_belongs_to_one_database() {
        let name = socket_name(Path::new("/home/a/p/.eluent/el.db"));
        assert_eq!(name, socket_name(Path::new("/home/a/p/.eluent/el.db")));
        assert_ne!(name, socket_name(Path::new("/home/a/q/.eluent/el.db")));
        assert_eq!(safe_socket_name(&name), name);
        assert_eq!(safe_socket_name("../x y"), "---x-y");
        assert_eq!(name.len(), "el-".len() + 16);
    }

    #[test]
    fn a_list_tells_each_session_by_its_first_pane_and_skips_what_it_does_not_understand() {
        let text = "$0 %4 40 9 0 0 17 one\n$0 %2 20 9 1 0 17 one\nrubbish\n\
                    $1 %3 30 9 0 2 18 a person's own\n";
        let list = parse_list(text);
        assert_eq!(list.len(), 2);
        assert_eq!((list[0].ids.pane_pid, list[0].dead, list[0].created), (20, true, 17));
        assert_eq!((list[1].name.as_str(), list[1].attached), ("a person's own", 2));
        assert!(parse_ids("").is_none() && parse_ids("$0 %1 x 3").is_none());
    }

    #[test]
    fn the_callers_tmux_is_ours_only_by_its_socket() {
        let socket = Path::new("/tmp/tmux-0/el-1");
        assert!(is_same_server(OsStr::new("/tmp/tmux-0/el-1,123,4"), socket));
        assert!(!is_same_server(OsStr::new("/tmp/tmux-0/el-10,123,4"), socket));
        assert!(!is_same_server(OsStr::new("/tmp/tmux-0/default,123,4"), socket));
        assert!(!is_same_server(OsStr::new(""), socket));
    }
}
