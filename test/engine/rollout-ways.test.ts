/** Rollouts of task files and of workloads of Kubernetes, their metrics, and what `describe` tells of them. */
import { describe, expect, test } from "vitest";
import { RUNS, rolloutsIn } from "./rollout-scene.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

describe.skipIf(!isRoot)("rollouts of other files (needs root)", () => {
  const scene = useEngine();
  const { rolled, tasks, sequence, leastRunning } = rolloutsIn(scene);

  test(
    "R2 a version with a wrong image, one whose program is missing, and one that is not ready within readyWithin go back, and say why",
    async () => {
      await scene.daemon();
      const file = (fields: object, update: object = {}) => {
        const main = { name: "main", rootfs: scene.rootfs(), command: "/bin/sh", args: ["-c", RUNS], stopTimeout: "5s", ...fields };
        const both = [0, 1].map((index) => ({
          ...{ name: `web-${index}`, replica: { of: "web", index } },
          update: { order: "start-first", monitor: "200ms", ...update },
          containers: [main],
        }));
        return scene.file("web.yaml", both.map((one) => JSON.stringify(one)).join("\n---\n"));
      };
      const waited = (fields: object, update: object = {}) => scene.ctl("apply", "-f", file(fields, update), "--wait");
      expect((await waited({})).status).toBe(0);
      const good = (await tasks()).map(({ id }) => id).sort();
      const check = { command: ["/bin/false"], interval: "100ms", startPeriod: "1m" };
      const ways = [
        [{ rootfs: undefined, command: undefined, args: undefined, image: "oci:/nowhere:1" }, {}, /replica web-0 has ended <- .*nowhere/],
        [{ command: "/missing" }, {}, /replica web-0 has ended <- .*missing/],
        [{ healthCheck: check }, { readyWithin: "1s" }, /replica web-0 did not work within 1 s: /],
      ] as const;
      for (const [at, [fields, update, why]] of ways.entries()) {
        const answer = await waited(fields, update);
        expect(answer).toMatchObject({ status: 1, stderr: expect.stringMatching(why) });
        expect(answer.stderr).toContain(`service web is at revision 1, and not at ${at + 2}: revision ${at + 2} of web has failed`);
        await until(async () => (await tasks()).length === 2);
        expect((await tasks()).map(({ id }) => id).sort()).toEqual(good);
      }
      const metrics = (await http(scene.socket, "GET", "/v1/metrics")).text;
      for (const line of [
        'runtd_rollouts{state="complete"} 1',
        'runtd_service_replicas{group="default",service="web",state="good"} 2',
        'runtd_service_failed_revisions{group="default",service="web"} 3',
        "runtd_draining_tasks 0",
      ])
        expect(metrics).toContain(`${line}\n`);
    },
    LONGEST_MS,
  );

  test(
    "R1, R5: a changed Deployment surges, a StatefulSet is replaced from the highest ordinal to the partition, and describe tells of both",
    async () => {
      await scene.daemon();
      const workload = (kind: string, version: string, spec: object) => ({
        ...{ apiVersion: "apps/v1", kind, metadata: { name: kind === "Deployment" ? "web" : "db" } },
        spec: {
          ...{ replicas: 3, selector: { matchLabels: { app: kind } }, ...spec },
          template: {
            metadata: { labels: { app: kind }, annotations: { "runt.dev/rootfs.main": scene.rootfs() } },
            spec: { containers: [{ name: "main", command: ["/bin/sh", "-c", `: ${version}; ${RUNS}`] }], terminationGracePeriodSeconds: 5 },
          },
        },
      });
      const apply = async (...documents: readonly object[]) => {
        const path = scene.file("workloads.yaml", documents.map((one) => JSON.stringify(one)).join("\n---\n"));
        expect(await scene.ctl("apply", "-f", path, "--wait")).toMatchObject({ status: 0 });
      };
      const set = { serviceName: "db", podManagementPolicy: "Parallel" };
      await apply(workload("Deployment", "v1", {}), workload("StatefulSet", "v1", set));
      const second = await sequence();
      const partition = { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } } };
      const applied = apply(workload("Deployment", "v2", {}), workload("StatefulSet", "v2", { ...set, ...partition }));
      const least = leastRunning(async () => (await rolled(second)).filter(({ state }) => state === "complete").length === 2);
      await applied;
      // One of the StatefulSet is missing at a time, and none of the Deployment.
      expect(await least).toBeGreaterThanOrEqual(5);
      const replaced = (await rolled(second)).flatMap(({ state, replica }) => (state === "replacing" ? [replica] : []));
      expect(replaced.filter((name) => name!.startsWith("web-"))).toEqual(["web-0", "web-1", "web-2"]);
      expect(replaced.filter((name) => name!.startsWith("db-"))).toEqual(["db-2", "db-1"]);
      for (const [name, version] of [
        ["db-0", "v1"],
        ["db-1", "v2"],
        ["web-2", "v2"],
      ] as const)
        expect((await http(scene.socket, "GET", `/v1/tasks/${name}/detail`)).text).toContain(`: ${version};`);
      expect((await scene.ctl("describe", "db-1")).stdout).toMatch(
        /\nService: +db, replica 1 of 3 is good\nRollout: +update to revision 2 is complete\n/,
      );
      expect((await scene.ctl("describe", "db")).stdout).toMatch(/^Service: +db\nRevision: +2\n(?:.*\n)+db-2 +good .*\n(?:.*\n)+2 \* /);
      expect(await scene.ctl("describe", "cache")).toMatchObject({ status: 1, stderr: expect.stringContaining("there is no task cache") });
      // Scaled pods are those of the file: applying it with the number changes nothing.
      expect((await scene.ctl("scale", "db=4", "--wait")).status).toBe(0);
      const four = scene.file("four.yaml", JSON.stringify(workload("StatefulSet", "v2", { ...set, ...partition, replicas: 4 })));
      expect((await scene.ctl("apply", "-f", four)).stdout).toContain("task db-3 unchanged\n");
    },
    LONGEST_MS,
  );
});
