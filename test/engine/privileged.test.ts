/** Privileged containers: what the kernel, the host and programs inside say of their rights. The engine is not asked. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { CGROUP_VERSION, cgroupFile, statusOf } from "./kernel-files.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { type ContainerText, SLEEP, taskText } from "./tasks.ts";

/** "/dev/fuse c 10:229 600 0:0" of each node, except those that each container has of its own. */
const NODES = "find /dev -xdev \\( -type c -o -type b \\) -exec stat -c '%n %F %t:%T %a %u:%g' {} + | sort";
const OWN = /^\/dev\/(?:console|fd|mqueue|ptmx|pts|shm|null|zero|full|random|urandom|tty)(?:[ /]|$)/;
const nodesIn = (text: string) => text.split("\n").filter((line) => line.startsWith("/dev/") && !OWN.test(line));

const PROC_SYS = "/proc/sys/vm/swappiness";
/** A file that most containers have for reading only, written with what is in it. */
const WRITES = `(cat ${PROC_SYS} > ${PROC_SYS}) 2>&1 && echo sysctl`;
/** Makes a cgroup in each hierarchy that is there, and leaves it to be removed with the container. */
const CGROUPS = "for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $d/inner 2>/dev/null && echo cgroup $d; done";
/** A device that no container has without being asked. */
const OPENS = "mknod /tmp/kmsg c 1 11; (: < /tmp/kmsg) 2>&1 && echo opened";
const MOUNTS = "mount -t tmpfs none /tmp 2>&1 && echo mounted";

describe.skipIf(!isRoot)("privileged containers (needs root)", () => {
  const scene = useEngine();
  const task = async (name = "t") => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = (containers: readonly ContainerText[]) =>
    http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "t", containers) });
  const printed = async (container: string, name = "t"): Promise<string> => {
    const log = () => task(name).then(({ containers }) => containers.find((one: { name: string }) => one.name === container).log);
    await until(async () => /end\n$/.test(allPrinted(await log())));
    return allPrinted(await log());
  };
  const script = (...parts: string[]) => `exec 2>&1; ${parts.join("; ")}; echo end; ${SLEEP}`;
  const pidOf = (name: string) => scene.list().find(({ id }) => id.includes(name))!.pid;
  /** Where it is mounted: its options, and those of the file system. */
  const mountsOf = (pid: number) =>
    new Map(
      readFileSync(`/proc/${pid}/mountinfo`, "utf8")
        .trim()
        .split("\n")
        .map((line) => [line.split(" ")[4]!, line.split(" ")[5]!] as const),
    );

  /** CRI, LinuxContainerSecurityContext: "All capabilities are added. ... Seccomp restrictions are not applied." */
  test("it has the capabilities of the daemon and no filter; another container of its task has neither", async () => {
    const { pid: daemon } = await scene.daemon();
    await apply([
      { name: "all", script: script("true"), fields: { privileged: true } },
      { name: "few", script: script("true") },
      { name: "nobody", script: script("true"), fields: { privileged: true, user: "65534" } },
    ]);
    for (const name of ["all", "few", "nobody"]) await printed(name);
    const has = statusOf(daemon);
    const none = "0".repeat(16);
    expect(statusOf(pidOf("all"))).toMatchObject({
      ...{ CapEff: has["CapEff"], CapPrm: has["CapEff"], CapBnd: has["CapEff"], CapInh: none, CapAmb: none },
      ...{ Seccomp: "0", NoNewPrivs: "0" },
    });
    expect(statusOf(pidOf("few"))).toMatchObject({ Seccomp: "2", NoNewPrivs: "1", CapInh: none });
    expect(statusOf(pidOf("few"))["CapBnd"]).not.toBe(has["CapEff"]);
    // As everywhere, a user without a name for root gets them by programs that are root's.
    expect(statusOf(pidOf("nobody"))).toMatchObject({ CapEff: none, CapPrm: none, CapBnd: has["CapEff"], Seccomp: "0" });
  });

  /** CRI: "All devices from the host's /dev are available within the container. ... The device cgroup does not restrict access to any devices." */
  test("it has the devices of the host, with their owners and modes, and may use any; others have not", async () => {
    await scene.daemon();
    await apply([
      { name: "all", script: script(NODES, OPENS), fields: { privileged: true } },
      { name: "few", script: script(NODES, OPENS) },
    ]);
    const host = nodesIn(execFileSync("sh", ["-c", NODES], { encoding: "utf8" }));
    expect(host.length).toBeGreaterThan(0);
    const all = await printed("all");
    expect(nodesIn(all)).toEqual(host);
    expect(all).toContain("opened\n");
    const few = await printed("few");
    expect(nodesIn(few)).toEqual([]);
    expect(few).toMatch(/kmsg.*Operation not permitted/);
    for (const path of ["/dev/null", "/dev/tty"]) for (const text of [all, few]) expect(text).toContain(`${path} character special file`);
    if (CGROUP_VERSION === 1) expect(cgroupFile(pidOf("all"), "devices", "devices.list")).toBe("a *:* rwm");
  });

  /** CRI: "Sensitive paths, such as kernel module paths within sysfs, are not masked. Any sysfs and procfs mounts are mounted RW." */
  test("nothing of /proc and /sys is hidden or read-only, it can mount, and its cgroups are its own to divide", async () => {
    await scene.daemon();
    await apply([
      { name: "all", script: script(WRITES, CGROUPS, MOUNTS), fields: { privileged: true } },
      { name: "few", script: script(WRITES, CGROUPS, MOUNTS) },
    ]);
    const all = await printed("all");
    for (const done of ["sysctl\n", "mounted\n", "cgroup /sys/fs/cgroup"]) expect(all).toContain(done);
    const mounts = mountsOf(pidOf("all"));
    expect([...mounts.keys()].filter((path) => /^\/(?:proc|sys\/firmware)./.test(path))).toEqual([]);
    for (const [path, options] of mounts) if (/^\/(?:proc|sys)/.test(path)) expect([path, options.split(",")[0]]).toEqual([path, "rw"]);
    const few = await printed("few");
    expect(few).not.toMatch(/sysctl|mounted|cgroup/);
    expect(few).toMatch(/swappiness.*Read-only file system/);
    expect(mountsOf(pidOf("few")).get("/sys")).toMatch(/^ro,/);
    const { ctl } = scene;
    expect((await ctl("delete", "t")).status).toBe(0);
    await until(() => scene.list().length === 0);
  });

  test("what runs in it later has its rights, too: exec, agents, and its next incarnation", async () => {
    const { pid: daemon } = await scene.daemon();
    const agents = [{ name: "helper", command: ["/bin/sh", "-c", "grep CapEff /proc/self/status > /tmp/agent; sleep 1000"] }];
    await apply([{ name: "all", script: script("true"), fields: { privileged: true, agents } }]);
    await printed("all");
    const asked = async (path: string) => (await scene.ctl("exec", "t", "-c", "all", "--", "grep", "CapEff", path)).stdout;
    const effective = `CapEff:\t${statusOf(daemon)["CapEff"]}\n`;
    expect(await asked("/proc/self/status")).toBe(effective);
    await until(async () => (await asked("/tmp/agent")) === effective);
    expect((await scene.ctl("restart", "t", "-c", "all")).status).toBe(0);
    await until(async () => (await asked("/proc/1/status")) === effective);
  });

  /** As drivers of storage and of devices have it: a hostPath of /dev. */
  test("what is mounted into it has its devices; of others it has not", async () => {
    await scene.daemon();
    const mounts = [{ source: "/dev", target: "/host" }];
    const opens = "(: < /host/kmsg) 2>&1 && echo opened; grep ' /host ' /proc/mounts";
    await apply([
      { name: "all", script: script(opens), fields: { privileged: true, mounts } },
      { name: "few", script: script(opens), fields: { mounts } },
      {
        name: "whole",
        script: script("(: < /dev/kmsg) && echo opened"),
        fields: { privileged: true, mounts: [{ source: "/dev", target: "/dev" }] },
      },
    ]);
    const all = await printed("all");
    expect(all).toContain("opened");
    expect(all).toMatch(/ \/host \S+ (?!\S*nodev)(?!\S*nosuid)/);
    expect(await printed("whole")).toContain("opened");
    const few = await printed("few");
    expect(few).not.toContain("opened");
    expect(few).toMatch(/ \/host \S+ \S*nosuid,nodev/);
  });

  test("a filter that it names and no_new_privs are applied to it as to others", async () => {
    await scene.daemon();
    const seccomp = scene.file(
      "filter.json",
      '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":28}]}',
    );
    const fields = { privileged: true, seccomp, noNewPrivileges: true };
    await apply([{ name: "all", script: script("mkdir /tmp/x"), fields }]);
    expect(await printed("all")).toContain("No space left on device");
    expect(statusOf(pidOf("all"))).toMatchObject({ Seccomp: "2", NoNewPrivs: "1" });
  });

  /** Kubernetes, "Linux kernel security constraints for Pods and containers": privileged containers "override or undo many other hardening settings". */
  test("P4 a container of a pod and a service of a Compose file are privileged if they ask for it", async () => {
    const { pid: daemon } = await scene.daemon();
    const effective = statusOf(daemon)["CapEff"];
    const one = (name: string, securityContext: object) => ({ name, command: ["/bin/sh", "-c", script("true")], securityContext });
    const annotations = Object.fromEntries(["all", "few"].map((name) => [`runt.dev/rootfs.${name}`, scene.rootfs()]));
    const pod = {
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "p", annotations } },
      spec: {
        terminationGracePeriodSeconds: 5,
        hostNetwork: true,
        securityContext: { seccompProfile: { type: "RuntimeDefault" } },
        containers: [one("all", { privileged: true }), one("few", { privileged: false })],
      },
    };
    expect(await scene.ctl("apply", "-f", scene.file("pod.json", JSON.stringify(pod)))).toMatchObject({ status: 0, stderr: "" });
    for (const name of ["all", "few"]) await printed(name, "p");
    expect(statusOf(pidOf("all"))).toMatchObject({ CapEff: effective, Seccomp: "0", NoNewPrivs: "0" });
    expect(statusOf(pidOf("few"))).toMatchObject({ Seccomp: "2", NoNewPrivs: "0" });
    // In the network of the host it is the host's /sys.
    const [all, few] = ["all", "few"].map((name) => mountsOf(pidOf(name)));
    expect([all!.get("/sys"), all!.get("/sys/fs/cgroup"), few!.get("/sys")].map((options) => options?.slice(0, 2))).toEqual([
      "rw",
      "rw",
      "ro",
    ]);
    expect((await scene.ctl("delete", "p")).status).toBe(0);
    await until(() => scene.list().length === 0);

    const service = {
      "x-runt-rootfs": scene.rootfs(),
      network_mode: "none",
      entrypoint: ["/bin/sh", "-c", script("true").replaceAll("$", "$$$$")],
    };
    const services = { all: { ...service, privileged: true, stop_grace_period: "5s" }, few: { ...service, stop_grace_period: "5s" } };
    expect(await scene.ctl("apply", "-p", "default", "-f", scene.file("compose.yaml", JSON.stringify({ services })))).toMatchObject({
      status: 0,
      stderr: "",
    });
    for (const name of ["all", "few"]) await printed(name, name);
    expect(statusOf(pidOf("all"))).toMatchObject({ CapEff: effective, Seccomp: "0", NoNewPrivs: "0" });
    expect(statusOf(pidOf("few"))).toMatchObject({ Seccomp: "2", NoNewPrivs: "0" });
  });
});
