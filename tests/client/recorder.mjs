// Decides which methods the official client has, and which of them were called and answered. It must not know what any of them does.

/** Members of every group that are no calls of the service. */
const INTERNAL = new Set(["client", "requestController", "constructor"]);

/** A client whose calls are noted in `answered` by their names, such as `campaigns.qualifications.examine`. */
export function recorded(client, answered) {
  return wrap(client, "", answered);
}

function wrap(target, path, answered) {
  return new Proxy(target, {
    get(held, name) {
      const value = held[name];
      if (typeof name !== "string" || INTERNAL.has(name)) return value;
      if (typeof value === "function") {
        return (...args) => {
          const answer = value.apply(held, args);
          const note = (told) => {
            answered.add(path + name);
            return told;
          };
          return typeof answer?.then === "function" ? answer.then(note) : note(answer);
        };
      }
      return value !== null && typeof value === "object" ? wrap(value, `${path}${name}.`, answered) : value;
    },
  });
}

/** The names of all methods. */
export function methodsOf(client, path = "") {
  const own = Object.keys(client).filter((name) => !INTERNAL.has(name));
  const groups = own.filter((name) => isGroup(client[name]));
  const calls = own.filter((name) => typeof client[name] === "function");
  const inherited = Object.getPrototypeOf(client) === Object.prototype ? [] : Object.getOwnPropertyNames(Object.getPrototypeOf(client));
  const named = [...calls, ...inherited.filter((name) => !INTERNAL.has(name))].map((name) => path + name);
  return [...named, ...groups.flatMap((name) => methodsOf(client[name], `${path}${name}.`))];
}

function isGroup(value) {
  return value !== null && typeof value === "object" && value.constructor !== Object && Object.getPrototypeOf(value) !== Object.prototype;
}
