//! Implements a slow second model of fractions: integers of any length that are never shortened. It shares no code with the engine's
//! arithmetic.

use std::cmp::Ordering;

/// An integer: its sign and its digits of 32 bits, lowest first, without zeros at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Big {
    negative: bool,
    digits: Vec<u32>,
}

impl Big {
    pub fn of(number: i128) -> Big {
        let mut left = number.unsigned_abs();
        let mut digits = Vec::new();
        while left > 0 {
            digits.push((left & 0xffff_ffff) as u32);
            left >>= 32;
        }
        Big { negative: number < 0, digits }
    }

    fn new(negative: bool, mut digits: Vec<u32>) -> Big {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Big { negative: negative && !digits.is_empty(), digits }
    }

    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Returns an upper bound of the number of bits.
    pub fn bits(&self) -> usize {
        self.digits.len() * 32
    }

    pub fn negated(&self) -> Big {
        Big::new(!self.negative, self.digits.clone())
    }

    fn compare_sizes(&self, other: &Big) -> Ordering {
        let lengths = self.digits.len().cmp(&other.digits.len());
        lengths.then_with(|| self.digits.iter().rev().cmp(other.digits.iter().rev()))
    }

    pub fn compare(&self, other: &Big) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_sizes(other),
            (true, true) => other.compare_sizes(self),
        }
    }

    pub fn plus(&self, other: &Big) -> Big {
        if self.negative == other.negative {
            let (mut digits, mut carry) = (Vec::new(), 0_u64);
            for position in 0..self.digits.len().max(other.digits.len()) {
                let digit = |big: &Big| u64::from(big.digits.get(position).copied().unwrap_or(0));
                carry += digit(self) + digit(other);
                digits.push(carry as u32);
                carry >>= 32;
            }
            digits.push(carry as u32);
            return Big::new(self.negative, digits);
        }
        let (large, small) = if self.compare_sizes(other).is_ge() { (self, other) } else { (other, self) };
        let (mut digits, mut borrow) = (Vec::new(), 0_i64);
        for position in 0..large.digits.len() {
            let digit = |big: &Big| i64::from(big.digits.get(position).copied().unwrap_or(0));
            let difference = digit(large) - digit(small) - borrow;
            borrow = i64::from(difference < 0);
            digits.push((difference + (borrow << 32)) as u32);
        }
        Big::new(large.negative, digits)
    }

    pub fn times(&self, other: &Big) -> Big {
        let mut digits = vec![0_u32; self.digits.len() + other.digits.len() + 1];
        for (position, digit) in self.digits.iter().enumerate() {
            let mut carry = 0_u64;
            for (offset, other_digit) in other.digits.iter().enumerate() {
                carry += u64::from(digits[position + offset]) + u64::from(*digit) * u64::from(*other_digit);
                digits[position + offset] = carry as u32;
                carry >>= 32;
            }
            digits[position + other.digits.len()] = carry as u32;
        }
        Big::new(self.negative != other.negative, digits)
    }
}

/// A fraction with a divisor above 0.
#[derive(Debug, Clone)]
pub struct Fraction {
    pub top: Big,
    pub bottom: Big,
}

impl Fraction {
    pub fn new(top: Big, bottom: Big) -> Option<Fraction> {
        if bottom.is_zero() {
            return None;
        }
        let turned = bottom.negative;
        let (top, bottom) = if turned { (top.negated(), bottom.negated()) } else { (top, bottom) };
        Some(Fraction { top, bottom })
    }

    pub fn integer(number: i128) -> Fraction {
        Fraction { top: Big::of(number), bottom: Big::of(1) }
    }

    /// Reads `-12.5` and `1/3`.
    pub fn read(text: &str) -> Fraction {
        let ten = Big::of(10);
        let integer = |digits: &str| {
            let plain = digits.trim_start_matches('-');
            let add = |sum: Big, digit: char| sum.times(&ten).plus(&Big::of(i128::from(digit.to_digit(10).unwrap())));
            let big = plain.chars().fold(Big::of(0), add);
            if plain.len() < digits.len() { big.negated() } else { big }
        };
        if let Some((top, bottom)) = text.split_once('/') {
            return Fraction { top: integer(top), bottom: integer(bottom) };
        }
        let positions = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let bottom = (0..positions).fold(Big::of(1), |power, _| power.times(&ten));
        Fraction { top: integer(&text.replace('.', "")), bottom }
    }

    pub fn plus(&self, other: &Fraction) -> Fraction {
        let top = self.top.times(&other.bottom).plus(&other.top.times(&self.bottom));
        Fraction { top, bottom: self.bottom.times(&other.bottom) }
    }

    pub fn minus(&self, other: &Fraction) -> Fraction {
        self.plus(&Fraction { top: other.top.negated(), bottom: other.bottom.clone() })
    }

    pub fn times(&self, other: &Fraction) -> Fraction {
        Fraction { top: self.top.times(&other.top), bottom: self.bottom.times(&other.bottom) }
    }

    pub fn divided_by(&self, other: &Fraction) -> Option<Fraction> {
        Fraction::new(self.top.times(&other.bottom), self.bottom.times(&other.top))
    }

    pub fn compare(&self, other: &Fraction) -> Ordering {
        self.top.times(&other.bottom).compare(&other.top.times(&self.bottom))
    }

    /// Returns true if 126 bits are certainly enough.
    pub fn is_small(&self) -> bool {
        self.top.bits() <= 96 && self.bottom.bits() <= 96
    }
}
