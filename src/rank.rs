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
/// Runs of sixteen places are put in order by swapping, and then merged; the library's sort, which is quicker for long
/// lists, is 4 kB.
#[inline(never)]
pub fn ranked_by(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    let mut run = 16_usize;
    for few in places.chunks_mut(run) {
        for end in 1..few.len() {
            // What comes later moves down to its place among those before it.
            for place in (0..end).rev() {
                let Some([one, next]) = few.get_mut(place..).and_then(|pair| pair.first_chunk_mut()) else { break };
                if compare(*one, *next).is_le() {
                    break;
                }
                std::mem::swap(one, next);
            }
        }
    }
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
            if let (Some(running_order), Some(hold)) = (stands.get_mut(thing), holds.get_mut(place)) {
                (*running_order, *hold) = (place, thing);
            }
        }
        swaps.push(from);
    }
    swaps
}

/// Whether two of a few things are the same. `numbers` has a number made of each, by which most are told apart.
///
/// ```
/// let twins = |names: &[u64]| {
///     scrip::rank::has_twins(names.iter().map(|name| name & 7), &|one, other| names[one] == names[other])
/// };
/// assert!(twins(&[1, 2, 1]));
/// assert!(!twins(&[1, 2, 9]));
/// ```
pub fn has_twins(numbers: impl Iterator<Item = u64> + Clone, same: &dyn Fn(usize, usize) -> bool) -> bool {
    // Only those whose bit is set already can have a twin before them: next to none of a few.
    let mut seen = [0_u64; 64];
    (0..).zip(numbers.clone()).any(|(place, one)| {
        let Some(word) = seen.get_mut(usize::try_from(one >> 6 & 63).unwrap_or(0)) else { return false };
        let before = std::mem::replace(word, *word | 1_u64.wrapping_shl(u32::try_from(one & 63).unwrap_or(0)));
        let may = before == *word;
        may && (0..).zip(numbers.clone().take(place)).any(|(other, number)| number == one && same(other, place))
    })
}

/// A number made of a name (FNV-1a, 64 bits): cheap, and spread well enough to sort or to file by.
pub fn number_of(name: &str) -> u64 {
    let step = |number: u64, byte: u8| (number ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
