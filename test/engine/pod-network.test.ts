/** The network that every pod has: what it reaches and who reaches it, its names, and what it has on a host that can make none. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

const WORK = "trap 'exit 0' TERM; sleep 1000 & wait $!";
const SERVE = `mkdir -p /tmp/$(hostname) && hostname > /tmp/$(hostname)/name && httpd -p 80 -h /tmp/$(hostname); ${WORK}`;
/** Answers each client with the address that it has seen. */
const ECHO =
  "require('net').createServer((s) => { s.on('error', () => {}); s.end(s.remoteAddress); }).listen(80, '192.0.2.2', () => console.log('up'))";

interface Told {
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string }[];
  };
}

describe.skipIf(!isRoot || noNetworks !== undefined)("networks of pods (need root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const pod = (name: string, script: string, more: { spec?: object; container?: object } = {}) => ({
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name, annotations: { "runt.dev/rootfs.a": scene.rootfs() } } },
    spec: {
      containers: [{ name: "a", command: ["/bin/sh", "-c", script], ...more.container }],
      terminationGracePeriodSeconds: 5,
      ...more.spec,
    },
  });
  const deployment = (name: string, script: string) => {
    const { metadata, spec } = pod(name, script);
    const template = { metadata: { ...metadata, labels: { app: name } }, spec };
    return {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name },
      spec: { replicas: 1, selector: { matchLabels: { app: name } }, template },
    };
  };
  const apply = (group: string, ...documents: object[]) =>
    scene.ctl("-g", group, "apply", "-f", scene.file(`${group}.yaml`, documents.map((one) => JSON.stringify(one)).join("\n---\n")));
  const get = async (group: string, name: string): Promise<Told> =>
    JSON.parse((await scene.ctl("-g", group, "get", name, "-o", "json")).stdout);
  const runs = (group: string, name: string) => until(async () => (await get(group, name)).status.phase === "Running", LONGEST_MS);
  const inPod = async (name: string, ...command: string[]) => (await scene.ctl("-g", "shop", "exec", name, ...command)).stdout;
  const gone = async (group: string, ...names: string[]) => {
    expect(await scene.ctl("-g", group, "delete", ...names)).toMatchObject({ status: 0 });
    for (const name of names) await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${name}?group=${group}`)).status === 404);
  };

  test(
    "P3 P31 a pod that names no port has an address, by which pods of all groups reach it, its own name, and a way to other machines; not to the metadata of clouds",
    async () => {
      await host.daemon();
      // Another machine, which knows no way back to the addresses of pods.
      await host.serve(
        ...["unshare", "--net", "sh", "-c"],
        `set -e; at="nsenter --net=${host.path}"; $at ip link add wan type veth peer name far netns $$; $at ip addr add 192.0.2.1/24 dev wan; $at ip link set wan up
         ip addr add 192.0.2.2/24 dev far; ip link set far up; exec ${process.execPath} -e "${ECHO}"`,
      );
      expect(await apply("shop", pod("worker", WORK), deployment("web", SERVE))).toMatchObject({ status: 0, stderr: "" });
      expect(await apply("team", pod("other", SERVE))).toMatchObject({ status: 0, stderr: "" });
      await Promise.all([runs("shop", "worker"), runs("shop", "web-0"), runs("team", "other")]);
      const address = async (group: string, name: string) => (await get(group, name)).status.podIP!;
      const [own, web, other] = [await address("shop", "worker"), await address("shop", "web-0"), await address("team", "other")];
      expect(await inPod("worker", "cat", "/etc/hosts")).toContain(`\n${own}\tworker\n`);
      expect(await inPod("worker", "hostname")).toBe("worker\n");
      for (const [one, name] of [[web, "web-0"] as const, [other, "other"] as const])
        await expect.poll(() => inPod("worker", "wget", "-q", "-O", "-", `http://${one}/name`)).toBe(`${name}\n`);
      // It leaves under an address of the host.
      await expect.poll(() => inPod("worker", "nc", "192.0.2.2", "80")).toMatch(/192\.0\.2\.1$/);
      expect(await inPod("worker", "ip", "route", "show", "169.254.169.254")).toContain("blackhole");
      expect((await host.rules()).join("\n")).toContain("169.254.169.254");
      await gone("shop", "worker", "web-0");
      await gone("team", "other");
      expect((await host.left()).filter((one) => one !== "wan")).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "P3 on a host without the programs for networks a pod has only loopback, and apply, describe and its condition say why; one that needs a network is refused",
    async () => {
      const bare = { args: ["--cni-path", join(scene.directory, "no-plugins")] };
      const daemon = await host.daemon(bare);
      const lacks = "the network plugin bridge is not installed";
      const port = { container: { ports: [{ containerPort: 80, hostPort: 18_090 }] }, spec: { restartPolicy: "Never" } };
      const { status, stderr } = await apply("shop", pod("worker", WORK), pod("server", WORK, port));
      expect(status).toBe(0);
      expect(stderr).toContain(`warning: worker: network: only loopback, and no way to other pods and machines: ${lacks}`);
      await runs("shop", "worker");
      expect(await inPod("worker", "cat", "/etc/hosts")).toContain("\n127.0.0.1\tworker\n");
      expect((await scene.ctl("-g", "shop", "describe", "worker")).stdout).toMatch(new RegExp(`^Network: +only loopback: ${lacks}`, "m"));
      const told = (await get("shop", "worker")).status;
      expect(told).not.toHaveProperty("podIP");
      expect(told.conditions.find(({ type }) => type === "runt.dev/LoopbackOnly")).toMatchObject({ status: "True" });
      expect(daemon.log()).toMatch(new RegExp(`"network-fallback".*${lacks}`));
      await until(async () => (await get("shop", "server")).status.phase === "Failed");
      expect((await scene.ctl("-g", "shop", "describe", "server")).stdout).toContain(lacks);
      // The next daemon leaves the pod as it is.
      await daemon.kill();
      await host.daemon(bare);
      expect((await get("shop", "worker")).status.phase).toBe("Running");
      expect((await scene.ctl("-g", "shop", "describe", "worker")).stdout).toContain(lacks);
      await gone("shop", "worker", "server");
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "P3 also without the program ip the loopback of a pod is up",
    async () => {
      const args = ["--cni-path", join(scene.directory, "no-plugins")];
      const daemon = await host.daemon({ args, before: "mount --bind /dev/null $(readlink -f $(command -v ip))" });
      const local = pod("local", `httpd -p 127.0.0.1:8000 -h /bin; ${WORK}`);
      expect(await apply("shop", local)).toMatchObject({ status: 0 });
      await runs("shop", "local");
      await expect
        .poll(async () => (await inPod("local", "wget", "-q", "-O", "-", "http://127.0.0.1:8000/busybox")).length)
        .toBeGreaterThan(0);
      expect(daemon.log()).toContain('"network-fallback"');
      await gone("shop", "local");
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );
});
