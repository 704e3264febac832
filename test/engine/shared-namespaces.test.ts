/** Namespaces that the containers of a task share, as /proc has them and as they look from inside. */
import { readFileSync, readlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { namespaceOf, statusOf } from "./kernel-files.ts";
import { http, identityOf, isRoot, until, useEngine } from "./support.ts";
import { type ContainerText, SLEEP, taskText } from "./tasks.ts";

const TYPES = ["pid", "ipc", "net", "uts"] as const;
const SHARED = { pid: "shared", ipc: "shared", network: "shared", uts: "shared" } as const;

describe.skipIf(!isRoot)("shared namespaces (needs root)", () => {
  const scene = useEngine();
  const task = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
  const run = async (containers: readonly ContainerText[], namespaces: Readonly<Record<string, string>>, further = {}) => {
    const text = taskText(scene.rootfs(), "t", containers, { namespaces, ...further });
    const answer = await http(scene.socket, "POST", "/v1/apply", { text });
    expect(answer.text).toContain("created");
    await until(async () => (await task()).known === "RUNNING");
  };
  const pidOf = (name: string) => scene.list().find(({ id, status }) => id.includes(`.${name}-`) && status === "running")?.pid ?? 0;
  const logOf = async (name: string): Promise<string> =>
    allPrinted((await task()).containers.find((one: { name: string }) => one.name === name).log);

  test("E95: the containers of a task share each shared namespace, and none is that of the host", async () => {
    await scene.daemon();
    await run([{ name: "a" }, { name: "b" }], SHARED);
    for (const type of TYPES) {
      const [pause, a, b, host] = [pidOf("runtd-pause"), pidOf("a"), pidOf("b"), process.pid].map((pid) => namespaceOf(pid, type));
      expect([a, b]).toEqual([pause, pause]);
      expect(pause).not.toBe(host);
    }
    // What is not shared stays apart.
    expect(namespaceOf(pidOf("a"), "mnt")).not.toBe(namespaceOf(pidOf("b"), "mnt"));
  });

  test("private, shared and of the host, each for itself", async () => {
    await scene.daemon();
    await run([{ name: "a" }, { name: "b" }], { pid: "private", ipc: "shared", network: "host", uts: "private" });
    const of = (name: string, type: (typeof TYPES)[number]) => namespaceOf(pidOf(name), type);
    expect(of("a", "pid")).not.toBe(of("b", "pid"));
    expect(of("a", "uts")).not.toBe(of("b", "uts"));
    expect(of("a", "ipc")).toBe(of("b", "ipc"));
    for (const name of ["a", "b", "runtd-pause"]) expect(of(name, "net")).toBe(namespaceOf(process.pid, "net"));
  });

  test("E36: the process that holds the shared namespaces needs no image; it has no rights, and only its own program in its root", async () => {
    await scene.daemon();
    await run([{ name: "a" }], SHARED);
    const pause = pidOf("runtd-pause");
    const status = statusOf(pause);
    expect(status).toMatchObject({ NoNewPrivs: "1", CapEff: "0000000000000000", CapBnd: "0000000000000000" });
    expect(status["Uid"]).toBe("65534\t65534\t65534\t65534");
    expect(readFileSync(`/proc/${pause}/cmdline`, "utf8")).toBe("/pause\0");
    expect(readlinkSync(`/proc/${pause}/exe`)).toBe("/pause");
    expect(Number(/\d+/.exec(status["VmRSS"]!)![0])).toBeLessThan(256);
  });

  test("E95: containers with shared namespaces see each other's processes, System V memory and hostname, and a loopback that answers", async () => {
    await scene.daemon();
    const server = "ipcmk -M 64 >/dev/null 2>&1; httpd -p 127.0.0.1:8000 -h /bin; echo up; sleep 1000";
    const client =
      "i=0; until wget -q -O /dev/null http://127.0.0.1:8000/busybox; do i=$((i+1)); [ $i -gt 100 ] && exit 9; sleep 0.1; done; " +
      "echo fetched; hostname; ps -o args; cat /sys/class/net/lo/operstate /proc/net/if_inet6; ls /sys/class/net; sleep 1000";
    await run(
      [
        { name: "server", script: server },
        { name: "client", script: client },
      ],
      SHARED,
    );
    await until(async () => /lo\n/.test(await logOf("client")));
    const seen = await logOf("client");
    expect(seen).toMatch(/^fetched\nt\n/m);
    expect(seen).toMatch(/^\/pause$/m);
    expect(seen).toMatch(/httpd -p 127\.0\.0\.1:8000/);
    // Nothing but loopback.
    expect(seen.trimEnd().split("\n").slice(-1)).toEqual(["lo"]);
  });

  test("a private network has its own loopback, which is up", async () => {
    await scene.daemon();
    const fetch = "httpd -p 127.0.0.1:8000 -h /bin && wget -q -O /dev/null http://127.0.0.1:8000/busybox";
    await run([{ name: "a", script: `${fetch} && echo answered; ls /sys/class/net; sleep 1000` }], {});
    await until(async () => /lo\n/.test(await logOf("a")));
    expect(await logOf("a")).toMatch(/answered/);
  });

  test("E95: the holder takes the orphans of a shared pid namespace", async () => {
    await scene.daemon();
    await run([{ name: "a", script: "(sleep 0.2 & sleep 0.3 & sleep 0.4 &) ; sleep 1000" }], { pid: "shared" });
    const children = () => readFileSync(`/proc/${pidOf("runtd-pause")}/task/${pidOf("runtd-pause")}/children`, "utf8").trim();
    // The kernel has given them to it, and it has waited for them.
    await until(() => children() !== "").catch(() => {});
    await until(() => children() === "");
    expect(statusOf(pidOf("runtd-pause"))["State"]).toMatch(/^S/);
  });

  test("E95: the holder is the first to start and the last to stop", async () => {
    await scene.daemon();
    await run([{ name: "a", script: "trap 'sleep 0.3; exit 0' TERM; sleep 1000 & wait $!" }, { name: "b" }], SHARED);
    const ticks = (name: string) => Number(identityOf(pidOf(name)).split(":")[1]);
    const [pause, a, b] = ["runtd-pause", "a", "b"].map(ticks);
    expect(pause).toBeLessThanOrEqual(Math.min(a!, b!));
    const holder = pidOf("runtd-pause");
    const others = [pidOf("a"), pidOf("b")];
    const deleted = scene.ctl("delete", "t");
    const isThere = (pid: number) => {
      try {
        return !/^[ZX]/.test(statusOf(pid)["State"]!);
      } catch {
        return false;
      }
    };
    while (isThere(holder)) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(others.filter(isThere)).toEqual([]);
    expect((await deleted).status).toBe(0);
    await until(() => scene.list().length === 0);
  });

  test("E95: the holder dies: the task ends, and says why; nothing is left", async () => {
    await scene.daemon();
    await run([{ name: "a" }, { name: "b" }], SHARED);
    process.kill(pidOf("runtd-pause"), "SIGKILL");
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toMatch(/runtd\/pause .*killed by signal 9/);
    expect(scene.list().filter(({ status }) => status === "running")).toEqual([]);
  });

  test("E95: a daemon that is killed finds the holder again, and a container that starts anew joins it", async () => {
    const first = await scene.daemon();
    const again = { restart: { ignoredExitCodes: [0], backoff: { initial: "100ms" } }, essential: false };
    await run([{ name: "a" }, { name: "b", script: SLEEP, fields: again }], SHARED);
    const before = identityOf(pidOf("runtd-pause"));
    const [holder, old] = [pidOf("runtd-pause"), pidOf("b")];
    await first.kill();
    await scene.daemon();
    expect(identityOf(pidOf("runtd-pause"))).toBe(before);
    process.kill(old, "SIGKILL");
    await until(() => pidOf("b") !== old && pidOf("b") > 0);
    for (const type of TYPES) expect(namespaceOf(pidOf("b"), type)).toBe(namespaceOf(holder, type));
  });

  test("T13: IPv6 is enabled in a shared network, independent of the default for new networks; the host's setting does not change", async () => {
    await scene.daemon();
    const setting = "/proc/sys/net/ipv6/conf/all/disable_ipv6";
    const host = readFileSync(setting, "utf8");
    await run([{ name: "a", script: `cat ${setting}; sleep 1000` }], SHARED);
    await until(async () => (await logOf("a")) !== "");
    expect(await logOf("a")).toBe("0\n");
    expect(readFileSync(setting, "utf8")).toBe(host);
  });
});
