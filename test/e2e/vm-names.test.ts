/** Names that others choose reach neither the command lines of a machine's programs nor other names in the guest: of interfaces, mounts and files. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { useHarness } from "../support/harness.ts";
import { makeNetworkNamespace, type NetworkNamespace } from "../support/network-namespace.ts";
import { copiedRootfs } from "../support/programs.ts";
import { type Machine, machineMissing, programs, staying, VM, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";

const missing = machineMissing();

describe.skipIf(missing !== undefined)(`hostile names in a machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const harness = useHarness();
  const { id, ok, runtime } = harness;
  let pod: NetworkNamespace;

  const inside = (...command: readonly string[]): string =>
    execFileSync("nsenter", [`--net=${pod.file}`, ...command], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  /** A pair whose other end is down. */
  const make = (name: string, number: number): void => {
    inside("ip", "link", "add", "name", name, "type", "veth", "peer", "name", `peer${number}`);
    inside("ip", "link", "set", "dev", name, "up");
  };
  const joined = (config: Config): void => {
    config.linux.namespaces = config.linux.namespaces.map((each) => (each.type === "network" ? { ...each, path: pod.file } : each));
  };
  const commandLines = (machine: Machine): string[][] =>
    ["qemu-system-x86", "virtiofsd"].map((name) => readFileSync(`/proc/${programs(machine).get(name)}/cmdline`, "utf8").split("\0"));

  beforeEach(async () => {
    pod = await makeNetworkNamespace();
  });
  afterEach(() => pod.end());

  test("interfaces: like options, with the words of options, controls, quotes, all of the room, and the names that runt uses on the way", async () => {
    const names = [
      ...[
        "-netdev",
        "a,ifname=b",
        "script=x",
        '"$(id)`\\',
        "'; reboot #",
        "\u001b[2J\u007f\u0001",
        "fifteen-letters",
        "é\u202eü",
        "runt3",
        "runt4",
      ],
    ].map((name) => name.replaceAll(" ", "_"));
    names.forEach(make);
    const machine = await staying(harness, joined);
    const seen = await ok(["exec", machine.name, "/bin/sh", "-c", "cd /sys/class/net && for each in *; do printf '%s\\n' \"$each\"; done"]);
    expect(seen.split("\n").filter(Boolean).sort()).toEqual([...names, "lo"].sort());
    // Each is the one that has this name on the host.
    for (const name of names) {
      const address = /link\/ether (\S+)/.exec(inside("ip", "link", "show", "dev", name))![1]!;
      expect(await ok(["exec", machine.name, "/bin/sh", "-c", 'cat "/sys/class/net/$0/address"', name])).toBe(`${address}\n`);
    }
    const words = commandLines(machine).flat();
    for (const name of names.filter((each) => each !== "-netdev")) expect(words.filter((word) => word.includes(name))).toEqual([]);
    expect(words.filter((word) => word === "-netdev")).toHaveLength(names.length);
  });

  test("interfaces: refused by name where the guest could not have them", async () => {
    const refused = async (words: string): Promise<void> => {
      const { status, stderr } = await runtime(["create", ...VM, "-b", harness.bundle(joined), id()], WITH_IMAGE);
      expect(stderr).toContain(words);
      expect(status).toBe(1);
      expect(inside("ip", "-o", "link")).not.toContain("runt-tap");
    };
    inside("sh", "-c", "ip link add name \"$(printf 'caf\\351')\" type veth peer name peer; ip link set dev peer up");
    // One that is down is not the machine's.
    inside("sh", "-c", "ip link set dev \"$(printf 'caf\\351')\" up");
    await refused("a machine cannot have the interface caf\\xe9, whose name is not UTF-8");
    inside("ip", "link", "del", "dev", "peer");
    inside("sh", "-c", "ip link set dev lo name former && ip link add name lo type veth peer name peer && ip link set dev lo up");
    await refused("a machine cannot have the interface lo, which has the name of the guest's loopback");
  });

  test("mounts and files: both sides see the same bytes, in their directories and nowhere else", async () => {
    const place = join(harness.directory, "root-of-names");
    mkdirSync(place);
    const rootfs = copiedRootfs(place);
    const names = [
      "-o source=,x",
      "a,ro=b",
      "new\nline",
      '"$(touch x)`\\',
      "%s%n",
      "\\040tab\t",
      "\u001b]0;x\u0007",
      "é\u202e",
      "x".repeat(255),
    ];
    const source = join(harness.directory, 'of,the="host"\n%');
    mkdirSync(source);
    for (const name of names) writeFileSync(join(source, name), name);
    execFileSync("sh", ["-c", "touch \"$0/$(printf 'bytes\\377\\200')\"", source]);
    const destinations = names.slice(0, -1).map((name) => `/mnt/${name}`);
    const machine = await staying(harness, (config) => {
      config.root = { path: rootfs, readonly: true };
      for (const destination of destinations) config.mounts.push({ destination, type: "bind", source, options: ["rbind"] });
    });
    const dump = (where: string) => `cd "${where}" && for each in *; do printf '%s\\0' "$each"; done | od -An -tx1 -v`;
    const own = execFileSync("sh", ["-c", dump(".")], { encoding: "utf8", cwd: source, env: { ...process.env, LC_ALL: "C" } });
    const flat = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
    for (const destination of destinations) {
      expect(flat(await ok(["exec", machine.name, "/bin/sh", "-c", dump("$0"), destination]))).toBe(flat(own));
      for (const name of names) expect(await ok(["exec", machine.name, "/bin/cat", `${destination}/${name}`])).toBe(name);
    }
    await ok(["exec", machine.name, "/bin/sh", "-c", 'echo made >"$0/made in the guest\n"', destinations[0]!]);
    expect(readFileSync(join(source, "made in the guest\n"), "utf8")).toBe("made\n");
    const words = commandLines(machine).flat();
    for (const name of [...names, source]) expect(words.filter((word) => word.includes(name))).toEqual([]);
  });
});
