//! Where work can be done: what it needs, and what workers offer.

use crate::model::Worker;

/// The needs that no worker offers; all of them if each is offered, but not all by one worker.
/// Empty if a worker offers all.
pub fn missing<'w>(
    needs: &[String],
    workers: impl IntoIterator<Item = &'w Worker, IntoIter: Clone>,
) -> Vec<String> {
    let workers = workers.into_iter();
    if needs.is_empty() || workers.clone().any(|worker| worker.offers_all(needs)) {
        return Vec::new();
    }
    let is_offered = |need: &String| workers.clone().any(|worker| worker.offers.contains(need));
    let nowhere: Vec<String> = needs.iter().filter(|need| !is_offered(need)).cloned().collect();
    if nowhere.is_empty() { needs.to_vec() } else { nowhere }
}

/// Returns true if a host's name fits one of the patterns, in which `*` stands for any characters
/// and `?` for one. Without patterns, every host does. Case is of no account in names of hosts.
pub fn is_host_among(patterns: &[String], host: &str) -> bool {
    let name: Vec<char> = host.to_lowercase().chars().collect();
    let fits = |pattern: &String| {
        let pattern: Vec<char> = pattern.to_lowercase().chars().collect();
        does_match(&pattern, &name)
    };
    patterns.is_empty() || patterns.iter().any(fits)
}

/// Goes back to the last star only, so that no pattern is slow.
fn does_match(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut in_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                (at, in_name) = (star_at + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_about_the_whole_name() {
        let fits = |pattern: &str, host: &str| is_host_among(&[pattern.to_owned()], host);
        for (pattern, host) in [
            ("mac-*", "mac-7"),
            ("MAC-?", "mac-7"),
            ("*", ""),
            ("*-7", "mac-7-7"),
            ("m*c*7", "mac-c7"),
        ] {
            assert!(fits(pattern, host), "{pattern} {host}");
        }
        let long = "a".repeat(200);
        for (pattern, host) in
            [("mac-*", "imac-7"), ("mac", "mac-7"), ("?", ""), ("", "x"), ("*a*a*a*a*b", &long)]
        {
            assert!(!fits(pattern, host), "{pattern} {host}");
        }
        assert!(is_host_among(&[], "any"));
    }
}
