/** A state root that was copied: what its records name belongs to the original. One that was moved is the same root. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot || !isRunt)("a copy of a state root (needs root)", () => {
  const { bundle, directory, id } = useHarness();
  const runt = (root: string, ...args: readonly string[]) => call(directory, [RUNTIME, "--root", root, ...args]);
  const sleeping = (config: Config) => shell(config, "exec sleep 1000");
  /** All in it are to be found by their cgroup alone. */
  const withoutNamespace = (config: Config) => {
    sleeping(config);
    const { linux } = config as Config & { linux: { namespaces: { type: string }[] } };
    linux.namespaces = linux.namespaces.filter(({ type }) => type !== "pid");
  };
  const stateOf = (root: string, name: string): { pid: number; status: string; cgroup: string[] } => {
    const { cgroup } = JSON.parse(readFileSync(join(root, name, "state.json"), "utf8"));
    return { ...JSON.parse(execFileSync(RUNTIME, ["--root", root, "state", name], { encoding: "utf8" })), cgroup: cgroup.paths };
  };
  let count = 0;
  const roots = () => {
    const root = join(directory, `root-${++count}`);
    return { root, copy: `${root}-copy` };
  };
  const made = async (root: string, change: (config: Config) => unknown = sleeping) => {
    const name = id();
    expect(
      await runt(
        root,
        "create",
        "-b",
        bundle((config) => void change(config)),
        name,
      ),
    ).toMatchObject({ status: 0 });
    return name;
  };

  test.each([["created"], ["running"], ["without a PID namespace"]])(
    "%s: no verb on the copy acts on the container of the original",
    async (how) => {
      const { root, copy } = roots();
      const name = await made(root, how === "without a PID namespace" ? withoutNamespace : sleeping);
      if (how !== "created") expect(await runt(root, "start", name)).toMatchObject({ status: 0 });
      const before = stateOf(root, name);
      execFileSync("cp", ["-a", root, copy]);
      for (const words of [
        ["kill", name, "KILL"],
        ["kill", "--all", name, "KILL"],
        ["delete", "--force", name],
        ["pause", name],
        ["exec", name, "true"],
      ]) {
        const answer = await runt(copy, ...words);
        expect([words, answer.status === 0]).toEqual([words, false]);
        expect(answer.stderr).toContain(`was made in another state root, of which ${copy} is a copy`);
      }
      await runt(copy, "gc", "--yes");
      expect(stateOf(root, name)).toEqual(before);
      expect(existsSync(join(copy, name, "state.json"))).toBe(true);
      // What has ended cannot be harmed, and the cgroup that a next one may have by now is not looked at.
      process.kill(before.pid, "SIGKILL");
      await expect.poll(() => stateOf(root, name).status).toBe("stopped");
      expect(await runt(copy, "delete", "--force", name)).toMatchObject({ status: 0, stderr: "" });
      expect(existsSync(join(copy, name))).toBe(false);
      expect(before.cgroup.every((path) => existsSync(path))).toBe(true);
      expect(await runt(root, "delete", "--force", name)).toMatchObject({ status: 0, stderr: "" });
      expect(before.cgroup.some((path) => existsSync(path))).toBe(false);
    },
  );

  test("a copy on another file system, and a directory that has the name of the original", async () => {
    const { root, copy } = roots();
    const name = await made(root);
    mkdirSync(copy);
    execFileSync("mount", ["-t", "tmpfs", "-o", "mode=700", "none", copy]);
    try {
      execFileSync("cp", ["-a", `${root}/.`, copy]);
      expect((await runt(copy, "delete", "--force", name)).stderr).toContain("is a copy");
      const away = `${root}-away`;
      renameSync(root, away);
      execFileSync("cp", ["-a", away, root]);
      expect((await runt(root, "delete", "--force", name)).stderr).toContain("is a copy");
      expect(stateOf(away, name).status).toBe("created");
      expect(await runt(away, "delete", "--force", name)).toMatchObject({ status: 0 });
    } finally {
      execFileSync("umount", [copy]);
    }
  });

  test("moved on its file system it is the same root: every process and cgroup of the container goes", async () => {
    const { root, copy: away } = roots();
    const name = await made(root, withoutNamespace);
    expect(await runt(root, "start", name)).toMatchObject({ status: 0 });
    expect(await runt(root, "exec", "-d", name, "/bin/sh", "-c", "sleep 1001")).toMatchObject({ status: 0 });
    const { cgroup } = stateOf(root, name);
    renameSync(root, away);
    expect(await runt(away, "kill", name, "KILL")).toMatchObject({ status: 0, stderr: "" });
    expect(await runt(away, "delete", "--force", name)).toMatchObject({ status: 0, stderr: "" });
    expect(cgroup.some((path) => existsSync(path))).toBe(false);
    expect(readdirSync(away).filter((one) => !one.startsWith("@"))).toEqual([]);
    rmSync(away, { recursive: true });
  });

  test("a record of an older build says nothing of its root, and is used as before", async () => {
    const { root } = roots();
    const name = await made(root);
    const path = join(root, name, "state.json");
    const { directory: _, ...older } = JSON.parse(readFileSync(path, "utf8"));
    execFileSync("sh", ["-c", 'cat > "$1"', "sh", path], { input: JSON.stringify({ ...older, minor: 2 }) });
    expect(await runt(root, "start", name)).toMatchObject({ status: 0 });
    expect(await runt(root, "delete", "--force", name)).toMatchObject({ status: 0 });
  });
});
