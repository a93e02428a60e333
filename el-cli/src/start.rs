//! The start of the process where the C library hands the arguments to all that ask for them.
//!
//! Rust's own start reads the memory map of the process, for a message about a full stack: a third
//! of the system calls of `el --version`. The rest of what it does is here: the three streams are
//! open, so no file gets their numbers, and a closed pipe is an error and no signal.

use std::ffi::c_int;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::fd::IntoRawFd as _;
use std::process;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use rustix::stdio;

/// The C library's word for no action.
const IGNORED: usize = 1;

#[expect(unsafe_code, reason = "rustix sets no signals' actions")]
unsafe extern "C" {
    fn signal(number: c_int, action: usize) -> usize;
}

#[expect(unsafe_code, reason = "the C library calls this name")]
#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    open_streams();
    // SAFETY: this process has one thread yet, and the signal gets no function of ours.
    unsafe { signal(Signal::PIPE.as_raw(), IGNORED) };
    let code = crate::run_program();
    // Rust's own end would write out what its stream still holds.
    let _ = io::stdout().flush();
    code.into()
}

/// Opens each of the three streams that the caller has closed.
fn open_streams() {
    let look = PollFlags::empty();
    let mut streams = [stdio::stdin(), stdio::stdout(), stdio::stderr()]
        .map(|stream| PollFd::from_borrowed_fd(stream, look));
    let is_told = poll(&mut streams, Some(&Timespec::default())).is_ok();
    for stream in streams {
        if is_told && stream.revents().contains(PollFlags::NVAL) {
            // The lowest free number is that of the stream.
            match OpenOptions::new().read(true).write(true).open("/dev/null") {
                Ok(nothing) => drop(nothing.into_raw_fd()),
                Err(_) => process::abort(),
            }
        }
    }
}
