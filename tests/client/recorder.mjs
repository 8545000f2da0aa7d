// Lists the methods of the official client, and records which of them were called and answered.

/** Members of every group that do not call the service. */
const INTERNAL = new Set(["client", "requestController", "constructor"]);

/** Wraps a client so that its calls are recorded in `answered` by name, such as `campaigns.qualifications.examine`. */
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
          const note = (answer) => {
            answered.add(path + name);
            return answer;
          };
          return typeof answer?.then === "function" ? answer.then(note) : note(answer);
        };
      }
      return value !== null && typeof value === "object" ? wrap(value, `${path}${name}.`, answered) : value;
    },
  });
}

/** Returns the names of all methods. */
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
