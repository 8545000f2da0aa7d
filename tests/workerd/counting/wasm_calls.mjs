// Counts the calls over the border between JavaScript and wasm, in both directions. The module in front of the built Worker imports this one
// first, so that the Worker makes its instances by the counting constructor.

/** The calls since the last reset. */
export const border = { calls: 0 };

const Native = WebAssembly.Instance;

const counted = (call) => (...args) => {
  border.calls += 1;
  return call(...args);
};

/** Returns an object whose functions count; memories, tables and tags stay as they are. */
const wrap = (members) => Object.fromEntries(Object.entries(members).map(([name, member]) => [name, typeof member === "function" ? counted(member) : member]));

WebAssembly.Instance = function Instance(module, imports) {
  const wrapped = Object.fromEntries(Object.entries(imports).map(([name, members]) => [name, wrap(members)]));
  return { exports: wrap(new Native(module, wrapped).exports) };
};
