/** Devices of the host in a container: by path, by the name of a CDI specification, and by rule. */
import { execFileSync } from "node:child_process";
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { SLEEP, taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("devices of the host (needs root)", () => {
  const scene = useEngine();
  const task = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
  const apply = (fields: Readonly<Record<string, unknown>>, script: string) =>
    http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "t", [{ name: "a", script, fields }]) });
  const outputOf = async (fields: Readonly<Record<string, unknown>>, script: string): Promise<string> => {
    await apply(fields, `exec 2>&1; ${script}; echo end; ${SLEEP}`);
    await until(async () => (await task()).known === "STOPPED" || /end\n$/.test(allPrinted((await task()).containers.at(-1).log)));
    const { reason, containers } = await task();
    return reason ?? allPrinted(containers[0].log);
  };
  const nodes = () => join(scene.directory, "nodes");
  const cdi = () => join(scene.directory, "cdi");
  const daemon = () => scene.daemon({ args: ["--cdi-path", cdi()] });
  /** Nodes like /dev/loop-control, which no container may use without being asked. */
  beforeEach(() => {
    for (const directory of [nodes(), cdi()]) rmSync(directory, { recursive: true, force: true });
    mkdirSync(join(nodes(), "below"), { recursive: true });
    mkdirSync(cdi());
    const node = (name: string, ...numbers: string[]) => execFileSync("mknod", ["-m", "640", join(nodes(), name), ...numbers]);
    node("log", "c", "10", "237");
    node("below/other", "c", "10", "237");
    execFileSync("ln", ["-s", "log", join(nodes(), "link")]);
  });
  const opens = (path: string) => `(: < ${path}) && echo ${path} read; (: >> ${path}) && echo ${path} written`;

  test("a node at its own path or another one, by a link, with owner and mode of the host, and those of a directory", async () => {
    await daemon();
    const devices = [
      { source: `${nodes()}/link`, target: "/dev/log0" },
      { source: nodes(), target: "/dev/all" },
    ];
    const output = await outputOf(
      { devices },
      `stat -c '%n %F %t:%T %a' /dev/log0 /dev/all/below/other; ${opens("/dev/log0")}; ls /dev/all`,
    );
    expect(output).toContain("/dev/log0 character special file a:ed 640\n/dev/all/below/other character special file a:ed 640\n");
    expect(output).toContain("/dev/log0 read\n/dev/log0 written\n");
    expect(output).toContain("below\nlink\nlog\nend\n");
  });

  test("access is what was asked for, and a rule allows nodes that the container makes itself", async () => {
    await daemon();
    const read = await outputOf({ devices: [{ source: `${nodes()}/log`, target: "/dev/log0", access: "r" }] }, opens("/dev/log0"));
    expect(read).toContain("/dev/log0 read\n");
    expect(read).toMatch(/\/dev\/log0: Operation not permitted/);
    expect(read).not.toContain("written");
    const made = `mknod /tmp/log c 10 237; ${opens("/tmp/log")}`;
    expect(await outputOf({ deviceRules: ["c 10:237 rwm"] }, made)).toContain("/tmp/log read\n/tmp/log written\n");
    expect(await outputOf({}, made)).toMatch(/\/tmp\/log: Operation not permitted/);
  });

  test("a device that is none, or is not there, stops the task by its name", async () => {
    await daemon();
    expect(await outputOf({ devices: [{ source: `${nodes()}/none` }] }, "true")).toContain(`there is no device ${nodes()}/none`);
    expect(await outputOf({ devices: [{ source: "/etc/hostname" }] }, "true")).toContain("/etc/hostname is no device");
    expect(await outputOf({ devices: [{ source: cdi() }] }, "true")).toContain(`${cdi()} has no devices in it`);
    expect(await outputOf({ cdi: ["acme.com/gpu=0"] }, "true")).toContain("no CDI specification has the device acme.com/gpu=0");
    expect(scene.list()).toEqual([]);
  });

  test("a CDI specification gives nodes, variables, mounts and hooks of the host, and nobody else may write it", async () => {
    await daemon();
    const shared = scene.file("shared", "library\n");
    const edits = {
      env: ["ACME=one", "SAID=device"],
      deviceNodes: [{ path: "/dev/acme0", hostPath: `${nodes()}/log`, permissions: "r" }],
      mounts: [{ hostPath: shared, containerPath: "/opt/library", options: ["ro", "nosuid"] }],
      hooks: [{ hookName: "createRuntime", path: "/bin/sh", args: ["sh", "-c", `echo hook >> ${scene.directory}/hooks`] }],
      additionalGids: [4321],
    };
    const file = join(cdi(), "acme.json");
    const text = {
      cdiVersion: "0.6.0",
      kind: "acme.com/gpu",
      containerEdits: { env: ["ALL=yes"] },
      devices: [{ name: "0", containerEdits: edits }],
    };
    writeFileSync(file, JSON.stringify(text), { mode: 0o644 });
    const said = { cdi: ["acme.com/gpu=0"], env: { SAID: "task" } };
    const output = await outputOf(
      said,
      `echo $ALL $ACME $SAID; cat /opt/library; id -G; cat ${scene.directory}/hooks; ${opens("/dev/acme0")}`,
    );
    expect(output).toContain("yes one device\nlibrary\n");
    expect(output).toMatch(/\b4321\b/);
    expect(output).toContain("/dev/acme0 read\n");
    expect(output).toMatch(/\/dev\/acme0: Operation not permitted/);
    expect(execFileSync("cat", [join(scene.directory, "hooks")], { encoding: "utf8" })).toBe("hook\n");
    execFileSync("chmod", ["666", file]);
    expect(await outputOf({ cdi: ["acme.com/gpu=0"] }, "true")).toContain(`CDI specification ${file}: others than root`);
    writeFileSync(file, JSON.stringify({ ...text, devices: [{ name: "0", containerEdits: { netDevices: [] } }] }));
    execFileSync("chmod", ["644", file]);
    expect(await outputOf({ cdi: ["acme.com/gpu=0"], args: ["-c", "exit"] }, "true")).toMatch(/CDI specification .*netDevices/);
  });

  test("a CDI specification that is a link, another user's, a pipe or in a directory of others is refused by its name", async () => {
    await daemon();
    const text = JSON.stringify({
      cdiVersion: "1.0.0",
      kind: "acme.com/gpu",
      devices: [{ name: "0", containerEdits: { env: ["ACME=yes"] } }],
    });
    const file = join(cdi(), "acme.json");
    const elsewhere = scene.file("elsewhere.json", text);
    const told = () => outputOf({ cdi: ["acme.com/gpu=0"] }, "echo $ACME");
    symlinkSync(elsewhere, file);
    expect(await told()).toContain(`CDI specification ${file}: it is a link, which could lead to another file`);
    rmSync(file);
    execFileSync("mkfifo", [file]);
    expect(await told()).toContain(`CDI specification ${file}: it is no regular file`);
    rmSync(file);
    writeFileSync(file, text, { mode: 0o644 });
    chownSync(file, 65534, 0);
    expect(await told()).toContain(`CDI specification ${file}: others than root`);
    chownSync(file, 0, 0);
    chmodSync(cdi(), 0o777);
    expect(await told()).toContain(`CDI specifications of ${cdi()}: others than root`);
    chmodSync(cdi(), 0o755);
    expect(await told()).toContain("yes");
  });

  test("a broken CDI specification, or a directory of others, stops those who need it, and nobody else", async () => {
    const open = join(scene.directory, "cdi-open");
    mkdirSync(open, { recursive: true });
    chmodSync(open, 0o777);
    await scene.daemon({ args: ["--cdi-path", `${cdi()}:${open}`] });
    const text = { cdiVersion: "1.0.0", kind: "acme.com/gpu", devices: [{ name: "0", containerEdits: { env: ["ACME=yes"] } }] };
    writeFileSync(join(cdi(), "acme.json"), JSON.stringify(text), { mode: 0o644 });
    writeFileSync(join(cdi(), "broken.json"), '{ "cdiVersion": ', { mode: 0o644 });
    writeFileSync(join(cdi(), "newer.yaml"), "cdiVersion: 9.0.0\nkind: other.com/nic\ndevices: []\n", { mode: 0o644 });
    expect(await outputOf({ cdi: ["acme.com/gpu=0"] }, "echo $ACME")).toBe("yes\nend\n");
    await scene.ctl("delete", "t");
    const reason = await outputOf({ cdi: ["other.com/nic=0"] }, "true");
    expect(reason).toContain("no CDI specification has the device other.com/nic=0; left out: CDI specification ");
    expect(reason).toContain(`${cdi()}/newer.yaml: /cdiVersion: is not supported`);
    expect(reason).toContain(`CDI specifications of ${open}: others than root`);
  });

  test("Compose: devices, gpus by CDI, and groups by name", async () => {
    await daemon();
    const spec = `cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n  - name: "1"\n    containerEdits: { env: [GPU=1] }\n`;
    writeFileSync(join(cdi(), "nvidia.yaml"), spec, { mode: 0o644 });
    appendFileSync(join(scene.rootfs(), "etc/group"), "probes:x:4567:\n");
    const text = `
services:
  t:
    x-runt-rootfs: ${scene.rootfs()}
    network_mode: none
    init: true
    domainname: example.test
    devices: ["${nodes()}/log:/dev/log0:r"]
    group_add: [probes]
    deploy: { resources: { reservations: { devices: [{ driver: nvidia, device_ids: ["1"], capabilities: [gpu] }] } } }
    command: [/bin/sh, -c, "cat /proc/sys/kernel/domainname; stat -c %t:%T /dev/log0; echo gpu $$GPU; id -G; echo end; sleep 1000"]
    stop_grace_period: 0s
`;
    expect(await scene.ctl("apply", "-p", "default", "-f", scene.file("compose.yaml", text))).toMatchObject({ status: 0, stderr: "" });
    await until(async () => (await task()).known === "STOPPED" || /end\n$/.test(allPrinted((await task()).containers.at(-1).log)));
    expect((await task()).reason ?? "").toBe("");
    expect(allPrinted((await task()).containers.at(-1).log)).toMatch(/^example\.test\na:ed\ngpu 1\n[\d ]*\b4567\b/);
  });

  const blkio = "/sys/fs/cgroup/blkio";
  test.skipIf(!existsSync(join(blkio, "blkio.throttle.read_bps_device")))(
    "limits of a block device are in the container's cgroup, by a link to it, too; what is none stops it by its name",
    async () => {
      await scene.daemon();
      execFileSync("mknod", ["-m", "600", join(nodes(), "disk"), "b", "7", "5"]);
      execFileSync("ln", ["-s", "disk", join(nodes(), "by-link")]);
      const devices = [
        { path: `${nodes()}/by-link`, readBps: 1048576, writeIops: 200 },
        { path: "/dev/loop6", writeBps: 4096 },
      ];
      await apply({ blockIo: { devices } }, SLEEP);
      await until(async () => (await task()).known === "RUNNING");
      const { pid } = scene.list()[0]!;
      const cgroup = /^\d+:(?:.*,)?blkio(?:,.*)?:(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))![1]!;
      const inCgroup = (file: string) => readFileSync(join(blkio, cgroup, `blkio.throttle.${file}_device`), "utf8");
      expect(["read_bps", "write_iops", "write_bps", "read_iops"].map(inCgroup)).toEqual(["7:5 1048576\n", "7:5 200\n", "7:6 4096\n", ""]);
      await scene.ctl("delete", "t");
      for (const [path, reason] of [
        [join(nodes(), "log"), `${nodes()}/log is no block device`],
        [join(nodes(), "none"), `there is no device ${nodes()}/none`],
      ]) {
        expect(await outputOf({ blockIo: { devices: [{ path, readBps: 1 }] } }, "true")).toContain(reason);
        await scene.ctl("delete", "t");
      }
    },
  );
});
