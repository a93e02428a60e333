//! `el serve`, asked over plain sockets: as a browser asks, and as an attacker does.

mod browser;
mod changes;
mod client;
mod stream;
mod walls;

use client::{Answer, Board};
