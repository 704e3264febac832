/** A machine has the interfaces of the network namespace that the container has on the host. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { shell, useHarness } from "../support/harness.ts";
import { makeNetworkNamespace, type NetworkNamespace } from "../support/network-namespace.ts";
import { isThere, machineMissing, programs, staying, VM, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";

const missing = machineMissing();

describe.skipIf(missing !== undefined)(`the network of a machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const harness = useHarness();
  const { id, ok, runtime } = harness;
  let pod: NetworkNamespace;
  let peer: NetworkNamespace;

  const inside = ({ file }: NetworkNamespace, ...command: readonly string[]): string =>
    execFileSync("nsenter", [`--net=${file}`, ...command], { encoding: "utf8" });
  const lines = (namespace: NetworkNamespace, text: string): void => {
    for (const line of text.trim().split("\n")) inside(namespace, ...line.trim().split(" "));
  };
  const joined = (config: Config): void => {
    config.linux.namespaces = config.linux.namespaces.map((each) => (each.type === "network" ? { ...each, path: pod.file } : each));
  };

  beforeEach(async () => {
    [pod, peer] = [await makeNetworkNamespace(), await makeNetworkNamespace()];
    lines(
      peer,
      `ip link add out type veth peer name eth0 netns ${/\d+/.exec(pod.file)![0]}
       ip addr add 10.99.0.1/24 dev out
       ip addr add fd99::1/64 dev out nodad
       ip link set out up`,
    );
    lines(
      pod,
      `ip link set eth0 mtu 1400
       ip addr add 10.99.0.2/24 dev eth0
       ip addr add fd99::2/64 dev eth0 nodad
       ip link set eth0 up
       ip route add default via 10.99.0.1
       ip route add 10.77.0.0/16 dev eth0
       ip route add blackhole 169.254.169.254
       ip route add unreachable 10.77.1.0/24
       ip route add blackhole fd99:2::1`,
    );
  });
  afterEach(() => {
    pod.end();
    peer.end();
  });

  test("is the pod's: name, addresses, routes and size; both sides reach each other, and the namespace is as before afterwards", async () => {
    const machine = await staying(harness, joined);
    const { name } = machine;
    const links = await ok(["exec", name, "/bin/busybox", "ip", "addr", "show", "eth0"]);
    expect(links).toMatch(/^\d+: eth0: .*\bmtu 1400\b/);
    expect(links).toContain("inet 10.99.0.2/24");
    expect(links).toContain("inet6 fd99::2/64");
    expect(links).toContain(/link\/ether \S+/.exec(inside(pod, "ip", "link", "show", "eth0"))![0]);
    const routes = await ok(["exec", name, "/bin/busybox", "ip", "route"]);
    expect(routes).toContain("default via 10.99.0.1 dev eth0");
    expect(routes).toContain("10.77.0.0/16 dev eth0");
    // Packets of the machine go past the routes of the namespace on the host.
    expect(routes).toContain("blackhole 169.254.169.254");
    expect(routes).toContain("unreachable 10.77.1.0/24");
    expect(await ok(["exec", name, "/bin/busybox", "ip", "-6", "route"])).toContain("blackhole fd99:2::1");
    expect(await ok(["exec", name, "/bin/busybox", "ip", "addr", "show", "lo"])).toContain("inet 127.0.0.1/8");

    const server = spawn("nsenter", [`--net=${peer.file}`, process.execPath, "-e", SERVER], { stdio: ["ignore", "pipe", "inherit"] });
    await once(server.stdout, "data");
    expect(await ok(["exec", name, "/bin/busybox", "nc", "10.99.0.1", "5000"])).toHaveLength(SIZE);
    server.kill("SIGKILL");
    expect(inside(peer, join(harness.rootfs(), "bin/busybox"), "ping", "-c", "1", "-W", "5", "10.99.0.2")).toContain(" 0% packet loss");

    const hypervisor = programs(machine).get("qemu-system-x86")!;
    const status = execFileSync("cat", [`/proc/${hypervisor}/status`], { encoding: "utf8" });
    expect(status).toMatch(/^Uid:\s+65534\s+65534\s+65534\s+65534$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);

    await ok(["delete", "--force", name]);
    expect(isThere(hypervisor)).toBe(false);
    expect(inside(pod, "ip", "-o", "link")).not.toContain("runt-tap");
    // What arrives is for the namespace itself again.
    expect(inside(peer, join(harness.rootfs(), "bin/busybox"), "ping", "-c", "1", "-W", "5", "10.99.0.2")).toContain(" 0% packet loss");
    const again = harness.bundle((config) => {
      shell(config, "/bin/busybox ip addr show eth0");
      joined(config);
    });
    expect((await runtime(["run", ...VM, "-b", again, id()], WITH_IMAGE)).stdout).toContain("inet 10.99.0.2/24");
  });

  test("is refused, and changes nothing, where others have a tap or a filter that would be the machine's", async () => {
    const refused = async (words: string): Promise<void> => {
      const before = [inside(pod, "ip", "-d", "link"), inside(pod, "tc", "filter", "show", "dev", "eth0", "ingress")];
      const { status, stderr } = await runtime(["create", ...VM, "-b", harness.bundle(joined), id()], WITH_IMAGE);
      expect(stderr).toContain(words);
      expect(status).toBe(1);
      expect([inside(pod, "ip", "-d", "link"), inside(pod, "tc", "filter", "show", "dev", "eth0", "ingress")]).toEqual(before);
    };
    lines(pod, "ip tuntap add mode tap name runt-tap0");
    await refused("network: there is an interface runt-tap0");
    lines(
      pod,
      `ip link del runt-tap0
       tc qdisc add dev eth0 ingress
       tc filter add dev eth0 ingress priority 29300 protocol all u32 match u32 0 0 flowid 1:1`,
    );
    await refused("network: eth0 has a filter of priority 29300 of others");
    lines(
      pod,
      `tc filter del dev eth0 ingress priority 29300
       ip link add other type veth peer name another
       tc filter add dev eth0 ingress priority 29300 protocol all u32 match u32 0 0 action mirred egress redirect dev other`,
    );
    await refused("network: eth0 has a filter of priority 29300 of others");
    // It is a machine's that has ended.
    lines(pod, "ip link del other");
    const bundle = harness.bundle(joined);
    expect((await runtime(["run", ...VM, "-b", bundle, id()], WITH_IMAGE)).status).toBe(0);
  });

  test("leaves a filter that somebody has put where the machine's was", async () => {
    const { name } = await staying(harness, joined);
    lines(
      pod,
      `tc filter del dev eth0 ingress priority 29300
       tc filter add dev eth0 ingress priority 29300 protocol all u32 match u32 0 0 flowid 1:1`,
    );
    await ok(["delete", "--force", name]);
    expect(inside(pod, "tc", "filter", "show", "dev", "eth0", "ingress")).toContain("flowid 1:1");
  });

  test("is refused where an interface is no Ethernet", async () => {
    lines(pod, "ip tuntap add mode tun name tun9\nip link set tun9 up");
    const bundle = harness.bundle(joined);
    const { stderr } = await runtime(["create", ...VM, "-b", bundle, id()], WITH_IMAGE);
    expect(stderr).toContain("network: a machine cannot have the interface tun9, which is no Ethernet");
  });
});

const SIZE = 1_000_000;
const SERVER = `
  const server = require("node:net").createServer((socket) => socket.end(Buffer.alloc(${SIZE}, "x")));
  server.listen(5000, "10.99.0.1", () => console.log("listens"));
`;
