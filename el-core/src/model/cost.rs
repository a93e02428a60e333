//! The cost of runs.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An amount of money, in millionths of a US dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// The whole cost.
    pub cost_micros: i64,
    /// The part that no result of an agent has reported: estimated from the tokens.
    pub estimated_micros: i64,
}

impl Cost {
    /// A cost that an agent reported.
    pub const fn reported(cost_micros: i64) -> Cost {
        Cost { cost_micros, estimated_micros: 0 }
    }

    /// The part that agents reported.
    pub const fn reported_micros(self) -> i64 {
        self.cost_micros.saturating_sub(self.estimated_micros)
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
            estimated_micros: self.estimated_micros.saturating_add(other.estimated_micros),
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        *self = *self + other;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(costs: I) -> Cost {
        costs.fold(Cost::default(), Add::add)
    }
}
