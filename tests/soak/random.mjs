// Draws all choices of a soak from one seed, so that a seed repeats every choice. It cannot repeat the timing of a machine.

/**
 * Returns a generator of its own for each name below a seed: `int(least, most)`, `pick(list)`, `withProbability(share)`, `shares({ name: share })`.
 */
export function createRandom(seed, ...names) {
  let state = hash([seed, ...names].join("/"));
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (least, most) => least + Math.floor(next() * (most - least + 1));
  return {
    int,
    pick: (list) => list[int(0, list.length - 1)],
    withProbability: (share) => next() < share,
    /** Picks one of the names, each with the probability of its share. */
    shares(of) {
      let left = next() * Object.values(of).reduce((sum, share) => sum + share, 0);
      return Object.keys(of).find((name) => (left -= of[name]) < 0) ?? Object.keys(of)[0];
    },
  };
}

/** FNV-1a. */
function hash(text) {
  let state = 0x811c9dc5;
  for (const character of text) state = Math.imul(state ^ character.codePointAt(0), 0x01000193);
  return state;
}
