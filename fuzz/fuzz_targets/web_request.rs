//! Any bytes as the head of a request to the web board: no panic, and what passes names the board
//! as its host, and comes from its own page if it would change something.
#![no_main]

use el_core::rules::web_request::RequestHead;
use libfuzzer_sys::fuzz_target;

const HOST: &[u8] = b"el-1f.localhost:7301";
const ORIGIN: &[u8] = b"http://el-1f.localhost:7301";

fuzz_target!(|data: &[u8]| {
    let mut lines = data.split(|byte| *byte == b'\n');
    let Some(Ok(method)) = lines.next().map(std::str::from_utf8) else { return };
    let headers: Vec<(String, &[u8])> = lines
        .filter_map(|line| {
            let at = line.iter().position(|byte| *byte == b':')?;
            let name = std::str::from_utf8(&line[..at]).ok()?.to_ascii_lowercase();
            Some((name, line[at + 1..].trim_ascii()))
        })
        .collect();
    let head = RequestHead {
        method,
        authority: None,
        headers: headers.iter().map(|(name, value)| (name.as_str(), *value)).collect(),
    };
    let all = |name: &str| -> Vec<&[u8]> {
        let own = headers.iter().filter(|(known, _)| known == name);
        own.map(|(_, value)| *value).collect()
    };
    if head.judge(|host| host == HOST).is_ok() {
        assert_eq!(all("host"), [HOST]);
        let origins = all("origin");
        assert!(origins.iter().all(|origin| origin.eq_ignore_ascii_case(ORIGIN)));
        match method {
            "GET" => {}
            "POST" => assert!(origins.len() == 1 && all("x-el").contains(&b"1".as_slice())),
            other => panic!("{other} passes"),
        }
    }
    if let Some(secret) = head.cookie("__Host-el-1f-7301") {
        assert!(!secret.contains(';'));
    }
});
