//! Thirty processes at once: create, claim, update, comment, close.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::Value;

use crate::rng::Rng;
use crate::scratch::{Ran, Scratch};

const CROWD: usize = 30;
const TURNS: usize = 4;
/// The number of initial atoms: fewer than requested, so that some callers get none.
const QUEUE: usize = 60;

/// The record of all callers' actions.
#[derive(Debug, Default)]
struct Told {
    created: Vec<String>,
    claimed: Vec<(String, String)>,
    closed: Vec<String>,
    comments: Vec<String>,
    labels: Vec<String>,
    faults: Vec<String>,
}

/// Runs the crowd. Returns the number of faults.
pub(crate) fn run(seed: u64) -> usize {
    let scratch = Scratch::new();
    let queue: Vec<String> =
        (0..QUEUE).map(|n| format!("{{\"title\":\"queued {n}\"}}\n")).collect();
    std::fs::write(scratch.root().join("queue.jsonl"), queue.concat()).unwrap();
    scratch.el(&["create", "--file", scratch.root().join("queue.jsonl").to_str().unwrap()]).data();
    let shared = id(&scratch.el(&["create", "everybody's", "--assignee", "nobody-in-particular"]));
    let told: Mutex<Told> = Mutex::default();
    std::thread::scope(|scope| {
        for n in 0..CROWD {
            let (scratch, told, shared) = (&scratch, &told, &shared);
            scope.spawn(move || {
                let mut rng = Rng::new(seed, n as u64);
                for turn in 0..TURNS {
                    one(scratch, told, shared, &mut rng, n, turn);
                }
            });
        }
    });
    let told = told.into_inner().unwrap();
    let faults = judge(&scratch, &shared, told);
    for fault in &faults {
        println!(
            "VIOLATION of promise 7, crowd --seed {seed}: {fault}\n  kept: {}",
            scratch.root().display()
        );
    }
    scratch.end(!faults.is_empty());
    faults.len()
}

fn id(ran: &Ran) -> String {
    ran.data()["id"].as_str().unwrap().to_owned()
}

/// A turn of a caller.
fn one(scratch: &Scratch, told: &Mutex<Told>, shared: &str, rng: &mut Rng, n: usize, turn: usize) {
    let me = format!("p{n}");
    let el = |arguments: &[&str]| -> Option<Value> {
        let ran = scratch.el(&[&["--actor", &me][..], arguments].concat());
        let fine =
            ran.status == 0 && !ran.stderr.contains("locked") && !ran.stderr.contains("busy");
        if !fine {
            told.lock().unwrap().faults.push(format!("el {arguments:?}: {ran:?}"));
        }
        fine.then(|| ran.data())
    };
    let text = |value: &Value| value["id"].as_str().map(str::to_owned);
    // Assigned to others, so that the queue stays the same.
    if let Some(made) =
        el(&["create", &format!("by {me} {turn}"), "--assignee", "nobody-in-particular"])
    {
        told.lock().unwrap().created.push(text(&made).unwrap());
    }
    if let Some(won) = el(&["next", "--claim"]).as_ref().and_then(text) {
        told.lock().unwrap().claimed.push((won.clone(), me.clone()));
        if rng.chance(60) && el(&["close", &won, "--reason", &me]).is_some() {
            told.lock().unwrap().closed.push(won);
        }
    }
    let (label, comment) = (format!("l-{n}"), format!("c-{n}-{turn}"));
    // An atom takes fifty labels.
    if turn == 0 && el(&["update", shared, "--label", &label]).is_some() {
        told.lock().unwrap().labels.push(label);
    }
    if el(&["update", shared, "--metadata", &format!("{{\"m{n}\":{turn}}}")]).is_some()
        && el(&["comment", "add", shared, &comment]).is_some()
    {
        told.lock().unwrap().comments.push(comment);
    }
}

/// Compares the callers' answers with the tracker's state.
fn judge(scratch: &Scratch, shared: &str, told: Told) -> Vec<String> {
    let mut faults = told.faults;
    let db = scratch.place.open();
    let atoms: HashMap<String, String> = db.atoms().into_iter().collect();
    let events = db.events();
    let mut missing = |what: &str, is_there: bool| {
        if !is_there {
            faults.push(format!("lost: {what}"));
        }
    };
    for created in &told.created {
        missing(created, atoms.contains_key(created));
    }
    for closed in &told.closed {
        missing(
            &format!("the close of {closed}"),
            atoms.get(closed).is_some_and(|status| status == "closed"),
        );
    }
    for comment in &told.comments {
        missing(comment, db.has_comment(comment));
    }
    let everybodys = scratch.el(&["show", shared]).data();
    for label in &told.labels {
        missing(
            &format!("the label {label}"),
            everybodys["labels"].as_array().unwrap().contains(&Value::from(label.as_str())),
        );
    }
    for n in 0..CROWD {
        missing(&format!("the key m{n}"), everybodys["metadata"][format!("m{n}")] == TURNS - 1);
    }
    let mut winners: HashMap<&str, &str> = HashMap::new();
    for (atom, who) in &told.claimed {
        if let Some(other) = winners.insert(atom, who) {
            faults.push(format!("{atom} was won by {other} and by {who}"));
        }
        let claims =
            events.iter().filter(|event| event.atom == *atom && event.kind == "claimed").count();
        if claims != 1 {
            faults.push(format!("{atom} has {claims} events of a claim"));
        }
    }
    if winners.len() != QUEUE.min(CROWD * TURNS) {
        faults.push(format!("{} of {QUEUE} were won", winners.len()));
    }
    let doctor = scratch.el(&["doctor"]);
    if doctor.status != 0 || doctor.data()["count"] != 0 {
        faults.push(format!("el doctor: {doctor:?}"));
    }
    faults
}
