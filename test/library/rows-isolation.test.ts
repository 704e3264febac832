/** Rows X22 to X34: what the program may do, sees and gets. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import {
  CAPABILITIES,
  DEFAULT_CAPABILITIES,
  DEFAULT_DEVICE_RULES,
  DEFAULT_DEVICES,
  DEFAULT_MOUNTS,
  DEFAULT_NAMESPACES,
  MASKED_PATHS,
  READONLY_PATHS,
} from "../../src/executor/index.ts";
import { CGROUPS, cgroupFile, cgroupOf, isUnified } from "../support/cgroups.ts";
import { CGROUP_PARENT, isGone, isRoot, printed, row, statusField, until, useExecutors } from "./support.ts";

const MIB = 1 << 20;
const mask = (names: readonly string[]) =>
  names
    .reduce((bits, name) => bits | (1n << BigInt((CAPABILITIES as readonly string[]).indexOf(name))), 0n)
    .toString(16)
    .padStart(16, "0");

describe.skipIf(!isRoot)("executor: isolation (needs root)", () => {
  const { executor, script, stateDir } = useExecutors();

  row(
    "X22",
    "a program of a user other than root has no capability, and its bounding set is the default set; requested ambient capabilities work",
    async () => {
      const one = executor();
      const { pid } = await one.launch(script("exec sleep 1000", { user: "65534:65534" }));
      expect(statusField(pid, "Uid").split("\t")).toEqual(["65534", "65534", "65534", "65534"]);
      expect(statusField(pid, "CapEff")).toBe(mask([]));
      expect(statusField(pid, "CapPrm")).toBe(mask([]));
      expect(statusField(pid, "CapAmb")).toBe(mask([]));
      expect(statusField(pid, "CapInh")).toBe(mask([]));
      expect(statusField(pid, "CapBnd")).toBe(mask(DEFAULT_CAPABILITIES));
      expect(statusField(pid, "NoNewPrivs")).toBe("1");

      const root = executor();
      expect(statusField((await root.launch(script("exec sleep 1000"))).pid, "CapEff")).toBe(mask(DEFAULT_CAPABILITIES));

      const listening = (capabilities: object | undefined) =>
        printed(
          executor(),
          script(
            "nc -l -p 80 & for try in $(seq 30); do sleep 0.1; grep -qE ':0050 0+:0000 0A' /proc/net/tcp6 && break; done; grep -cE ':0050 0+:0000 0A' /proc/net/tcp6",
            {
              user: "65534:65534",
              ...(capabilities === undefined ? {} : { capabilities }),
            },
          ),
        );
      expect((await listening({ ambient: ["CAP_NET_BIND_SERVICE"] })).text).toBe("1\n");
      expect((await listening(undefined)).text).toBe("0\n");
    },
  );

  row("X23", "the container has its own namespaces by default, and those of the host only on request", async () => {
    const files = { mount: "mnt", pid: "pid", ipc: "ipc", uts: "uts", network: "net", cgroup: "cgroup" } as const;
    const link = (pid: number | string, type: keyof typeof files) => readlinkSync(`/proc/${pid}/ns/${files[type]}`);
    const { pid } = await executor().launch(script("exec sleep 1000"));
    for (const type of DEFAULT_NAMESPACES) expect(link(pid, type)).not.toBe(link("self", type));
    const other = await executor().launch(
      script("exec sleep 1000", { namespaces: { network: "host", ipc: { path: `/proc/${pid}/ns/ipc` } } }),
    );
    expect(link(other.pid, "network")).toBe(link("self", "network"));
    expect(link(other.pid, "ipc")).toBe(link(pid, "ipc"));
    expect(link(other.pid, "pid")).not.toBe(link("self", "pid"));
  });

  row("X24", "masked paths read as empty, and root of the container cannot take the mask away", async () => {
    const present = MASKED_PATHS.filter((path) => existsSync(path));
    expect(present.length).toBeGreaterThan(0);
    const { text } = await printed(
      executor(),
      script(
        `for p in ${present.join(" ")}; do umount $p 2>&1; umount -l $p 2>&1; test -d $p && ls -A $p; test -f $p && cat $p; done; ` +
          "grep -c . /proc/self/mountinfo; echo end",
      ),
    );
    // Neither has anything appeared, nor was anything unmounted.
    const lines = text.trim().split("\n");
    expect(lines.filter((line) => /^umount: .*(Operation not permitted|Invalid argument|denied)/i.test(line))).toHaveLength(
      2 * present.length,
    );
    expect(lines.filter((line) => !line.startsWith("umount: "))).toEqual([expect.stringMatching(/^\d+$/), "end"]);
  });

  row("X25", "read-only paths refuse every write", async () => {
    // Not every kernel has all of them.
    const present = READONLY_PATHS.filter((path) => existsSync(path));
    const writable = ["/proc/sys/kernel/hostname", "/proc/sys/vm/swappiness", "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity"];
    const files = writable.filter((path) => existsSync(path));
    const { text } = await printed(
      executor(),
      script(
        `for f in ${files.join(" ")}; do (echo 0 > $f) 2>&1; done; grep -E ' /proc/(sys|sysrq-trigger|irq|bus|fs) ' /proc/self/mountinfo | cut -d' ' -f5,6`,
      ),
    );
    expect(text.match(/Read-only file system/g)?.length).toBe(files.length);
    for (const path of present) expect(text).toMatch(new RegExp(`^${path} ro,nosuid,nodev,noexec`, "m"));
  });

  row("X26", "the default devices exist and work; a disk cannot be opened, although its node can be made", async () => {
    const disk = readdirSync("/sys/block").map((name) => readFileSync(`/sys/block/${name}/dev`, "utf8").trim())[0] ?? "8:0";
    const one = executor();
    const { text } = await printed(
      one,
      script(
        `for d in ${Object.keys(DEFAULT_DEVICES).join(" ")}; do stat -c '%n %t %T %a' $d; done; readlink /dev/ptmx; ` +
          `head -c 4 /dev/zero | wc -c; echo x > /dev/null && echo null; (echo x > /dev/full) 2>&1; ` +
          `mknod /dev/disk b ${disk.replace(":", " ")} && echo made; cat /dev/disk 2>&1 | head -c 200; ` +
          `mknod /dev/mem c 1 1; cat /dev/mem 2>&1 | head -c 200`,
      ),
    );
    for (const [path, [major, minor]] of Object.entries(DEFAULT_DEVICES)) {
      expect(text).toContain(`${path} ${major.toString(16)} ${minor.toString(16)} 666`);
    }
    expect(text).toMatch(/^(\/dev\/)?pts\/ptmx$/m);
    expect(text).toContain("\n4\nnull\n");
    expect(text).toMatch(/full.*No space left|No space left/);
    expect(text).toContain("made");
    expect(text).toMatch(/\/dev\/disk.*Operation not permitted/);
    expect(text).toMatch(/\/dev\/mem.*Operation not permitted/);
    if (isUnified) return;
    const running = executor();
    const { pid } = await running.launch(script("exec sleep 1000"));
    const list = readFileSync(join(cgroupOf(pid, "devices"), "devices.list"), "utf8")
      .trim()
      .split("\n")
      .sort();
    expect(list).toEqual([...DEFAULT_DEVICE_RULES].sort());
  });

  row("X27, X28, X29, X30, X31, X32", "the kernel shows the mounts of the table, with their options", async () => {
    const { pid } = await executor().launch(script("exec sleep 1000"));
    const lines = readFileSync(`/proc/${pid}/mountinfo`, "utf8").trim().split("\n");
    const mounts = new Map(
      lines.map((line) => {
        const [left = "", right = ""] = line.split(" - ");
        const fields = left.split(" ");
        return [
          fields[4]!,
          { flags: new Set(fields[5]!.split(",")), type: right.split(" ")[0], superOptions: new Set(right.split(" ")[2]!.split(",")) },
        ];
      }),
    );
    const perMount = new Set(["nosuid", "noexec", "nodev", "ro", "strictatime"]);
    for (const { destination, type, options } of DEFAULT_MOUNTS) {
      const found = mounts.get(destination);
      expect(found?.type, destination).toBe(type);
      for (const option of options) {
        if (option === "strictatime")
          expect(
            [...found!.flags].some((flag) => /relatime|noatime/.test(flag)),
            destination,
          ).toBe(false);
        else if (perMount.has(option)) expect([...found!.flags], destination).toContain(option);
        // The kernel leaves out what is its default, and newinstance, which there is no other of.
        else if (option !== "newinstance" && option !== "mode=1777")
          expect([...found!.superOptions].map(kernelForm), destination).toContain(kernelForm(option));
      }
    }
    // In this order.
    const order = DEFAULT_MOUNTS.map(({ destination }) => lines.findIndex((line) => line.split(" ")[4] === destination));
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  row("X29", "the container has its own ptys: two are opened, and the host's /dev/pts has no new one", async () => {
    const before = readdirSync("/dev/pts");
    const { text } = await printed(executor(), script("exec 3<>/dev/ptmx 4<>/dev/ptmx; ls /dev/pts; stat -c '%g %a' /dev/pts/0"));
    expect(text.split(/\s+/).filter(Boolean)).toEqual(["0", "1", "ptmx", "5", "620"]);
    expect(readdirSync("/dev/pts")).toEqual(before);
  });

  row("X30", "/dev/shm holds 64 MiB and no more, unless asked for", async () => {
    const fill = "dd if=/dev/zero of=/dev/shm/x bs=1M count=65 2>&1; stat -c %s /dev/shm/x; stat -c %a /dev/shm";
    const { text } = await printed(executor(), script(fill));
    expect(text).toContain("No space left on device");
    expect(text.trim().split("\n").slice(-2)).toEqual([String(64 * MIB), "1777"]);
    const shm = { destination: "/dev/shm", type: "tmpfs", source: "shm", options: ["nosuid", "nodev", "noexec", "mode=1777", "size=66m"] };
    expect((await printed(executor(), script(fill, { mounts: [shm] }))).text).not.toContain("No space");
  });

  row("X31", "a POSIX message queue of one container is invisible in another container and on the host", async () => {
    const one = executor();
    await one.launch(script("touch /dev/mqueue/mine && exec sleep 1000"));
    const look = async () => (await one.exec({ cmd: "ls", args: ["/dev/mqueue"] })).output.toString();
    let seen = "";
    for (let round = 0; round < 50 && seen === ""; round++) seen = await look();
    expect(seen).toBe("mine\n");
    expect((await printed(executor(), script("ls /dev/mqueue"))).text).toBe("");
    if (existsSync("/dev/mqueue")) expect(readdirSync("/dev/mqueue")).not.toContain("mine");
  });

  row("X32", "/sys is read-only", async () => {
    expect(
      (
        await printed(
          executor(),
          script("mkdir /sys/fs/x 2>&1; (echo 1 > /sys/kernel/mm/ksm/run) 2>&1; test -d /sys/class/net && echo there"),
        )
      ).text,
    ).toMatch(/Read-only file system[\s\S]*there/);
    // With the network of the host it is the host's, bound. Interfaces of others come and go: those count that are there before and after.
    const before = readdirSync("/sys/class/net");
    const { text } = await printed(executor(), script("touch /sys/x 2>&1; ls /sys/class/net", { namespaces: { network: "host" } }));
    expect(text).toContain("Read-only file system");
    const after = readdirSync("/sys/class/net");
    for (const name of before.filter((each) => after.includes(each))) expect(text).toContain(name);
  });

  row("X33", "bad limits are refused before anything is made; memory is enforced without swap", async () => {
    for (const resources of [
      { cpuShares: 1 },
      { cpuShares: 0.5 },
      { cpus: 0 },
      { memoryBytes: -1 },
      { memoryBytes: 1.5 },
      { pids: -1 },
      { cpuset: "x" },
      { swap: 1 },
    ]) {
      const one = executor();
      await expect(one.launch(script("true", { resources: resources as never }))).rejects.toMatchObject({ code: "invalid-argument" });
      expect(one.state).toBe("idle");
      expect(existsSync(join(stateDir, one.id))).toBe(false);
    }
    const one = executor();
    const hog = "dd if=/dev/zero of=/dev/null bs=64M count=1";
    const { pid } = await one.launch(
      script(`read x; exec ${hog}`, { resources: { memoryBytes: 32 * MIB, cpuShares: 2 }, stdio: { stdin: "pipe" } }),
    );
    expect(readFileSync(cgroupFile(pid, { v1: "memory.limit_in_bytes", v2: "memory.max" }), "utf8").trim()).toBe(String(32 * MIB));
    if (isUnified) expect(readFileSync(join(cgroupOf(pid, "memory"), "memory.swap.max"), "utf8").trim()).toBe("0");
    else {
      expect(readFileSync(join(cgroupOf(pid, "memory"), "memory.swappiness"), "utf8").trim()).toBe("0");
      expect(readFileSync(join(cgroupOf(pid, "cpu"), "cpu.shares"), "utf8").trim()).toBe("2");
    }
    one.stdin?.end("go\n");
    expect(await one.wait()).toMatchObject({ exitCode: 137, signal: 9, oomKilled: true });

    // An OOM of a child is an event, not the end.
    const parent = executor();
    await parent.launch(script(`${hog}; echo survived; exit 4`, { resources: { memoryBytes: 32 * MIB }, stdio: { stdout: "pipe" } }));
    const end = await parent.wait();
    expect(end).toMatchObject({ exitCode: 4, oomKilled: false });
    expect(end.oomKills).toBeGreaterThan(0);
  });

  row("X34", "even without limits there is a cgroup in every hierarchy, so that every process can be killed", async () => {
    const one = executor();
    const { pid } = await one.launch(
      script("(setsid sleep 1000 &); (setsid sleep 1000 &); exec sleep 1000", { namespaces: { pid: "host" } }),
    );
    const wanted = isUnified ? [""] : ["freezer", "devices", "pids", "memory"];
    for (const name of wanted) expect(existsSync(join(CGROUPS, name, CGROUP_PARENT, one.id))).toBe(true);
    const directory = cgroupOf(pid, "pids");
    const all = () => readFileSync(join(directory, "cgroup.procs"), "utf8").trim().split("\n").map(Number);
    await until(() => all().length === 3);
    const pids = all();
    await one.signal("KILL", { all: true });
    await one.wait();
    for (const found of pids) expect(isGone(found)).toBe(true);
    for (const name of wanted) expect(existsSync(join(CGROUPS, name, CGROUP_PARENT, one.id))).toBe(false);
  });
});

/** mode=0620 is shown as mode=620, 65536k may be 65536k or 64m. */
function kernelForm(option: string): string {
  const [name = "", value] = option.split("=");
  if (value === undefined) return name;
  if (name.endsWith("mode")) return `${name}=${Number.parseInt(value, 8).toString(8)}`;
  return option;
}
