//! Implements fractions in the textbook way.

use std::cmp::Ordering;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    over: i128,
    under: i128,
}

fn common(one: i128, other: i128) -> i128 {
    if other == 0 { one.abs().max(1) } else { common(other, one % other) }
}

impl Fraction {
    pub fn new(over: i128, under: i128) -> Fraction {
        assert!(under > 0);
        let by = common(over, under);
        Fraction { over: over / by, under: under / by }
    }

    pub fn whole(number: i128) -> Fraction {
        Fraction::new(number, 1)
    }

    pub fn times(self, over: i128, under: i128) -> Fraction {
        Fraction::new(self.over * over, self.under * under)
    }

    pub fn by(self, other: Fraction) -> Fraction {
        self.times(other.over, other.under)
    }

    pub fn minus(self, other: Fraction) -> Fraction {
        Fraction::new(self.over * other.under - other.over * self.under, self.under * other.under)
    }

    pub fn plus(self, other: Fraction) -> Fraction {
        Fraction::new(self.over * other.under + other.over * self.under, self.under * other.under)
    }

    pub fn divided(self, other: Fraction) -> Fraction {
        assert!(other.over > 0);
        self.times(other.under, other.over)
    }

    pub fn floor(self) -> i128 {
        self.over.div_euclid(self.under)
    }

    /// Rounds half up (section 1.3).
    pub fn rounded(self) -> i128 {
        (2 * self.over + self.under).div_euclid(2 * self.under)
    }

    pub fn is_positive(self) -> bool {
        self.over > 0
    }

    /// A number as JSON writes it, digit by digit.
    pub fn read(text: &str) -> Option<Fraction> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let under = 10_i128.pow(u32::try_from(part.len()).ok()?);
        Some(Fraction::new(format!("{whole}{part}").parse().ok()?, under))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Fraction) -> Ordering {
        (self.over * other.under).cmp(&(other.over * self.under))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Fraction) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
