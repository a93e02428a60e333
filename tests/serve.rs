//! `el serve`, asked over plain sockets: as a browser asks, and as an attacker does.

mod addresses;
mod browser;
mod changes;
mod client;
mod crowds;
mod keyboard;
mod stream;
mod walls;

use client::Answer;
pub(crate) use client::Board;
pub(crate) use stream::Listener;
