//! Waits for what a server tells, on a connection of its own that asks nothing meanwhile.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use postgres::Client;
use postgres::fallible_iterator::FallibleIterator as _;

use super::link::Opening;
use super::postgres::Server;
use super::waiting::ListenState;
use crate::model::fresh_token;

/// How often the thread looks whether anybody still wants to be told.
const LOOK: Duration = Duration::from_secs(1);
/// How long the message of a test is waited for.
const TEST: Duration = Duration::from_secs(5);
/// The wait before a lost connection is made anew: the first, and the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LAST_WAIT: Duration = Duration::from_secs(60);

impl Server {
    /// Tells of each message on the channel, from a thread of its own, until nobody listens.
    pub(super) fn listen(&self, channel: &'static str, state: Arc<ListenState>) {
        let opening = self.opening().clone();
        let work = move || {
            let mut wait = FIRST_WAIT;
            while !state.is_over() {
                let ended = receive_messages(&opening, channel, &state);
                // Changes since then are not known: whoever waits has to look.
                if state.set_connected(false) {
                    wait = FIRST_WAIT;
                    state.tell_of_news();
                }
                // A pooler that hands the connection around stays what it is.
                if let Ok(End::Unheard) = ended {
                    wait = LAST_WAIT;
                }
                let naps = wait.as_secs() / LOOK.as_secs();
                (0..naps).take_while(|_| !state.is_over()).for_each(|_| thread::sleep(LOOK));
                wait = (wait * 2).min(LAST_WAIT);
            }
        };
        // Without a thread nothing is heard, and whoever waits looks.
        drop(thread::Builder::new().name("el-listen".to_owned()).spawn(work));
    }
}

/// Why a connection is no longer listened to.
enum End {
    Over,
    Lost,
    /// The messages of others do not come: a pooler is between.
    Unheard,
}

fn receive_messages(
    opening: &Opening,
    channel: &str,
    state: &ListenState,
) -> Result<End, postgres::Error> {
    let mut client = opening.clone().connect()?;
    let channel: String =
        client.query_typed_one("SELECT channel_of($1)", &[(&channel, TEXT)])?.try_get(0)?;
    let test = format!("el_test_{}", fresh_token());
    client.batch_execute(&format!("LISTEN {channel}; LISTEN {test}"))?;
    if !is_reached(&mut client, opening, &test)? {
        return Ok(End::Unheard);
    }
    state.set_connected(true);
    // Earlier changes count as well.
    state.tell_of_news();
    loop {
        let told = client.notifications().timeout_iter(LOOK).next()?;
        match told {
            _ if state.is_over() => return Ok(End::Over),
            Some(_) => state.tell_of_news(),
            None if client.is_closed() => return Ok(End::Lost),
            None => {}
        }
    }
}

const TEXT: postgres::types::Type = postgres::types::Type::TEXT;

/// Sends a message by another connection. A pooler that gives a connection to one transaction after
/// another takes the LISTEN without an error, and then brings nothing.
fn is_reached(client: &mut Client, opening: &Opening, test: &str) -> Result<bool, postgres::Error> {
    let mut other = opening.clone().connect()?;
    other.query_typed("SELECT pg_notify($1, '')", &[(&test, TEXT)])?;
    let mut notifications = client.notifications();
    let mut told = notifications.timeout_iter(TEST);
    while let Some(message) = told.next()? {
        if message.channel() == test {
            return Ok(true);
        }
    }
    Ok(false)
}
