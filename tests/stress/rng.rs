//! Seeded chance: splitmix64, the same on every machine.

#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64, stream: u64) -> Rng {
        let mut rng = Rng(seed ^ stream.wrapping_mul(0xA24B_AED4_963E_E407));
        rng.next();
        rng
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, without `high`.
    pub(crate) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low).max(1)
    }

    /// True `percent` times in a hundred.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.range(0, 100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        if among.is_empty() {
            return None;
        }
        let at = usize::try_from(self.range(0, among.len() as u64)).unwrap();
        among.get(at)
    }

    /// Returns an element, with the probability of its weight.
    pub(crate) fn weighted<'a, T>(&mut self, among: &'a [(u64, T)]) -> &'a T {
        let mut left = self.range(0, among.iter().map(|(weight, _)| weight).sum());
        for (weight, item) in among {
            if left < *weight {
                return item;
            }
            left -= weight;
        }
        &among[0].1
    }
}
