/**
 * linux.netDevices, in a network namespace that stands for the host's: NET-01 to NET-08. Pairs of veth are what every kernel has;
 * they are virtual, so whatever is not brought back in time is destroyed. There is no differential test: runc and crun of Debian 12
 * do not know the field.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { type CallOptions, call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { makeNetworkNamespace, type NetworkNamespace } from "../support/network-namespace.ts";

const IP = "/usr/sbin/ip";

interface Device {
  readonly ifindex: number;
  readonly ifname: string;
  readonly flags: readonly string[];
  readonly operstate: string;
  readonly mtu: number;
  readonly addr_info: readonly { readonly local: string; readonly prefixlen: number; readonly scope: string; readonly label?: string }[];
}

type Place = Pick<NetworkNamespace, "file">;

describe.skipIf(!isRoot || !isRunt || !existsSync(IP))(`network devices (needs root and ${IP})`, () => {
  const { bundle, directory, id, root } = useHarness();
  let here: NetworkNamespace;
  let there: NetworkNamespace;

  const inside = ({ file }: Place, command: readonly string[], options?: CallOptions) =>
    call(directory, ["nsenter", `--net=${file}`, ...command], options);
  const runtime = (args: readonly string[], options?: CallOptions) => inside(here, [RUNTIME, "--root", root, ...args], options);

  async function ip(place: Place, ...lines: readonly string[]): Promise<void> {
    const batch = join(directory, "batch");
    writeFileSync(batch, lines.map((line) => `${line}\n`).join(""));
    const { status, stderr } = await inside(place, [IP, "-batch", batch]);
    if (status !== 0) throw new Error(`ip: ${stderr}`);
  }
  async function devices(place: Place): Promise<readonly Device[]> {
    return JSON.parse((await inside(place, [IP, "-j", "addr"])).stdout);
  }
  const names = async (place: Place) => (await devices(place)).map(({ ifname }) => ifname).sort();
  async function device(place: Place, name: string): Promise<Device> {
    const found = (await devices(place)).find(({ ifname }) => ifname === name);
    if (!found) throw new Error(`no device ${name}`);
    return found;
  }
  /** Those that a device keeps, with their labels. */
  const addresses = ({ addr_info }: Device) =>
    addr_info
      .filter(({ scope }) => scope === "global")
      .map(({ local, prefixlen, label }) => `${local}/${prefixlen}${label ? ` ${label}` : ""}`);
  const isUp = ({ flags }: Device) => flags.includes("UP");

  const withDevices = (netDevices: object, change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, "exec sleep 60");
      config.linux["netDevices"] = netDevices;
      change(config);
    });
  const joining = (place: Place) => (config: Config) => {
    for (const namespace of config.linux.namespaces) if (namespace.type === "network") namespace.path = place.file;
  };
  async function create(path: string): Promise<{ readonly name: string; readonly place: Place }> {
    const name = id();
    const pidFile = join(directory, name);
    const { status, stderr } = await runtime(["create", "--pid-file", pidFile, "-b", path, name]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return { name, place: { file: `/proc/${readFileSync(pidFile, "utf8")}/ns/net` } };
  }
  async function refused(path: string, verb = "create"): Promise<string> {
    const { status, stderr } = await runtime([verb, "-b", path, id()]);
    expect(status).toBe(1);
    expect(existsSync(root) ? readdirSync(root) : []).toEqual([]);
    return stderr;
  }
  /** d0 is as it was made below. */
  async function expectHome(): Promise<void> {
    const home = await device(here, "d0");
    expect([isUp(home), home.mtu, addresses(home)]).toEqual([true, 1400, ["10.1.2.1/24 d0:x", "2001:db8::1/64"]]);
  }

  beforeEach(async () => {
    here = await makeNetworkNamespace();
    there = await makeNetworkNamespace();
    await ip(here, "link add d0 type veth peer name peer0", "link add d1 type veth peer name peer1", "link set peer0 up");
    await ip(here, "link set d0 up mtu 1400", "addr add 10.1.2.1/24 label d0:x dev d0", "addr add 2001:db8::1/64 nodad dev d0");
  });
  afterEach(() => {
    here.end();
    there.end();
  });

  test("NET-01 NET-02 NET-05 a device is moved, renamed, up, and its other end still connected", async () => {
    const { name, place } = await create(withDevices({ d0: { name: "net0" }, d1: {} }));
    expect(await names(place)).toEqual(["d1", "lo", "net0"]);
    expect(await names(here)).toEqual(["lo", "peer0", "peer1"]);
    const moved = await device(place, "net0");
    expect([isUp(moved), moved.mtu, isUp(await device(place, "d1")), isUp(await device(place, "lo"))]).toEqual([true, 1400, true, true]);
    await expect.poll(async () => (await device(here, "peer0")).operstate).toBe("UP");
    const { stdout } = await inside(here, [IP, "link", "show", "dev", "d0"]);
    expect(stdout).toBe("");
    // NET-06: what is virtual goes with its namespace, and so does the other end.
    await runtime(["delete", "--force", name]);
    await expect.poll(() => names(here)).toEqual(["lo"]);
  });

  test("NET-04 permanent global addresses are kept as they were, others are not", async () => {
    await ip(
      here,
      "addr add 10.1.2.9/24 dev d0",
      "addr add 10.9.9.1 peer 10.9.9.2/32 metric 77 dev d0",
      "addr add 10.7.0.1/24 brd + preferred_lft 0 dev d0",
      "addr add 10.5.0.1/24 scope link dev d0",
      "addr add 10.6.0.1/24 valid_lft 1000 preferred_lft 500 dev d0",
      "addr add 2001:db8::2/64 nodad noprefixroute dev d0",
      "addr add 2001:db8:1::1/64 nodad valid_lft 1000 preferred_lft 500 dev d0",
      "addr add fe80::99/64 nodad dev d0",
    );
    const text = async (place: Place, dev: string) =>
      (await inside(place, [IP, "addr", "show", "dev", dev])).stdout
        .split("\n")
        .filter((line) => / inet6? /.test(line) && !/ dynamic |scope link/.test(line))
        .map((line) => line.trim().replaceAll(dev, "DEVICE"));
    const before = await text(here, "d0");
    const { place } = await create(withDevices({ d0: { name: "eth7" } }));
    expect(before).toHaveLength(6);
    expect(await text(place, "eth7")).toEqual(before);
    const all = (await device(place, "eth7")).addr_info.map(({ local }) => local);
    for (const absent of ["10.5.0.1", "10.6.0.1", "2001:db8:1::1", "fe80::99"]) expect(all).not.toContain(absent);
    const routes = (await inside(place, ["sh", "-c", `${IP} route; ${IP} -6 route`])).stdout;
    expect(routes).toContain("10.9.9.2 dev eth7 proto kernel scope link src 10.9.9.1 metric 77");
    expect(routes).toContain("2001:db8::/64 dev eth7");
  });

  test("NET-03 templates are completed by the kernel", async () => {
    await ip(there, "link add d1 type veth peer name e0", "link add eth0 type veth peer name e1");
    const { place } = await create(withDevices({ d1: { name: "eth%d" }, d0: { name: "eth%d" } }, joining(there)));
    expect(await names(place)).toEqual(["d1", "e0", "e1", "eth0", "eth1", "eth2", "lo"]);
    expect(addresses(await device(place, "eth2"))).toEqual(["10.1.2.1/24 eth2:x", "2001:db8::1/64"]);
  });

  test("NET-03 a taken name is an error, and the device is not touched", async () => {
    await ip(there, "link add taken type veth peer name d1");
    const error = await refused(withDevices({ d0: { name: "taken" } }, joining(there)));
    expect(error).toContain('linux.netDevices: "d0" cannot be "taken": the container\'s network namespace has a device of this name');
    await expectHome();
    expect(await refused(withDevices({ d1: {} }, joining(there)))).toContain('"d1" cannot be "d1"');
    // The name at home may be taken there as long as the other one is free.
    const { place } = await create(withDevices({ d1: { name: "free" } }, joining(there)));
    expect(await names(place)).toEqual(["d1", "free", "lo", "taken"]);
  });

  test("NET-06 in a joined namespace the device stays after delete", async () => {
    const { name } = await create(withDevices({ d0: { name: "net0" } }, joining(there)));
    expect((await runtime(["delete", "--force", name])).status).toBe(0);
    expect(addresses(await device(there, "net0"))).toEqual(["10.1.2.1/24 net0:x", "2001:db8::1/64"]);
    expect(await names(here)).toEqual(["d1", "lo", "peer0", "peer1"]);
  });

  test("NET-07 what cannot be is refused before anything is done", async () => {
    const network = (change: (config: Config) => void) => withDevices({ d0: {} }, change);
    expect(await refused(withDevices({ d9: {} }))).toContain('linux.netDevices: there is no network device "d9" (at /linux/netDevices/d9)');
    const without = network((config) => {
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "network");
    });
    expect(await refused(without)).toContain("linux.netDevices: unable to move network devices without a network namespace");
    expect(await refused(network(joining(here)))).toContain("is the network namespace of the runtime itself (at /linux/netDevices)");
    expect(await refused(withDevices({ d0: { name: "a/b" } }))).toContain('the name "a/b" for "d0" has a slash');
    expect(await refused(withDevices({ lo: { name: "eth0" } }))).toContain("the loopback device cannot be moved");
    await expectHome();
  });

  test.each([
    ["a new", () => {}],
    ["a joined", (config: Config) => joining(there)(config)],
  ])("NET-08 a failed create brings devices back from %s network namespace", async (_, change) => {
    const devices = { d0: { name: "net0" }, d1: { name: "d0" } };
    for (const verb of ["create", "run"]) {
      const failing = withDevices(devices, (config) => {
        change(config);
        config["hooks"] = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", "echo no >&2; exit 3"] }] };
      });
      expect(await refused(failing, verb)).toContain("createRuntime");
      const missing = withDevices(devices, (config) => {
        change(config);
        config.process.args = ["/no/such/program"];
      });
      expect(await refused(missing, verb)).toContain("no such file or directory");
      await expectHome();
      expect(isUp(await device(here, "d1"))).toBe(false);
      expect(await names(here)).toEqual(["d0", "d1", "lo", "peer0", "peer1"]);
      expect(await names(there)).toEqual(["lo"]);
    }
  });

  test("NET-08 also when another device cannot be moved", async () => {
    await ip(here, "link add br0 type bridge");
    const error = await refused(withDevices({ d0: {}, br0: {} }));
    expect(error).toMatch(/netdevice\.move br0: invalid argument.*\/linux\/netDevices\/br0/s);
    await expectHome();
  });

  test("a name that was taken at home meanwhile is told on stderr, beside the error", async () => {
    const path = withDevices({ d0: { name: "net0" } }, (config) => {
      const script = `${IP} link add d0 type veth peer name other && exit 3`;
      config["hooks"] = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", script] }] };
    });
    expect(await refused(path)).toContain("runt: warning: network device d0 could not be brought back as it was: file exists");
    expect(await names(here)).toEqual(["d0", "d1", "lo", "net0", "other", "peer0", "peer1"]);
  });

  test("with a user namespace, hooks and sysctls that find the device", async () => {
    const seen = join(directory, "seen");
    const path = withDevices({ d0: { name: "net0" } }, (config) => {
      const map = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
      Object.assign(config.linux, { uidMappings: map, gidMappings: map });
      config.linux.namespaces.push({ type: "user" });
      config.linux.sysctl = { "net.ipv4.conf.net0.forwarding": "1" };
      const script = `pid=$(sed 's/.*"pid": *\\([0-9]*\\).*/\\1/'); nsenter --net=/proc/$pid/ns/net ${IP} -o link show net0 > ${seen}`;
      config["hooks"] = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", script] }] };
    });
    const { place } = await create(path);
    expect(readFileSync(seen, "utf8")).toContain("net0");
    expect((await inside(place, ["cat", "/proc/sys/net/ipv4/conf/net0/forwarding"])).stdout).toBe("1\n");
    expect(addresses(await device(place, "net0"))).toEqual(["10.1.2.1/24 net0:x", "2001:db8::1/64"]);
  });

  test("an alternative name finds the device, which keeps its own", async () => {
    await ip(here, "link property add dev d0 altname a-much-longer-name-of-d0", "link property add dev d0 altname short");
    const { place } = await create(withDevices({ short: {} }));
    expect(await names(place)).toEqual(["d0", "lo"]);
  });

  test("plan shows the move and moves nothing", async () => {
    const { stdout } = await runtime(["plan", "-b", withDevices({ d0: { name: "net%d" } })]);
    expect(stdout).toMatch(/netdevice\.move +d0 as net%d +\/linux\/netDevices\/d0/);
    await expectHome();
  });

  test("delete --force brings back what a killed create has moved into a joined namespace", async () => {
    const path = withDevices({ d0: { name: "net%d" }, d1: { name: "d0" } }, (config) => {
      joining(there)(config);
      config["hooks"] = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", "kill -KILL $PPID"] }] };
    });
    const name = id();
    expect((await runtime(["create", "-b", path, name])).status).toBe(137);
    expect(await names(there)).toEqual(["d0", "lo", "net0"]);
    expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
    await expectHome();
    expect(await names(here)).toEqual(["d0", "d1", "lo", "peer0", "peer1"]);
  });

  test.each(["has gone", "has become another one"])("delete --force touches no other device when the joined namespace %s", async (what) => {
    const mounted = join(directory, "netns");
    writeFileSync(mounted, "");
    const path = withDevices({ d0: { name: "net0" } }, (config) => {
      joining({ file: mounted })(config);
      config["hooks"] = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", `umount ${mounted} && kill -KILL $PPID`] }] };
    });
    const first = await makeNetworkNamespace();
    await call(directory, ["mount", "--bind", first.file, mounted]);
    const { ifindex } = await device(here, "d0");
    const name = id();
    expect((await runtime(["create", "-b", path, name])).status).toBe(137);
    first.end();
    // A device of the same number.
    await ip(there, `link add net0 index ${ifindex} type veth peer name net1`);
    if (what === "has become another one") await call(directory, ["mount", "--bind", there.file, mounted]);
    expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
    expect(await names(there)).toEqual(["lo", "net0", "net1"]);
    await call(directory, ["sh", "-c", `umount ${mounted}; rm ${mounted}`]);
  });

  test("a killed create of a joined namespace loses no device at any instant, until the container is there", async () => {
    const path = withDevices({ d0: { name: "net0" }, d1: { name: "d0" } }, joining(there));
    const name = id();
    for (let round = 0; round < 40; round++) {
      await runtime(["create", "-b", path, name], {
        started: (child) => {
          void sleep(1 + round * 0.3).then(() => child.kill("SIGKILL"));
        },
      });
      const record = join(root, name, "state.json");
      const committed = existsSync(record) && JSON.parse(readFileSync(record, "utf8")).phase === "created";
      expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
      if (committed) {
        expect(await names(there)).toEqual(["d0", "lo", "net0"]);
        break;
      }
      await expectHome();
      expect(await names(here)).toEqual(["d0", "d1", "lo", "peer0", "peer1"]);
    }
  });

  test("a create that is killed with a new namespace leaves nothing that delete --force does not remove", async () => {
    const path = withDevices({ d0: {} }, (config) => {
      config["hooks"] = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", "kill -KILL $PPID"] }] };
    });
    const name = id();
    expect((await runtime(["create", "-b", path, name])).status).toBe(137);
    expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
    expect(readdirSync(root)).toEqual([]);
    // The kernel destroys a virtual device with its namespace.
    await expect.poll(() => names(here)).toEqual(["d1", "lo", "peer1"]);
  });
});
