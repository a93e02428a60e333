//! The scripts of a round's agents.

use crate::rng::Rng;

/// Tells the harness the session's socket, so that the harness can call it after the run.
const HELLO: &str = "sh R=${EL_SESSION%/session/*}; printf '%s %s %s %s\\n' \"${R##*/}\" \
    \"$EL_ATOM\" \"$EL_SESSION\" \"$(date +%s%6N)\" >> \"$STRESS_LOG/sessions\"";
const CLOSE: &str = "sh el close \"$EL_ATOM\" --reason done; C=$?; R=${EL_SESSION%/session/*}; \
    echo \"${R##*/} close $C\" >> \"$STRESS_LOG/exits\"";
/// A process without any trace of the run, which tries to close the atom after the run is over.
const LATE: &str = "sh setsid env -i PATH=\"$PATH\" \"STRESS_MARK=$STRESS_MARK\" STRESS_LATE=1 sh \
    -c \"sleep DELAY; EL_SESSION=$EL_SESSION el close $EL_ATOM --reason late; \
    echo $(basename ${EL_SESSION%/session/*}) late \\$? >> $STRESS_LOG/exits\" >/dev/null 2>&1 \
    </dev/null &";
/// A process that keeps starting others, and restarts itself.
const BREEDER: &str = "sh setsid sh -c 'while :; do (setsid sleep 0.3 &) ; sleep 0.05; done' \
    >/dev/null 2>&1 </dev/null &";

/// The behaviour of an atom's agent.
#[derive(Debug, Clone)]
pub(crate) struct Plot {
    pub(crate) kind: &'static str,
    pub(crate) description: String,
}

const KINDS: &[(u64, &str)] = &[
    (14, "quick"),
    (8, "slow"),
    (8, "notes"),
    (5, "defer"),
    (4, "wont_do"),
    (3, "discard"),
    (3, "report"),
    (6, "forget"),
    (4, "never"),
    (4, "hang"),
    (6, "deaf"),
    (10, "brood"),
    (8, "late"),
    (6, "linger"),
    (8, "torn"),
    (5, "crash"),
    (4, "exit"),
    (3, "api-error"),
    (3, "spam"),
    (4, "breeder"),
    (5, "busy"),
];

pub(crate) fn plot(rng: &mut Rng, only: Option<&str>) -> Plot {
    let kind = *rng.weighted(KINDS);
    let kind = KINDS.iter().find(|(_, kind)| Some(*kind) == only).map_or(kind, |(_, only)| *only);
    let mut steps: Vec<String> = vec![HELLO.to_owned()];
    let mut add = |step: &str| steps.push(step.to_owned());
    let mut ends_first = false;
    match kind {
        "quick" => add(&format!("sleep {}", rng.range(0, 400))),
        "slow" => add(&format!("sleep {}", rng.range(500, 2500))),
        "notes" => {
            for n in 0..3 {
                add(&format!(
                    "sh R=${{EL_SESSION%/session/*}}; N=note-${{R##*/}}-{n}; \
                     el comment add \"$EL_ATOM\" $N > /dev/null && \
                     echo $N >> \"$STRESS_LOG/notes\""
                ));
                add(&format!("sleep {}", rng.range(0, 300)));
            }
        }
        "defer" | "wont_do" | "discard" | "report" => {
            let to = match kind {
                "defer" => "deferred",
                "report" => rng.pick(&["review", "blocked", "testing"]).unwrap(),
                other => other,
            };
            add(&format!(
                "sh el update \"$EL_ATOM\" --status {to}; C=$?; \
                 echo \"$(basename ${{EL_SESSION%/session/*}}) {to} $C\" \
                 >> \"$STRESS_LOG/exits\""
            ));
            ends_first = true;
        }
        // Sent back by the Stop hook in vain, then resumed: a resumed agent says hello and closes.
        "forget" => {
            add("say I think that is all");
            ends_first = true;
        }
        "never" => {
            add("no-stop-hook");
            add("say I am done");
            add("on-resume");
            add("say I am still done");
            ends_first = true;
        }
        "hang" => {
            add("hang");
            ends_first = true;
        }
        "deaf" => {
            add("ignore-signals");
            add("child 60 setsid ignore-signals");
            ends_first = rng.chance(50);
            add(if ends_first { "hang" } else { "sleep 1500" });
        }
        "brood" => {
            add("child 60 setsid");
            add("child 60 double-fork setsid ignore-signals");
            add("child 60 hold-stdout");
            add("child 60 clean-env setsid pid=$STRESS_LOG/stray-$EL_ATOM");
            add(&format!("sleep {}", rng.range(0, 1500)));
        }
        "late" => {
            add("child 2 setsid close");
            add(&LATE.replace("DELAY", &rng.range(1, 9).to_string()));
            add(&format!("sleep {}", rng.range(0, 1500)));
        }
        // The agent kills its own `el close` while it writes, and closes once more.
        "torn" => add(&format!(
            r#"sh el close "$EL_ATOM" --reason torn & sleep 0.00{}; kill -9 $!"#,
            rng.range(1, 9)
        )),
        "crash" => {
            add(&format!("sleep {}", rng.range(0, 800)));
            add("die KILL");
            ends_first = true;
        }
        "exit" => {
            add("no-stop-hook");
            add(&format!("exit {}", rng.range(0, 4)));
            ends_first = true;
        }
        "api-error" => {
            add("api-error 400");
            ends_first = true;
        }
        "spam" => add("spam 400000"),
        "breeder" => add(BREEDER),
        _ => {}
    }
    if ends_first {
        // From the second attempt on all ends well, so that every round does.
        add("on-attempt 2");
        add(HELLO);
    }
    add(CLOSE);
    match kind {
        "linger" => add("linger 5"),
        "busy" => add("sh sleep 2"),
        _ => {}
    }
    Plot { kind, description: steps.iter().map(|step| format!("script: {step}\n")).collect() }
}
