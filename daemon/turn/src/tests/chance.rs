//! Repeatable random choices: a seed gives the same choices on every machine.

/// A small random generator (splitmix64), only for choices in tests.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `count`; 0 if `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count.max(1)).expect("counts are small");
        usize::try_from(self.next() % count).expect("it is below a usize")
    }

    /// True once in `times` on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    /// Removes a random item from a list, if it has one.
    pub fn take<T>(&mut self, from: &mut Vec<T>) -> Option<T> {
        (!from.is_empty()).then(|| from.remove(self.below(from.len())))
    }

    /// Uniform in 0..1.
    pub fn part(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).expect("32 bits are left")) / 4_294_967_296.0
    }
}
