/** Many containers at once below one cgroup: nothing fails, and no directory is left. */
import { existsSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CGROUPS, isUnified } from "../support/cgroups.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

const CONTAINERS = 200;
const WORKERS = 8;

describe.skipIf(!isRoot || !isRunt)("churn (needs root)", () => {
  const { bundle, ok } = useHarness();

  test(`${CONTAINERS} containers, made and deleted by ${WORKERS} workers`, async () => {
    const paths = Array.from({ length: WORKERS }, (_, worker) =>
      bundle((config) => {
        shell(config, "exit 0");
        // Two levels above the container that come and go with the neighbours.
        config.linux.cgroupsPath = `${CGROUP_PARENT}/churn/pod${worker % 2}/${worker}`;
      }),
    );
    let next = 0;
    const work = async (worker: number): Promise<void> => {
      while (next < CONTAINERS) {
        const name = `churn-${process.pid}-${next++}`;
        await ok(["create", "-b", paths[worker] ?? "", name]);
        // Some are deleted while they wait for start, the others after their end.
        if (next % 2 === 0) await ok(["start", name]);
        await ok(["delete", "--force", name]);
      }
    };
    await Promise.all(paths.map((_, worker) => work(worker)));
    expect(next).toBeGreaterThanOrEqual(CONTAINERS);
    const hierarchies = isUnified ? [CGROUPS] : readdirSync(CGROUPS).map((name) => `${CGROUPS}/${name}`);
    expect(hierarchies.filter((path) => existsSync(path + CGROUP_PARENT))).toEqual([]);
  });
});
