/** Strings of config.json come out as they went in, whatever stands at which place: the engine finds the end of plain ones eight characters at once. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, useHarness } from "../support/harness.ts";

/** Enough for two groups of eight before the character, and one behind it. */
const LENGTH = 24;
const CHARACTERS = ['"', "\\", "\n", "\u007f", "é", "€", "😀", " ", "~", "'", "`", "$", "/"];

describe.skipIf(!isRoot || !isRunt)("strings of config.json (needs root)", () => {
  const { bundle, id, ok, runtime } = useHarness();

  const envOf = (plan: string): string[] => JSON.parse(plan).ops.flatMap(({ args }: { args: { env?: string[] } }) => args.env ?? []);

  test("are read whole, with any character at any place and in any notation", async () => {
    const values = CHARACTERS.flatMap((character) =>
      Array.from({ length: LENGTH }, (_, at) => "a".repeat(at) + character + "b".repeat(LENGTH - at)),
    );
    const env = ["", ...values].map((value, index) => `V${index}=${value}`);
    const path = bundle((config) => Object.assign(config.process, { env }));
    const file = join(path, "config.json");
    expect(envOf(await ok(["plan", "-f", "json", "-b", path, id()]))).toEqual(expect.arrayContaining(env));
    // Escapes for what needs none.
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("b", "\\u0062"));
    expect(envOf(await ok(["plan", "-f", "json", "-b", path, id()]))).toEqual(expect.arrayContaining(env));
  });

  test.each(["\u0001", "\n", "\t", "\0"])("are refused with %j as it is, at any place", async (control) => {
    const path = bundle((config) => Object.assign(config.process, { env: ["V=MARK"] }));
    const file = join(path, "config.json");
    const text = readFileSync(file, "utf8");
    for (let at = 0; at < 10; at++) {
      writeFileSync(file, text.replace("MARK", "a".repeat(at) + control + "b".repeat(9)));
      const { status, stderr } = await runtime(["plan", "-b", path, id()]);
      expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringMatching(/config\.json:\d+:\d+/) });
    }
  });
});
