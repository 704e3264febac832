/** Devices of containers in machines: block devices of the host as disks, and character devices of the guest. Attacks of a hostile guest on them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { shell, useHarness } from "../support/harness.ts";
import { machineMissing, programs, staying, VM, VM_TIMEOUT, WITH_IMAGE } from "../support/vm.ts";
import { memberOf, sandbox } from "../support/vm-pod.ts";

const missing = machineMissing();
const MIB = 1024 ** 2;

interface Loop {
  readonly path: string;
  readonly major: number;
  readonly minor: number;
}

describe.skipIf(missing !== undefined)(`devices of a machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const harness = useHarness();
  const { bundle, directory, id, ok, runtime } = harness;
  const loops: string[] = [];
  let count = 0;

  afterEach(() => {
    for (const path of loops.splice(0)) execFileSync("losetup", ["--detach", path]);
  });

  /** A block device of the host whose content begins with the text. */
  function loop(text: string): Loop {
    const file = join(directory, `disk-${++count}`);
    writeFileSync(file, text.padEnd(MIB, "\0"));
    const path = execFileSync("losetup", ["--find", "--show", file], { encoding: "utf8" }).trim();
    loops.push(path);
    const { rdev } = statSync(path);
    return { path, major: rdev >> 8, minor: rdev & 0xff };
  }

  /** What the kernel has of it now. */
  const content = ({ path }: Loop) => readFileSync(path).toString("latin1").replace(/\0+$/, "");

  const device = ({ major, minor }: Pick<Loop, "major" | "minor">, path: string, type = "b") => ({
    path,
    type,
    major,
    minor,
    fileMode: 0o600,
  });

  function withDevices(config: Config, devices: readonly object[], rules: readonly object[]): void {
    Object.assign(config.linux, { devices });
    config.linux.resources = { ...config.linux.resources, devices: [{ allow: false, access: "rwm" }, ...rules] } as never;
  }

  test("block devices are disks, read-only where the rule or the mount says so, and character devices are those of the guest", async () => {
    const [data, fixed, bound, shown] = ["data", "fixed", "bound", "shown"].map(loop) as [Loop, Loop, Loop, Loop];
    const script = [
      "for each in data fixed bound shown; do head -c 5 /dev/$each | tr '\\0' ' '; echo; done",
      "for each in data fixed bound shown; do printf 'written' | dd of=/dev/$each conv=fsync,notrunc 2>/dev/null && echo $each; done",
      "for each in fuse net/tun; do (exec 3<>/dev/$each) && echo $each; done; stat -c '%a %F' /dev/data",
    ].join("\n");
    const path = bundle((config) => {
      shell(config, script);
      const rule = (of: object, access: string, type = "b") => ({ allow: true, type, ...of, access });
      const number = ({ major, minor }: Loop) => ({ major, minor });
      const [fuse, tun] = [
        { major: 10, minor: 229 },
        { major: 10, minor: 200 },
      ];
      withDevices(
        config,
        [device(data, "/dev/data"), device(fixed, "/dev/fixed"), device(fuse, "/dev/fuse", "c"), device(tun, "/dev/net/tun", "c")],
        [
          ...[rule(number(data), "rw"), rule(number(fixed), "r"), rule(number(bound), "rw"), rule(number(shown), "rw")],
          rule(fuse, "rw", "c"),
        ],
      );
      config.mounts.push({ destination: "/dev/bound", type: "bind", source: bound.path, options: ["bind"] });
      config.mounts.push({ destination: "/dev/shown", type: "bind", source: shown.path, options: ["bind", "ro"] });
    });
    const { stdout } = await runtime(["run", ...VM, "-b", path, id()], WITH_IMAGE);
    expect(stdout).toBe("data \nfixed\nbound\nshown\ndata\nbound\nfuse\nnet/tun\n600 block special file\n");
    expect([data, fixed, bound, shown].map(content)).toEqual(["written", "fixed", "written", "shown"]);
  });

  test("a hostile guest cannot write to a read-only disk and cannot discard, and the hypervisor has no other device", async () => {
    const [fixed, data] = [loop("fixed"), loop("data")];
    const machine = await staying(harness, (config) => {
      withDevices(
        config,
        [device(fixed, "/dev/fixed"), device(data, "/dev/data")],
        [{ allow: true, type: "b", ...numbers(fixed), access: "r" }],
      );
    });
    const attack = [
      "blockdev --setrw /dev/vda; printf bad | dd of=/dev/vda conv=fsync,notrunc && echo written",
      "blkdiscard /dev/vda && echo discarded; blkdiscard /dev/vdb && echo discarded",
      "cat /sys/block/vda/ro /sys/block/vdb/queue/discard_max_bytes",
    ].join("; ");
    const { stdout } = await runtime(["machine", "exec-shell", machine.name, "--", "-c", attack]);
    expect(stdout).toBe("1\n0\n");
    expect([fixed, data].map(content)).toEqual(["fixed", "data"]);
    const hypervisor = programs(machine).get("qemu-system-x86")!;
    const nodes = readdirSync(`/proc/${hypervisor}/fd`).flatMap((fd) => {
      const link = readlinkSync(`/proc/${hypervisor}/fd/${fd}`);
      if (!link.startsWith("/dev/disk-")) return [];
      const flags = Number.parseInt(/^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/${hypervisor}/fdinfo/${fd}`, "utf8"))![1]!, 8);
      return [`${link} ${(flags & 3) === 0 ? "reads" : "writes"}`];
    });
    expect([...new Set(nodes)].sort()).toEqual(["/dev/disk-0 reads", "/dev/disk-1 writes"]);
  });

  test("a device node that is replaced between the check and the boot changes nothing", async () => {
    const [asked, other] = [loop("asked"), loop("other")];
    const place = join(directory, "nodes");
    mkdirSync(place);
    const node = (name: string, { major, minor }: Loop) => execFileSync("mknod", [join(place, name), "b", String(major), String(minor)]);
    node("disk", asked);
    node("next", other);
    const path = bundle((config) => {
      shell(config, "head -c 5 /dev/bound; echo bad | dd of=/dev/bound conv=fsync,notrunc 2>/dev/null");
      withDevices(config, [], [{ allow: true, type: "b", ...numbers(asked), access: "rw" }]);
      config.mounts.push({ destination: "/dev/bound", type: "bind", source: join(place, "disk"), options: ["bind"] });
      const replace = { path: "/bin/sh", args: ["sh", "-c", `mv ${place}/next ${place}/disk`] };
      Object.assign(config, { hooks: { createRuntime: [replace] } });
    });
    expect(await ok(["run", ...VM, "-b", path, id()], WITH_IMAGE)).toBe("asked");
    expect([asked, other].map(content)).toEqual(["bad\nd", "other"]);
  });

  test("what a guest does not have is refused by its number, and so is a disk for a machine that runs", async () => {
    const refused = async (change: (config: Config) => void) => {
      const { status, stderr } = await runtime(["create", ...VM, "-b", bundle(change), id()], WITH_IMAGE);
      expect(status).not.toBe(0);
      return stderr;
    };
    const memory = { major: 1, minor: 1 };
    const node = join(directory, "mem");
    execFileSync("mknod", [node, "c", "1", "1"]);
    expect(await refused((config) => withDevices(config, [device(memory, "/dev/mem", "c")], []))).toContain(
      "a container in a machine cannot have the character device 1:1 (/dev/mem): the guest's kernel has none of this number (at /linux/devices/0)",
    );
    expect(
      await refused((config) => {
        config.mounts.push({ destination: "/dev/mem", type: "bind", source: node, options: ["bind"] });
      }),
    ).toContain(`the character device 1:1 (${node})`);
    const disk = loop("disk");
    const pod = await sandbox(harness);
    const late = (config: Config) => {
      memberOf(pod)(config);
      withDevices(config, [device(disk, "/dev/late")], []);
    };
    expect(await refused(late)).toContain(
      `the block device ${disk.major}:${disk.minor}: the machine of its sandbox gets no disks after its boot`,
    );
  });
});

const numbers = ({ major, minor }: Loop) => ({ major, minor });
