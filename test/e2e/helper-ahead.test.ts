/** The helper that is started before the plan is known (docs/decisions/0030): when it is, what it makes, and that it goes when nothing comes of it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

const STRACE = "/usr/bin/strace";
/** Nobody waits for its execve, as a vfork does: what comes first is not known. */
const STARTED = /clone\(child_stack=\w+, flags=CLONE_VM\|CLONE_CHILD_CLEARTID/;

/** Command lines of helpers that work below the state root of this test. */
function waitingHelpers(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [program, verb, , mode] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";
        return program === "runt-init" && verb === "plan" && mode === "ahead" ? [`${pid} of ${parent}`] : [];
      } catch {
        return [];
      }
    });
}

describe.skipIf(!isRoot || !isRunt || !existsSync(STRACE))(`the helper ahead of its plan (needs root and ${STRACE})`, () => {
  const { bundle, directory, id, root, runtime } = useHarness();

  async function trace(name: string, path: string, status = 0): Promise<string[]> {
    const output = join(directory, `${name}.strace`);
    const result = await call(directory, [STRACE, "-f", "-s", "300", "-o", output, RUNTIME, "--root", root, "run", "-b", path, name]);
    expect(result.status).toBe(status);
    return readFileSync(output, "utf8").split("\n");
  }

  const place = (lines: readonly string[], what: RegExp): number => lines.findIndex((line) => what.test(line));

  test("is started before anything is written, makes the network namespace, and gets the plan later", async () => {
    const name = id();
    const lines = await trace(
      name,
      bundle((config) => shell(config, "cat /sys/class/net/lo/flags")),
    );
    const started = place(lines, STARTED);
    const reserved = place(lines, new RegExp(`mkdir\\("${root}/${name}"`));
    expect(started).toBeGreaterThan(0);
    expect(reserved).toBeGreaterThan(started);
    expect(place(lines, /execveat\(\d+, "", \["runt-init", "plan", "\d+", "ahead"/)).toBeGreaterThan(started);
    expect(place(lines, /unshare\(CLONE_NEWNET/)).toBeGreaterThan(started);
    const clone = lines.find((line) => line.includes("clone3({flags=CLONE_PARENT"));
    expect(clone).toContain("CLONE_NEWNS");
    expect(clone).not.toContain("CLONE_NEWNET");
  });

  test.each([
    ["the host's network", (types: string[]) => types.filter((type) => type !== "network")],
    ["a user namespace", (types: string[]) => [...types, "user"]],
  ])("makes no network namespace with %s", async (_, change) => {
    const lines = await trace(
      id(),
      bundle((config) => {
        shell(config, "true");
        const types = change((config.linux.namespaces as { type: string }[]).map(({ type }) => type));
        config.linux.namespaces = types.map((type) => ({ type }));
        if (types.includes("user")) {
          const mappings = [{ containerID: 0, hostID: 0, size: 65_536 }];
          Object.assign(config.linux, { uidMappings: mappings, gidMappings: mappings });
        }
        config.mounts = config.mounts?.filter(({ type }) => type !== "sysfs");
      }),
    );
    expect(place(lines, /unshare\(CLONE_NEWNET/)).toBe(-1);
  });

  test("is gone when the command fails before it has a plan", async () => {
    const name = id();
    const path = bundle((config) => shell(config, "sleep 60"));
    await runtime(["create", "-b", path, name]);
    const before = waitingHelpers();
    const lines = await trace(name, path, 1);
    expect(place(lines, STARTED)).toBeGreaterThan(0);
    expect(waitingHelpers()).toEqual(before);
    await runtime(["delete", "--force", name]);
  });
});
