/** Volumes of pods as the kernel has them: in memory, with a size, with a group; and kernel parameters. */
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, sharedIn, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

describe.skipIf(!isRoot)("volumes of pods (need root)", () => {
  const scene = useEngine();
  const pod = (name: string, scripts: Readonly<Record<string, string>>, spec: object, container: object = {}) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, annotations: Object.fromEntries(Object.keys(scripts).map((one) => [`runt.dev/rootfs.${one}`, scene.rootfs()])) },
      spec: {
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 5,
        containers: Object.entries(scripts).map(([one, script]) => ({ name: one, command: ["/bin/sh", "-c", script], ...container })),
        ...spec,
      },
    });
  const apply = async (text: string) =>
    expect(await scene.ctl("apply", "-f", scene.file("pod.yaml", text))).toMatchObject({ status: 0, stderr: "" });
  const get = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout);
  const mounts = () =>
    readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(`${scene.stateDir}/volumes/`));
  const mounted = (...names: string[]) => ({ volumeMounts: names.map((name) => ({ name, mountPath: `/${name}` })) });

  test("P4 a volume in memory is shared by all containers, not larger than its size, found again after the daemon is killed, and removed with the pod", async () => {
    const first = await scene.daemon();
    const shared = sharedIn(scene, "memory");
    const volumes = [
      { name: "fast", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
      { name: "shared", hostPath: { path: shared.directory } },
    ];
    const write =
      "dd if=/dev/zero of=/fast/big bs=1024 count=4096 2>/dev/null; wc -c < /fast/big >> /shared/lines; rm /fast/big; echo there > /fast/word";
    const read = `while ! test -e /fast/word; do sleep 0.05; done; cat /fast/word >> /shared/lines; grep ' /fast ' /proc/mounts | cut -d' ' -f3 >> /shared/lines; ${SLEEP}`;
    await apply(pod("fast", { write, read }, { volumes }, mounted("fast", "shared")));
    await until(() => shared.lines().length === 3);
    expect(shared.lines()).toEqual([String(2 ** 20), "there", "tmpfs"]);
    expect(mounts()).toHaveLength(1);
    await first.kill();
    await scene.daemon();
    expect(mounts()).toHaveLength(1);
    expect((await get("fast")).status.phase).toBe("Running");
    expect((await scene.ctl("delete", "fast")).status).toBe(0);
    await until(() => mounts().length === 0);
    await until(() => readdirSync(join(scene.stateDir, "volumes")).length === 0);
  });

  test("P28 a pod with too much data in a volume on the disk is stopped, and has failed with the reason Evicted", async () => {
    await scene.daemon({ args: ["--volume-check", "200ms"] });
    const volumes = [{ name: "cache", emptyDir: { sizeLimit: "1Mi" } }];
    const calm = `dd if=/dev/zero of=/cache/a bs=1024 count=512 2>/dev/null; ${SLEEP}`;
    const greedy = `trap 'exit 0' TERM; dd if=/dev/zero of=/cache/a bs=1024 count=2048 2>/dev/null; sleep 1000 & wait`;
    await apply(
      `${pod("calm", { a: calm }, { volumes }, mounted("cache"))}\n---\n${pod("greedy", { a: greedy }, { volumes }, mounted("cache"))}`,
    );
    await until(async () => (await get("greedy")).status.phase === "Failed");
    const { status } = await get("greedy");
    expect(status.reason).toBe("Evicted");
    expect(status.message).toMatch(/^the volume cache has \d{7} bytes in it, and may have 1048576/);
    expect(status.containerStatuses[0].state.terminated.exitCode).toBe(0);
    expect((await get("calm")).status.phase).toBe("Running");
    expect((await scene.ctl("delete", "calm")).status).toBe(0);
  });

  test("P4 fsGroup: scratch directories and files belong to this group, and processes have it with the other groups", async () => {
    await scene.daemon();
    const shared = sharedIn(scene, "group");
    const config = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "conf" }, data: { word: "hello" } });
    const script =
      "exec > /shared/lines; id -G; touch /scratch/new && stat -c %g /scratch/new; stat -c '%a %g' /scratch; stat -c '%a %g' /conf/word; cat /conf/word; echo; cat /proc/sys/kernel/shm_rmid_forced; cat /etc/resolv.conf; stat -c '%a %g' /part /kept; touch /kept/x /part/new; ls /scratch/a/b";
    const text = pod(
      "group",
      { a: script },
      {
        securityContext: {
          runAsUser: 1000,
          runAsGroup: 1000,
          fsGroup: 4321,
          supplementalGroups: [7],
          sysctls: [{ name: "kernel.shm_rmid_forced", value: "1" }],
        },
        dnsPolicy: "None",
        dnsConfig: { nameservers: ["192.0.2.53"] },
        volumes: [
          { name: "scratch", emptyDir: {} },
          { name: "conf", configMap: { name: "conf", defaultMode: 0o400 } },
          { name: "shared", hostPath: { path: shared.directory } },
          { name: "claim", persistentVolumeClaim: { claimName: "data" } },
        ],
      },
      {
        volumeMounts: [
          ...mounted("scratch", "conf", "shared").volumeMounts,
          { name: "scratch", mountPath: "/part", subPath: "a/b" },
          { name: "claim", mountPath: "/kept", subPath: "db" },
        ],
      },
    );
    // The container is nobody's root: what it writes to on the host is anybody's.
    chmodSync(shared.directory, 0o777);
    // A part of a volume is made with the mode and group of the volume, also of a claim; the ConfigMap is in another file.
    const files = ["-f", scene.file("pod.yaml", text), "-f", scene.file("config.yaml", config)];
    expect(await scene.ctl("apply", ...files)).toMatchObject({ status: 0, stderr: "" });
    await until(async () => ["Succeeded", "Failed"].includes((await get("group")).status.phase));
    const printed = [
      "1000 7 4321",
      "4321",
      "2777 4321",
      "440 4321",
      "hello",
      "1",
      "nameserver 192.0.2.53",
      "2777 4321",
      "2777 4321",
      "new",
    ];
    expect(shared.lines()).toEqual(printed);
    expect(existsSync(join(scene.stateDir, "kept/default/data/db/x"))).toBe(true);
  });
});
