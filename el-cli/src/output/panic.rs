//! Reports a bug in `el` in a sentence: to robots in the envelope, and with a backtrace only on
//! request.

use std::backtrace::Backtrace;
use std::io::Write as _;
use std::panic::PanicHookInfo;

use super::robot;
use crate::CommandError;

/// From here on a panic ends the process with the code for internal errors.
pub(crate) fn install_hook(robot: bool, debug: bool) {
    let debug = debug
        || std::env::var_os("EL_DEBUG").is_some_and(|value| !value.is_empty() && value != "0");
    std::panic::set_hook(Box::new(move |info| {
        report_panic(info, robot, debug);
        crate::session::end_call(crate::exit::Exit::Internal);
        #[expect(
            clippy::exit,
            reason = "the profile for releases aborts on panic, which would be a signal and not an \
                      exit code"
        )]
        std::process::exit(crate::exit::Exit::Internal.code().into());
    }));
}

fn report_panic(info: &PanicHookInfo<'_>, robot: bool, debug: bool) {
    let payload = info.payload();
    let what = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("panic");
    let place = info
        .location()
        .map(|location| format!("{}:{}", location.file(), location.line()))
        .unwrap_or_default();
    let error = CommandError::internal_error(format!("el has a bug: {what}"))
        .with_detail("place", place.as_str())
        .with_hint(
            "nothing was half-written; please report it with the output of the same command \
             under EL_DEBUG=1",
        );
    // The streams may be closed, or locked by a print of this very thread: never panic or wait
    // here.
    if robot {
        let _ = std::io::stdout().write_all(&robot::failure_document(&error));
    } else {
        let _ = writeln!(
            std::io::stderr(),
            "error: {error} ({place})\nhint: {}",
            error.hints().join("; ")
        );
    }
    if debug {
        let _ = writeln!(std::io::stderr(), "{}", Backtrace::force_capture());
    }
}
