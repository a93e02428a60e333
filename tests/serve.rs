//! `el serve`, asked over plain sockets: as a browser asks, and as an attacker does.

mod addresses;
mod browser;
mod changes;
mod client;
mod crowds;
mod keyboard;
mod stream;
mod walls;

use client::{Answer, Board};
