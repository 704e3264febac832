/**
 * Everything that README.md and docs/shell.md say can be typed, typed as it stands there: in a copy of the tree, as root, and where the text says "as anyone" as
 * nobody with an empty environment; then the blocks of other pages. RUNT_README=fresh: in a clone in which nothing has been built.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRoot } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";
import { commandsOf, nameOf, type User } from "./commands.ts";
import { builtTree, freshTree, LONGEST_WAIT_SECONDS, Session, TREE } from "./session.ts";
import { missingLines } from "./shown.ts";
import { EXPECTED, type Expectation, FIRST_PAGES, LISTED, NEEDS, OTHER_PAGES, PLACEHOLDERS } from "./tables.ts";

const isV1 = existsSync("/sys/fs/cgroup/cpu");
const isHybrid = isV1 && existsSync("/sys/fs/cgroup/unified/cgroup.procs");
const isFresh = process.env["RUNT_README"] === "fresh";
const commandsIn = (page: string) => commandsOf(readFileSync(join(REPOSITORY, page), "utf8")).map((command) => ({ ...command, page }));
/** Of the other pages not what stands in the running text: examples, and what to do when something is broken. */
const commands = [...FIRST_PAGES.flatMap(commandsIn), ...OTHER_PAGES.flatMap(commandsIn).filter(({ inline }) => !inline)];
const names = new Set(commands.map(nameOf));

/** What is neither listed nor harmless whatever its words is not typed. */
const isKnown = (name: string) =>
  /^(?:runt|man|mkdir|sh|bin\/runt) /.test(name) || Object.hasOwn(LISTED, name) || Object.hasOwn(EXPECTED, name);

/** In the text of a section they may come before what makes them possible: they are typed when all blocks are done, by both users. */
const order = (list: typeof commands): readonly { command: (typeof commands)[number]; user: User }[] => [
  ...list.filter(({ inline }) => !inline).map((command) => ({ command, user: command.user })),
  ...list
    .filter(({ inline }, index) => inline && list.findIndex((other) => nameOf(other) === nameOf(list[index]!)) === index)
    .flatMap((command) =>
      (nameOf(command).startsWith("make") ? ["root" as const] : ["root" as const, "nobody" as const]).map((user) => ({ command, user })),
    ),
];

test("every command that the tables name is on one of the pages", () => {
  const known = [...Object.keys(LISTED), ...Object.keys(EXPECTED), ...Object.keys(NEEDS)];
  expect(known.filter((name) => !names.has(name))).toEqual([]);
});

test("what may take long, or change the host, is in one of the tables of this directory", () => {
  expect([...names].filter((name) => !isKnown(name))).toEqual([]);
});

describe.skipIf(!isRoot)("what its reader types (needs root)", () => {
  let session: Session;
  let digest = "";
  beforeAll(
    async () => {
      session = await Session.open(isFresh ? freshTree : builtTree);
    },
    (LONGEST_WAIT_SECONDS + 300) * 1000,
  );
  afterAll(() => session?.close());

  const asTyped = (text: string) =>
    [...PLACEHOLDERS, ["sha256:...", digest] as const].reduce((line, [placeholder, value]) => line.replaceAll(placeholder, value), text);

  for (const { command, user } of order(commands).filter((one) => isKnown(nameOf(one.command)))) {
    const name = nameOf(command);
    const needed = NEEDS[name];
    test(`${command.page}:${command.line}, ${user}: ${name}`, isFresh ? { timeout: 3_600_000 } : {}, async ({ skip }) => {
      if (needed !== undefined) skip(!existsSync(needed), `no ${needed}`);
      if (name.startsWith("make")) await session.type("root", `cd ${TREE}`);
      if (Object.hasOwn(LISTED, name)) {
        if (name.startsWith("make ")) expect(await session.type("root", `${name} --dry-run >/dev/null`)).toMatchObject({ status: 0 });
        return;
      }
      const { before, after, terminal, shows, seconds }: Expectation = EXPECTED[name] ?? {};
      if (before) expect(await session.type("root", before)).toEqual({ status: 0, output: "" });
      // What a container writes between two commands belongs to the first.
      const from = session.said().length;
      const typed = await session.type(user, asTyped(command.text), { terminal, seconds });
      expect(typed).toMatchObject({ status: 0 });
      const afterwards = after ? await session.type("root", `(${after})`) : { status: 0, output: "" };
      expect(afterwards).toMatchObject({ status: 0 });
      const seen = session.said().slice(from);
      if (shows) expect(seen).toMatch(shows);
      if (command.shown.length > 0) expect(missingLines(command.shown, seen, { isV1, isHybrid })).toEqual([]);
      if (name.startsWith("runt plan --host")) digest = /sha256:[0-9a-f]{64}/.exec(seen)?.[0] ?? "";
    });
  }
});
