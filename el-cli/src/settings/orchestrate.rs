//! Settings of a plan.

use std::time::Duration;

use el_core::ops::PlanSettings;

use super::value::Value;
use super::{Origin, Settings, WorkSettings};
use crate::Result;

/// The default number of parallel sessions: the parts of a plan are meant to run together.
const CONCURRENCY: u32 = 3;

impl Settings {
    /// The settings of a worker that drives a plan.
    pub(crate) fn work_on_plan(&self) -> Result<WorkSettings> {
        let mut work = self.work_settings()?;
        if self.value_origin("concurrency")? == Origin::Default {
            work.concurrency = CONCURRENCY;
        }
        Ok(work)
    }

    /// The settings of a new plan.
    pub(crate) fn plan_settings(&self) -> Result<PlanSettings> {
        let int = |name| -> Result<u32> { Ok(self.optional_int(name, None)?.unwrap_or_default()) };
        Ok(PlanSettings {
            asks_again: int("orchestrate_asks_again")?,
            tasks_max: usize::try_from(int("orchestrate_max_tasks")?).unwrap_or(usize::MAX),
            depth_max: int("orchestrate_max_depth")?,
            time_s: self.optional_time("orchestrate_timeout", None)?.map(|limit| limit.as_secs()),
            check: self.command_words("orchestrate_check", None)?,
            check_rounds: int("orchestrate_check_rounds")?,
            progress: self.value("orchestrate_progress", None)? == Value::Bool(true),
            ..PlanSettings::default()
        })
    }

    /// The time limit of the check at the end.
    pub(crate) fn whole_check_limit(&self) -> Result<Duration> {
        Ok(self.optional_time("orchestrate_check_timeout", None)?.unwrap_or_default())
    }
}
