//! Decides the order of things by a number, ties in the order in which they came. It must not know what they are:
//! one sort for everything is a quarter of the code of four.

use std::cmp::Ordering;

/// The places of the keys, smallest key first.
///
/// ```
/// assert_eq!(scrip::rank::ranked([30, 10, 10]), [1, 2, 0]);
/// ```
pub fn ranked(keys: impl IntoIterator<Item = u64>) -> Vec<usize> {
    let keys: Vec<u64> = keys.into_iter().collect();
    ranked_by(keys.len(), &|one, other| keys.get(one).cmp(&keys.get(other)))
}

/// So many places in the order that this comparison of two of them says.
///
/// ```
/// assert_eq!(scrip::rank::ranked_by(3, &|one, other| other.cmp(&one)), [2, 1, 0]);
/// ```
///
/// Runs of one, two, four and so on places are merged; the library's sort, which is quicker for long lists, is 4 kB.
#[inline(never)]
pub fn ranked_by(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    let mut run = 1_usize;
    while run < count {
        let mut merged = Vec::with_capacity(count);
        for pair in places.chunks(run.saturating_mul(2)) {
            let (mut first, mut second) = pair.split_at_checked(run).unwrap_or((pair, &[]));
            loop {
                match (first, second) {
                    (_, []) => break merged.extend_from_slice(first),
                    ([one, rest @ ..], [other, ..]) if compare(*one, *other).is_le() => {
                        merged.push(*one);
                        first = rest;
                    }
                    (_, [other, rest @ ..]) => {
                        merged.push(*other);
                        second = rest;
                    }
                }
            }
        }
        places = merged;
        run = run.saturating_mul(2);
    }
    places
}

/// The things of a list at these places, in this order.
pub fn arranged<T>(mut things: Vec<T>, places: &[usize]) -> Vec<T> {
    for (place, from) in swaps(things.len(), places).into_iter().enumerate() {
        things.swap(place, from);
    }
    things.truncate(places.len());
    things
}

/// With which place each place is swapped in turn, so that each of so many things comes to stand where it should.
#[inline(never)]
fn swaps(count: usize, places: &[usize]) -> Vec<usize> {
    // Where each thing stands by now, and which thing stands at each place.
    let mut stands: Vec<usize> = (0..count).collect();
    let mut holds = stands.clone();
    let mut swaps = Vec::with_capacity(places.len());
    for (place, wanted) in places.iter().enumerate() {
        let (Some(from), Some(other)) = (stands.get(*wanted).copied(), holds.get(place).copied()) else { break };
        for (thing, place) in [(other, from), (*wanted, place)] {
            if let (Some(stand), Some(hold)) = (stands.get_mut(thing), holds.get_mut(place)) {
                (*stand, *hold) = (place, thing);
            }
        }
        swaps.push(from);
    }
    swaps
}

/// As many are compared each with each sooner than sorted.
const FEW: usize = 32;

/// Whether two of so many things are the same. `number` is a number made of each, by which most are told apart.
///
/// ```
/// let twins = |names: &[u64]| scrip::rank::has_twins(names.len(), &|at| names[at] & 7, &|one, other| names[one] == names[other]);
/// assert!(twins(&[1, 2, 1]));
/// assert!(!twins(&[1, 2, 9]));
/// ```
pub fn has_twins(count: usize, number: &dyn Fn(usize) -> u64, same: &dyn Fn(usize, usize) -> bool) -> bool {
    if count <= FEW {
        // Only those whose bit is set already can have a twin before them.
        let mut seen = 0_u128;
        return (0..count).any(|place| {
            let bit = 1_u128.wrapping_shl(u32::try_from(number(place) & 127).unwrap_or(0));
            let may = seen & bit != 0;
            seen |= bit;
            may && (0..place).any(|other| number(other) == number(place) && same(other, place))
        });
    }
    // Sorted by their numbers, twins stand together; those that only share the number are told apart.
    let order = ranked((0..count).map(number));
    let alike = |one: usize, other: usize| number(one) == number(other);
    order.iter().enumerate().any(|(place, one)| {
        let after = order.iter().skip(place.saturating_add(1));
        after.take_while(|other| alike(*one, **other)).any(|other| same(*one, *other))
    })
}

/// A number made of a name (FNV-1a, 64 bits): cheap, and spread well enough to sort or to file by.
pub fn number_of(name: &str) -> u64 {
    let step = |number: u64, byte: u8| (number ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
