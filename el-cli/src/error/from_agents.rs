//! What each failure of the worker's machinery means on the command line.

use el_agents::check::ConfigurationError;

use super::CommandError;

impl From<ConfigurationError> for CommandError {
    fn from(error: ConfigurationError) -> CommandError {
        CommandError::config(error.field, error.message).with_hint(error.hint)
    }
}
