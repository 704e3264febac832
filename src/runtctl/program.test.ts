import { expect, test } from "vitest";
import { programOf } from "./program.ts";
import type { Session } from "./session.ts";
import { verb } from "./verb.ts";
import { VERBS } from "./verbs/index.ts";

interface Call {
  readonly session: Session;
  readonly operands: readonly string[];
  readonly options: unknown;
}

async function typed(...args: string[]): Promise<Call> {
  let call: Call | undefined;
  const probe = verb({
    name: "probe",
    summary: "tells what it was called with",
    define: (command) => command.argument("[name]").option("-f, --follow"),
    async run(session, operands, options) {
      call = { session, operands, options };
      return 0;
    },
  });
  await programOf([probe], "1", () => {}).parseAsync(args, { from: "user" });
  return call!;
}

test("global options stand before or behind the verb", async () => {
  expect((await typed("-g", "a", "probe", "x")).session.group).toBe("a");
  const { session, operands, options } = await typed("probe", "x", "-g", "b", "-f");
  expect([session.group, operands, options]).toEqual(["b", ["x"], { follow: true }]);
  expect((await typed("probe")).session.group).toBe("default");
});

test.each([
  [[], "commander.help"],
  [["porbe"], "commander.unknownCommand"],
  [["probe", "--nonsense"], "commander.unknownOption"],
  [["probe", "a", "b"], "commander.excessArguments"],
])("%j is refused", async (args, code) => {
  await expect(typed(...args)).rejects.toMatchObject({ code });
});

test("each verb has its name once, and a summary that is a phrase", () => {
  expect(new Set(VERBS.map(({ name }) => name)).size).toBe(VERBS.length);
  for (const { summary } of VERBS) expect(summary).toMatch(/^[a-z].*[^.]$/);
});

test("the help of the program and of each verb fits on a terminal of 80 columns", () => {
  const program = programOf(VERBS, "1", () => {});
  for (const command of [program, ...program.commands]) {
    let text = "";
    const writeOut = (part: string) => {
      text += part;
    };
    command.configureOutput({ writeOut, getOutHelpWidth: () => 80 });
    command.outputHelp();
    expect(text).toMatch(/Usage: runtctl/);
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  }
});
