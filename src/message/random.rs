//! Random numbers from a seed: the same seed gives the same run, on any machine and with any
//! version of this crate.

/// SplitMix64 (Steele, Lea and Flood 2014): a counter and a mixing function.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1.
    #[inline]
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 0 to below the limit. The bias is below limit / 2⁶⁴.
    #[inline]
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// An exponentially distributed time, with this mean: between two events of a Poisson process.
    #[inline]
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.fraction()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        let first = [random.next(), random.next(), random.next()];
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn means_are_as_asked() {
        let mut random = Random::new(1);
        let draws = 100_000;
        let mean = |total: f64| total / f64::from(draws);
        assert!((mean((0..draws).map(|_| random.fraction()).sum()) - 0.5).abs() < 0.01);
        assert!((mean((0..draws).map(|_| random.exponential(2.0)).sum()) - 2.0).abs() < 0.05);
        let mut hits = [0_i32; 3];
        (0..draws).for_each(|_| hits[random.below(3)] += 1);
        assert!(hits.iter().all(|&hits| (hits - draws / 3).abs() < draws / 100));
    }
}
