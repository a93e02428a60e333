//! The facts that must hold once a round is at rest.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::db::{Db, EventRow, RunRow};
use crate::procs::{Proc, scan};
use crate::rng::Rng;
use crate::round::Round;
use crate::strikes::late_close;

pub(crate) fn verify(round: &Round, rng: &mut Rng) {
    for _ in 0..2 {
        if late_close(round, rng) {
            round.count("late closes by the harness, all refused");
        }
    }
    let db = round.scratch.place.open();
    let (events, runs) = (db.events(), db.runs());
    for (atom, status) in db.atoms() {
        if status == "in_progress" {
            round.violation(3, &atom, "still in progress at the end");
        }
        round.count(&format!("atoms that ended as {status}"));
        let of_atom: Vec<&EventRow> = events.iter().filter(|event| event.atom == atom).collect();
        let runs: Vec<&RunRow> = runs.iter().filter(|run| run.atom == atom).collect();
        if let Err(what) = story(&of_atom, &runs, &status) {
            round.violation(if what.starts_with("late") { 2 } else { 4 }, &atom, &what);
        }
    }
    for run in &runs {
        round.count(&format!("runs that ended as {}", run.outcome.as_deref().unwrap_or("nothing")));
    }
    for line in round.scratch.log("sessions").iter().filter(|line| line.len() == 4) {
        // A look at the processes can miss an agent that lived for a moment after the end of its
        // run; its greeting shows the agent.
        let ended = runs.iter().find(|run| run.id == line[0]).and_then(|run| run.ended_at);
        if let (Some(ended), Ok(greeted)) = (ended, line[3].parse::<i64>())
            && greeted > ended
        {
            round.violation(
                3,
                &line[1],
                &format!(
                    "the agent of {} works {} µs after the end of its run",
                    line[0],
                    greeted - ended
                ),
            );
        }
    }
    committed(round, &db, &events);
    leftovers(round);
    let doctor = round.scratch.el(&["doctor"]);
    if doctor.status != 0 {
        round.violation(3, "", &format!("el doctor: {doctor:?}"));
    }
}

/// Reads an atom's events as a story. Returns the faults.
pub(crate) fn story(events: &[&EventRow], runs: &[&RunRow], status: &str) -> Result<(), String> {
    let mut now = "";
    let mut set_by: Option<&str> = None;
    let mut live: Option<&str> = None;
    let mut ended: HashMap<&str, (i64, &str)> = HashMap::new();
    let mut attempts = 0;
    for event in events {
        let text = |key: &str| event.data[key].as_str().unwrap_or_default();
        let run = event.run.as_deref();
        // Events of the settling under the run's name belong to the settling; all others come from
        // a session.
        let is_settling = |run: &str| ended.get(run).is_some_and(|(at, _)| *at == event.at);
        if let Some(run) =
            run.filter(|run| live != Some(*run) && event.kind != "run_started" && !is_settling(run))
        {
            return Err(format!("late: {run} was not live when it wrote event {}", event.seq));
        }
        match event.kind.as_str() {
            "created" => now = "open",
            "status" => {
                if text("from") != now {
                    return Err(format!(
                        "event {} begins from {}, and the atom was {now}",
                        event.seq,
                        text("from")
                    ));
                }
                (now, set_by) = (event.data["to"].as_str().unwrap_or_default(), run);
            }
            "run_started" => {
                attempts += 1;
                if live.is_some() || now != "in_progress" || event.data["attempt"] != attempts {
                    return Err(format!(
                        "run_started at event {}: live {live:?}, status {now}, attempts {attempts}",
                        event.seq
                    ));
                }
                live = run;
            }
            "run_ended" => {
                let (Some(ending), Some(alive)) = (run, live) else {
                    return Err(format!("run_ended at event {} without a live run", event.seq));
                };
                let outcome = text("outcome");
                let fits = match now {
                    "in_progress" => {
                        matches!(
                            outcome,
                            "failed"
                                | "violation"
                                | "timed_out"
                                | "stalled"
                                | "lost"
                                | "interrupted"
                                | "outage"
                                | "launch_failed"
                                | "cancelled"
                        )
                    }
                    said if set_by == Some(alive) => outcome == said,
                    _ => outcome == "superseded",
                };
                if ending != alive || !fits {
                    return Err(format!(
                        "{ending} ended as {outcome}, and its atom was {now}, set by {set_by:?}"
                    ));
                }
                ended
                    .insert(ending, (event.at, event.data["outcome"].as_str().unwrap_or_default()));
                live = None;
            }
            _ => {}
        }
    }
    if live.is_some() || now != status {
        return Err(format!(
            "the story ends with {live:?} live and {now}, and the atom is {status}"
        ));
    }
    for (run, number) in runs.iter().zip(1..) {
        let told = ended.get(run.id.as_str()).map(|(_, outcome)| *outcome);
        if run.attempt != number || run.outcome.as_deref() != told {
            return Err(format!(
                "{run:?} is number {number}, and its events say that it ended as {told:?}"
            ));
        }
    }
    if runs.len() != ended.len() {
        Err(format!("{} runs, {} ends", runs.len(), ended.len()))
    } else {
        Ok(())
    }
}

/// Asserts that every reported success is in the tracker.
fn committed(round: &Round, db: &Db, events: &[EventRow]) {
    for line in round.scratch.log("notes") {
        round.count("comments that el said were written");
        if !db.has_comment(&line[0]) {
            round.violation(3, "", &format!("the comment {} is lost", line[0]));
        }
    }
    for line in round.scratch.log("exits") {
        let [run, what, code] = &line[..] else { continue };
        round.count(&format!("{what} by an agent: exit {code}"));
        let of_run = |event: &&EventRow| event.run.as_ref() == Some(run) && event.kind == "status";
        let to = if matches!(what.as_str(), "close" | "late") { "closed" } else { what };
        // The atom may have been closed already: by the torn close, or by a person.
        let changed = events.iter().filter(of_run).any(|event| event.data["to"] == to);
        let atom = events
            .iter()
            .find(|event| event.run.as_ref() == Some(run))
            .map(|event| event.atom.clone())
            .unwrap_or_default();
        let by_person = events.iter().any(|e| {
            e.atom == atom && e.kind == "status" && e.actor == "ann" && e.data["to"] == to
        });
        match code.as_str() {
            "0" if !changed && !by_person => {
                round.violation(
                    3,
                    &atom,
                    &format!("{run} was told that its {what} was done, and no event says so"),
                );
            }
            // 137: killed by the harness. 5: the run was over. 4: a person had decided otherwise.
            "0" | "4" | "5" | "137" => {}
            // The worker ended the answering process first, and the agent just after.
            "1" if !changed && is_lost(events, run) => {}
            _ => round.violation(0, &atom, &format!("{run}: {what} ended with {code}")),
        }
    }
}

/// Returns true if a run was settled after its supervisor had died, and all its processes ended.
fn is_lost(events: &[EventRow], run: &str) -> bool {
    let is_end = |event: &&EventRow| event.kind == "run_ended" && event.run.as_deref() == Some(run);
    events.iter().filter(is_end).any(|event| event.data["outcome"] == "lost")
}

fn leftovers(round: &Round) {
    // The last worker lets the server go, and the last supervisor needs a moment to say goodbye.
    let end = Instant::now() + Duration::from_secs(6);
    loop {
        let left: Vec<_> = scan(&round.scratch.marks).into_iter().filter(|p| !p.late).collect();
        if left.is_empty() {
            break;
        }
        if Instant::now() > end
            && round.counted("strike DeleteSocket") > 0
            && left.iter().all(Proc::is_tmux_server)
        {
            // A socket deleted during a launch can leave an unreachable server without a session.
            round.count("tmux servers left without socket and session (a known limit)");
            break;
        }
        if Instant::now() > end {
            let lines: Vec<String> = left.iter().map(|process| process.line()).collect();
            round.violation(3, "", &format!("left running: {lines:#?}"));
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    for stray in round.scratch.strays() {
        let run = stray.run.clone().unwrap_or_default();
        if round.orphaned.lock().unwrap().contains(&run) {
            round.count("strays without a mark whose supervisor was killed (a known limit)");
        } else {
            round.violation(
                3,
                "",
                &format!(
                    "{run} is settled, and a process without its mark lives: {}",
                    stray.line()
                ),
            );
        }
        stray.signal(Signal::KILL);
    }
    let runs = fs::read_dir(round.scratch.state().join("runs")).into_iter().flatten().flatten();
    for folder in runs.map(|entry| entry.path()).filter(|path| path.join("env.json").exists()) {
        round.violation(
            0,
            "",
            &format!("the environment of a settled run is still on the disk: {}", folder.display()),
        );
    }
    let contexts =
        fs::read_dir(round.scratch.state().join("agent-context")).into_iter().flatten().count();
    if contexts > 0 {
        round.violation(0, "", &format!("{contexts} context file(s) left"));
    }
}
