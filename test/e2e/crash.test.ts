/** SIGKILL of the runtime at any instant leaves nothing that delete --force does not remove (the harness looks for leftovers). */
import { existsSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, SLOW, shell, useHarness } from "../support/harness.ts";

const ROUNDS = 40;
const STEP_MS = 0.25 * SLOW;

describe.skipIf(!isRoot || !isRunt)("a killed runtime (needs root)", () => {
  const { bundle, id, ok, root, runtime } = useHarness();

  test.each([["create"], ["run", "-d"], ["run"]])("during %s", async (...verb) => {
    const path = bundle((config) => shell(config, "exec sleep 60"));
    const name = id();
    for (let round = 0; round < ROUNDS; round++) {
      await runtime([...verb, "-b", path, name], {
        started: (child) => {
          void sleep(round * STEP_MS).then(() => child.kill("SIGKILL"));
        },
      });
      // As with runc, a root that was named but does not exist yet is an error.
      if (existsSync(root)) await ok(["list"]);
      await ok(["delete", "--force", name]);
      expect(existsSync(root) ? readdirSync(root) : []).toEqual([]);
    }
  });

  test("during delete", async () => {
    const path = bundle((config) => shell(config, "exec sleep 60"));
    const name = id();
    for (let round = 0; round < ROUNDS / 2; round++) {
      await ok(["create", "-b", path, name]);
      await runtime(["delete", "--force", name], {
        started: (child) => {
          void sleep(round * STEP_MS).then(() => child.kill("SIGKILL"));
        },
      });
      await ok(["delete", "--force", name]);
      expect(readdirSync(root)).toEqual([]);
    }
  });
});
