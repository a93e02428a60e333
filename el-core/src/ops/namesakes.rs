//! Machines of one name that work at once: cloned virtual machines, or two called `ubuntu`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::model::{Stamp, Timestamp, Worker};

/// A worker that was heard of in this time is at work: it sends a beat every 20 seconds.
const HEARD: Duration = Duration::from_secs(60);

/// Returns the names that several machines have whose workers are at work. `own`: the boot of a
/// worker that is not signed on yet. After a reboot, the worker of the boot before is not heard of.
pub fn find_namesakes(workers: &[Worker], own: Option<&str>, now: Timestamp) -> Vec<String> {
    let heard = workers.iter().filter(|worker| worker.heartbeat_at.plus(HEARD) > now);
    names_of_many(heard.map(|worker| &*worker.process.boot).chain(own))
}

fn names_of_many<'a>(boots: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut machines: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for boot in boots {
        if let Some(host) = Stamp::host_in(boot) {
            // Behind the boot is the container.
            let machine = boot.rsplit_once(':').map_or(boot, |(machine, _)| machine);
            machines.entry(host).or_default().insert(machine);
        }
    }
    machines.retain(|_, boots| boots.len() > 1);
    machines.into_keys().map(str::to_owned).collect()
}

/// Says that machines have one name, and what to do.
pub fn namesakes_sentence(host: &str) -> (String, &'static str) {
    let message = format!("several machines at work here are called {host}");
    let hint = "give each a name of its own (hostnamectl hostname NAME): a stop or a question \
                about one is taken for the other's";
    (message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_of_one_name_are_told_apart_from_containers() {
        let names = |boots: &[&str]| names_of_many(boots.iter().copied());
        assert!(names(&["oak|b1:7", "oak|b1:8", "elm|b2:7", "b3:7"]).is_empty());
        assert_eq!(names(&["oak|b1:7", "elm|b2:7", "oak|b2:7"]), ["oak"]);
    }
}
