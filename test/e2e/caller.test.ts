/** Which properties of the caller its container gets: supplementary groups. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, RUNTIME, shell, useHarness } from "../support/harness.ts";

const MAPPING = [{ containerID: 0, hostID: 0, size: 65536 }];
const GROUPS = "grep ^Groups: /proc/self/status";

describe.skipIf(!isRoot)("the caller (needs root)", () => {
  const { bundle, directory, id, ok, root } = useHarness();

  describe("its supplementary groups", () => {
    const through = (words: readonly string[]) =>
      call(directory, ["setpriv", "--groups", "4242,4343", "--", RUNTIME, "--root", root, ...words], { input: "" });
    const keeping =
      (value: string | undefined, ...more: ((config: Config) => void)[]) =>
      (config: Config) => {
        shell(config, GROUPS);
        if (value !== undefined) config["annotations"] = { "run.oci.keep_original_groups": value };
        for (const change of more) change(config);
      };
    const inUserNamespace = (config: Config) => {
      config.linux.namespaces.push({ type: "user" });
      Object.assign(config.linux, { uidMappings: MAPPING, gidMappings: MAPPING });
    };

    test.each([
      ["go without the annotation", keeping(undefined), ""],
      ["go with 0", keeping("0"), ""],
      ["stay with 1", keeping("1"), "4242 4343"],
      ["stay in a user namespace", keeping("1", inUserNamespace), "4242 4343"],
      ["stay for another user", keeping("1", (config) => void Object.assign(config.process, { user: { uid: 7, gid: 7 } })), "4242 4343"],
    ])("%s", async (_, change, groups) => {
      const { status, stdout, stderr } = await through(["run", "-b", bundle(change), id()]);
      expect({ status, stderr, groups: stdout.replace("Groups:", "").trim() }).toEqual({ status: 0, stderr: "", groups });
    });

    test("exec keeps them too, and a group that is named beside says that it has no effect", async () => {
      const name = id();
      const path = bundle(
        keeping("1", (config) => {
          shell(config, "sleep 1000");
          Object.assign(config.process, { user: { uid: 0, gid: 0, additionalGids: [5] } });
        }),
      );
      await ok(["run", "-d", "-b", path, name], { input: "" });
      const seen = async (words: readonly string[]) => (await through(["exec", ...words])).stdout.replace("Groups:", "").trim();
      expect(await seen([name, "sh", "-c", GROUPS])).toBe("4242 4343");
      const document = join(directory, "process.json");
      writeFileSync(document, JSON.stringify({ cwd: "/", args: ["sh", "-c", GROUPS], env: ["PATH=/bin"] }));
      expect(await seen(["-p", document, name])).toBe("4242 4343");
      expect(await ok(["inspect", name])).toContain("additionalGids has no effect");
    });
  });
});
