/** Colours: on a terminal only, and never where somebody said no. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, isRoot, isRunt, RUNTIME, useHarness } from "../support/harness.ts";

const SCRIPT = "/usr/bin/script";
const RED_LABEL = "\u001b[1;31mrunt:\u001b[0m ";
const ESCAPE = "\u001b";

describe.skipIf(!isRunt)("colours", () => {
  const { bundle, directory, id, root, runtime } = useHarness();

  /** Output of the runtime when its three streams are a terminal. */
  async function onTerminal(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
    const command = [RUNTIME, "--root", root, ...args].map((word) => `'${word}'`).join(" ");
    const { stdout } = await call(directory, [SCRIPT, "-q", "-e", "-c", command, "/dev/null"], { env: { NO_COLOR: "", ...env } });
    return stdout.replaceAll("\r", "");
  }
  const MESSAGE = "container does not exist: nobody\n";

  describe.skipIf(!existsSync(SCRIPT))("on a terminal", () => {
    test("the label of an error is red, the message is as ever", async () => {
      expect(await onTerminal(["state", "nobody"], { TERM: "xterm" })).toBe(RED_LABEL + MESSAGE);
    });

    test.each([
      ["NO_COLOR=1", { TERM: "xterm", NO_COLOR: "1" }],
      ["NO_COLOR=0", { TERM: "xterm", NO_COLOR: "0" }],
      ["TERM=dumb", { TERM: "dumb" }],
      ["TERM=", { TERM: "" }],
    ])("%s: nothing is coloured", async (_, env) => {
      expect(await onTerminal(["state", "nobody"], env)).toBe(`runt: ${MESSAGE}`);
    });

    test("what programs read is never coloured", async () => {
      const log = join(directory, "error.json");
      await onTerminal(["--log", log, "--log-format", "json", "state", "nobody"], { TERM: "xterm" });
      expect(readFileSync(log, "utf8")).not.toContain(ESCAPE);
      rmSync(log);
      expect(await onTerminal(["--log-format", "json", "state", "nobody"], { TERM: "xterm" })).not.toContain(ESCAPE);
      mkdirSync(root, { recursive: true });
      for (const args of [["list"], ["list", "-f", "json"], ["features"], ["--help"], ["completion", "bash"]]) {
        expect(await onTerminal(args, { TERM: "xterm" })).not.toContain(ESCAPE);
      }
    });

    test.skipIf(!isRoot)("the label of a warning is coloured too", async () => {
      const warned = () =>
        bundle((config) => {
          config.process.args = ["/bin/true"];
          config.linux["seccomp"] = { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names: ["no_such_call"], action: "SCMP_ACT_ERRNO" }] };
        });
      expect(await onTerminal(["--log-level", "warning", "create", "-b", warned(), id()], { TERM: "xterm" })).toMatch(
        /^\S*\[1;33mwarning:\S*\[0m .*no_such_call/,
      );
      expect(await onTerminal(["--log-level", "info", "create", "-b", warned(), id()], { TERM: "dumb" })).toMatch(
        /^warning: .*no_such_call/,
      );
      expect(await onTerminal(["--log-level", "error", "create", "-b", warned(), id()], { TERM: "dumb" })).toBe("");
      expect(await onTerminal(["create", "-b", warned(), id()], { TERM: "dumb" })).toBe("");
    });
  });

  test("a pipe or a file gets none", async () => {
    expect((await runtime(["state", "nobody"], { env: { TERM: "xterm", NO_COLOR: "" } })).stderr).toBe(`runt: ${MESSAGE}`);
  });
});
