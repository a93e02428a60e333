//! The prices of models, for the cost of calls that end without a result.

/// Billionths of a dollar for each token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Price {
    pub(super) input: u64,
    pub(super) output: u64,
}

/// Families of models, by a part of the model's id; the first that fits counts. The prices are the
/// list prices of 2026 for the API.
const PRICES: [(&str, Price); 9] = [
    ("opus-4-1", Price { input: 15_000, output: 75_000 }),
    ("opus-4-0", Price { input: 15_000, output: 75_000 }),
    ("opus-4-2025", Price { input: 15_000, output: 75_000 }),
    ("3-opus", Price { input: 15_000, output: 75_000 }),
    ("opus", Price { input: 5_000, output: 25_000 }),
    ("sonnet", Price { input: 3_000, output: 15_000 }),
    ("3-5-haiku", Price { input: 800, output: 4_000 }),
    ("3-haiku", Price { input: 250, output: 1_250 }),
    ("haiku", Price { input: 1_000, output: 5_000 }),
];

/// Returns the price of a model; `None` if the model is unknown.
pub(super) fn price_of(model: &str) -> Option<Price> {
    let known = PRICES.iter().find(|(part, _)| model.contains(part));
    known.map(|(_, price)| *price)
}

impl Price {
    /// Estimates a cost in millionths of a dollar. Reading from the cache costs a tenth, and
    /// writing into the cache a quarter more.
    pub(super) fn estimate(
        self,
        input: u64,
        cache_read: u64,
        cache_write: u64,
        output: u64,
    ) -> u64 {
        let read = (cache_read / 10).saturating_add(cache_write.saturating_mul(5) / 4);
        let input = self.input.saturating_mul(input.saturating_add(read));
        input.saturating_add(self.output.saturating_mul(output)) / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_that_of_the_models_family() {
        let cost = |model| price_of(model).map(|price| price.estimate(200, 100, 80, 40));
        assert_eq!(cost("claude-opus-4-8[1m]"), Some(2_550));
        assert_eq!(cost("us.anthropic.claude-opus-4-1-20250805-v1:0"), Some(7_650));
        assert_eq!(cost("claude-sonnet-5"), Some(1_530));
        assert_eq!(cost("claude-haiku-4-5-20251001"), Some(510));
        assert_eq!(cost("<synthetic>"), None);
        assert_eq!(
            price_of("x-opus").map(|price| price.estimate(u64::MAX, 9, 9, 9)),
            Some(u64::MAX / 1_000)
        );
    }
}
