//! Addresses that try to lead elsewhere.

use super::Board;
use crate::support::TestEnv;

/// Each address with a part that the sender chooses.
const ROUTES: [&str; 12] = [
    "/assets/{}",
    "/a/{}",
    "/a/{}/review",
    "/api/atoms/{}",
    "/api/atoms/{}/diff",
    "/api/plans/{}",
    "/api/runs/{}/transcript",
    "/api/runs/{}/transcript?from=0",
    "/api/events?since={}",
    "/api/series?days={}",
    "/api/runs/x/transcript?before={}",
    "/{}",
];

#[test]
fn no_trick_in_any_address_leads_to_a_file_or_a_fault() {
    let env = TestEnv::with_tracker();
    let id = env.create("One", &[]);
    std::fs::write(env.path("secret"), "root: the secret\n").unwrap();
    let board = Board::start(&env, &[]);
    let long = "a".repeat(9_000);
    let deep = "../".repeat(400);
    let tricks = [
        "..",
        "%2e%2e",
        "..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "..%252f..%252fetc%252fpasswd",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "..\\..\\etc\\passwd",
        "..%5c..%5cetc%5cpasswd",
        "....//....//etc/passwd",
        "file:%2f%2f%2fetc%2fpasswd",
        "%00",
        "%00/etc/passwd",
        "%ff%fe",
        "%c0%ae%c0%ae%c0%af",
        "%0d%0aSet-Cookie:%20a=b%0d%0a%0d%0aroot:",
        "%1b%5b31m",
        "%e2%80%ae",
        "-",
        "--help",
        "*",
        "';--",
        "$(id)",
        "%24%28id%29",
        "-1",
        "99999999999999999999999",
        "%",
        "%zz",
        "secret",
        "..%2fsecret",
        &format!("{id}%2f..%2f..%2fsecret"),
        &deep,
        &long,
    ];
    for route in ROUTES {
        for trick in &tricks {
            let path = route.replace("{}", trick);
            // A stream of events that begins is no end: such an address is asked for once more.
            if path.starts_with("/api/events") && trick.parse::<i64>().is_ok() {
                continue;
            }
            let answer = board.get(&path);
            assert!(answer.status < 500, "{path}: {answer:#?}");
            assert!(answer.header("set-cookie").is_none(), "{path}: {answer:#?}");
            for secret in ["root:x", "the secret", "SQLite format", "[workspace]"] {
                assert!(!answer.body.contains(secret), "{path}: {answer:#?}");
            }
        }
    }
    board.is_well();
}
