/** A command line of runc's or crun's is one of runt's. */
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../src/runtime/cli/parse.ts";
import { GLOBAL_FLAGS, VERBS } from "../../src/runtime/cli/table/index.ts";
import { PEER_GLOBAL, PEER_HELP, PEER_VERBS } from "./peer-flags.ts";

/** "--bundle|b DIR": every way to write it, and what its value has to be. */
function forms(flag: string): { readonly name: string; readonly value: unknown; readonly words: readonly (readonly string[])[] } {
  const [names = "", value] = flag.split(" ");
  const [name = "", short] = names.replace(/^--/, "").split("|");
  if (value === undefined) {
    return { name, value: true, words: [[`--${name}`], [`-${name}`], [`--${name}=true`], ...(short ? [[`-${short}`]] : [])] };
  }
  const words = [[`--${name}`, value], [`--${name}=${value}`], [`-${name}`, value], ...(short ? [[`-${short}`, value]] : [])];
  return { name, value, words };
}

/** A repeatable flag has a list, a number its value. */
const plain = (value: unknown) => (Array.isArray(value) ? value.join() : typeof value === "number" ? String(value) : value);

describe.each(Object.entries(PEER_VERBS))("%s", (verb, { positionals, runc, crun }) => {
  it.each([...new Set([...runc, ...crun])])("%s", (flag) => {
    const { name, value, words } = forms(flag);
    for (const form of words) {
      const line = parseCommandLine([verb, ...form, ...positionals]);
      expect(plain(line.flags[name])).toBe(value);
      expect(line.positionals).toEqual(positionals);
    }
  });

  it("takes its positionals", () => {
    expect(parseCommandLine([verb, ...positionals])).toMatchObject({ verb: { name: verb }, positionals });
  });

  it.each(PEER_HELP.help)("%s", (word) => {
    expect(parseCommandLine([verb, word]).flags["help"]).toBe(true);
  });
});

describe("before the verb", () => {
  it.each([...new Set([...PEER_GLOBAL.runc, ...PEER_GLOBAL.crun])])("%s", (flag) => {
    const { name, value, words } = forms(flag);
    for (const form of words) expect(plain(parseCommandLine([...form, "state", "id"]).global[name])).toBe(value);
  });

  it.each([...PEER_HELP.help.map((word) => [word, "help"] as const), ...PEER_HELP.version.map((word) => [word, "version"] as const)])(
    "%s",
    (word, name) => {
      expect(parseCommandLine([word]).global[name]).toBe(true);
    },
  );

  it.each(["help", "h"])("%s VERB", (word) => {
    expect(parseCommandLine([word, "run"])).toMatchObject({ verb: { name: "run" }, flags: { help: true } });
  });
});

describe("the table", () => {
  it("has every verb of the peers, and no flag or letter twice", () => {
    expect(Object.keys(PEER_VERBS).filter((name) => !VERBS.some((verb) => verb.name === name))).toEqual([]);
    for (const flags of [GLOBAL_FLAGS, ...VERBS.map((verb) => verb.flags)]) {
      const words = flags.flatMap(({ name, short }) => (short ? [name, short] : [name]));
      expect(words).toEqual([...new Set(words)]);
    }
  });

  it("words a boolean as Go and crun do", () => {
    const tty = (value: string) => parseCommandLine(["exec", `--tty=${value}`, "id", "cmd"]).flags["tty"];
    expect(["true", "TRUE", "t", "1", "yes"].map(tty)).toEqual([true, true, true, true, true]);
    expect(["false", "F", "0", "no"].map(tty)).toEqual([undefined, undefined, undefined, undefined]);
    expect(() => tty("maybe")).toThrow('invalid value "maybe" for flag -tty');
  });
});
