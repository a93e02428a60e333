//! `el work` with the scripted agent: behaviour that the real client cannot be made to show, and
//! interference by people and machines.

mod account;
mod background;
mod claims;
mod configuration;
mod containers;
mod endings;
mod environment;
mod estimates;
mod failures;
mod full_disk;
mod hostile;
mod kills;
mod limits;
mod long_night;
mod modes;
mod night;
mod output;
mod owners;
mod people;
mod placement;
mod policy;
mod processes;
mod resources;
mod rounds;
mod run_options;
mod service;
mod session_socket;
mod sessions;
mod signals;
mod trust;
mod views;
mod workers;
