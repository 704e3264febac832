import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { OWN_INTERFACE } from "../../support/leaks.ts";
import * as assert from "../assert.ts";
import { cgroupsBelow, hierarchyOf, removeCgroups } from "../cgroups.ts";
import { type Container, waitFor } from "../container.ts";
import type { Change, Context } from "../context.ts";
import { group } from "../group.ts";
import { AT_CREATE, HookLog, PID_OF_STATE, SEMVER, script } from "../hook-log.ts";
import { executableOf } from "../observe.ts";
import { otherProcessWithPid, unreaped } from "../reaping.ts";
import { SIGNALS, SignalLog } from "../signal-log.ts";
import { cgroupItems } from "./lifecycle-cgroups.ts";
import { customs } from "./lifecycle-customs.ts";

/** It must fail, and the container must be what it was. */
async function refusedVerb(container: Container, args: readonly string[], status: string): Promise<void> {
  const before = await container.state();
  const result = await container.call(args);
  assert.notEqual(result.status, 0, `${args.join(" ")} succeeded`);
  assert.deepEqual(await container.state(), before, `${args.join(" ")} had an effect`);
  assert.equal(before.status, status);
}

/** Configurations that fail the later, the longer the list. */
const INAPPLICABLE: readonly (readonly [pointer: string | RegExp, change: Change])[] = [
  ["/root/path", (config) => Object.assign(config.root, { path: "no-such-directory" })],
  [/^\/linux\/namespaces\/\d/, (config) => config.linux.namespaces.push({ type: "user", path: "/no/such/namespace" })],
  [/^\/mounts\/\d+/, (config) => config.mounts.push({ destination: "/mnt", type: "bind", source: "/no/such/source", options: ["bind"] })],
  [/^\/linux\/sysctl/, (config) => Object.assign(config.linux, { sysctl: { "net.no.such.value": "1" } })],
  [/^\/linux\/resources\/cpu/, (config) => Object.assign(config.linux.resources, { cpu: { cpus: "4000-4001" } })],
  [/^\/process\/args/, (config) => Object.assign(config.process, { args: ["/no/such/program"] })],
  [/^\/process\/cwd/, (config) => Object.assign(config.process, { cwd: "/etc/passwd" })],
  [/^\/hooks\/createContainer/, (config) => Object.assign(config, { hooks: { createContainer: [script("exit 1")] } })],
];

/** Lists what a failing verb could have changed on the host. */
function environment(c: Context): unknown {
  return {
    traces: c.traces(),
    hostname: hostname(),
    interfaces: readdirSync("/sys/class/net").filter((name) => OWN_INTERFACE.test(name)),
    root: existsSync(c.root) ? readdirSync(c.root) : [],
  };
}

/** No process outlives a create that is killed, not even one that cannot notice; the rest is for delete --force. */
async function killedCreate(c: Context): Promise<void> {
  const file = join(c.scratch(), "pid");
  const hook = script(`sed -n '${PID_OF_STATE}' > ${file}; kill -STOP "$(cat ${file})"; kill -KILL $PPID`);
  const container = c.container(c.bundle((config) => Object.assign(config, { hooks: { createRuntime: [hook] } })));
  const before = c.traces();
  assert.equal((await container.call(["create", "--bundle", container.bundle, container.id])).status, 137);
  const pid = Number(readFileSync(file, "utf8"));
  await waitFor(() => executableOf(pid) === undefined, "the end of init");
  await container.delete("--force");
  await c.nothingOf(container, before);
}

export const lifecycle = group("LIF", "lifecycle operations", (levels) => {
  const { must, should, may } = levels;
  must(1, "state, create, start, kill and delete without an id fail", async (c) => {
    const cwd = c.bundle();
    for (const verb of ["state", "create", "start", "kill", "delete"]) {
      assert.notEqual((await c.call([verb], { cwd })).status, 0, verb);
      assert.notEqual((await c.call([verb, ""], { cwd })).status, 0, `${verb} ""`);
    }
    assert.deepEqual(c.traces(), []);
  });
  must(
    2,
    "create without a bundle fails",
    async (c) => {
      const bundle = c.bundle();
      const container = c.container(bundle);
      assert.notEqual((await c.call(["create", container.id], { cwd: c.scratch("empty") })).status, 0);
      await c.nothingOf(container);
      await container.ok(["create", container.id], { cwd: bundle });
      assert.equal((await container.state()).bundle, bundle);
    },
    { note: "the current directory is the default, as with the other runtimes" },
  );
  must(3, "an id that is in use or is not a valid file name is refused, and nothing is created", async (c) => {
    const first = await c.create();
    const before = await first.state();
    const second = c.bundle();
    assert.notEqual((await c.call(["create", "--bundle", second, first.id])).status, 0, "the id was taken");
    assert.deepEqual(await first.state(), before);
    const known = readdirSync(c.root);
    for (const id of ["../x", "a/b", ".", "..", ...(c.isRunt ? ["with space", "new\nline"] : [])]) {
      const { status } = await c.call(["create", "--bundle", second, id]);
      if (status === 0) await c.call(["delete", "--force", id]);
      assert.notEqual(status, 0, JSON.stringify(id));
      assert.deepEqual(readdirSync(c.root), known, JSON.stringify(id));
    }
    assert.ok(!existsSync(join(c.root, "../x")));
    // Unique where the states are, not everywhere.
    const elsewhere = ["--root", c.scratch("other-root")];
    const create = await c.call([...elsewhere, "create", "--bundle", second, first.id]);
    assert.equal(create.status, 0, create.stderr);
    assert.equal((await c.call([...elsewhere, "delete", "--force", first.id])).status, 0);
  });
  must(4, "a created container has a live process, and the program does not run", async (c) => {
    const log = new HookLog(c);
    const container = await log.create({});
    const { status, pid } = await container.state();
    assert.equal(status, "created");
    assert.match(readFileSync(`/proc/${pid}/status`, "utf8"), /^State:\s+[RS]/m);
    assert.notEqual(await container.executable(), join(c.sharedRootfs, "bin/busybox"));
    assert.deepEqual(log.order(), []);
    if (!c.isRunt) return;
    // It holds nothing that the program will not have, but for what it waits with.
    // By their inodes: where /tmp is a mount of its own, the link of a descriptor has a path within that mount.
    const inode = (path: string): string => [statSync(path).dev, statSync(path).ino].join(":");
    const held = readdirSync(`/proc/${pid}/fd`).map((fd) => inode(`/proc/${pid}/fd/${fd}`));
    assert.deepEqual(held.slice(3), [inode(join(c.root, container.id, "exec.fifo"))]);
  });
  must(5, "create applies everything except the program", async (c) => {
    const container = await c.create((config) => {
      config.hostname = "applied";
      config.mounts.push({ destination: "/mnt", type: "tmpfs", source: "applied", options: ["ro"] });
      config.linux.resources = { ...config.linux.resources, pids: { limit: 41 } };
      config.linux.sysctl = { "net.ipv4.ip_forward": "1" };
      config.linux["devices"] = [{ path: "/dev/applied", type: "c", major: 1, minor: 3, fileMode: 0o640 }];
      config.linux["readonlyPaths"] = ["/proc/sys"];
    });
    const pid = await container.pid();
    const within = (type: string, ...command: readonly string[]) =>
      execFileSync("nsenter", [`--${type}=/proc/${pid}/ns/${type}`, ...command], { encoding: "utf8" }).trim();
    assert.equal(within("uts", "hostname"), "applied");
    assert.equal(within("net", "cat", "/proc/sys/net/ipv4/ip_forward"), "1");
    assert.equal((await container.mount("/mnt")).source, "applied");
    assert.ok((await container.mount("/proc/sys")).options.includes("ro"));
    assert.equal(await container.limit("pids", "pids.max"), "41");
    assert.equal(lstatSync(await container.path("/dev/applied")).mode & 0o777, 0o640);
    assert.equal(lstatSync(`${await container.path("/")}probe`).isFile(), true);
    // Keys are not the caller's.
    const keys = await c.output("cat /proc/keys", (config) => Object.assign(config.linux, { maskedPaths: [] }));
    assert.match(keys, /keyring +_ses\.lif-05-/);
  });
  must(6, "a property that cannot be applied is an error, and there is no container", async (c) => {
    for (const [pointer, change] of INAPPLICABLE) await c.refused(change, pointer);
  });
  must(7, "an error leaves everything as it was", async (c) => {
    const before = environment(c);
    for (const [, change] of INAPPLICABLE) {
      const bundle = c.bundle(change);
      const files = readdirSync(bundle);
      assert.notEqual((await c.call(["run", "--bundle", bundle, c.container(bundle).id])).status, 0);
      assert.deepEqual(environment(c), before);
      assert.deepEqual(readdirSync(bundle), files);
    }
    if (c.isRunt) await killedCreate(c);
  });
  must(8, "start works on a created container only", async (c) => {
    const container = await c.start();
    await refusedVerb(container, ["start", container.id], "running");
    await container.end();
    await refusedVerb(container, ["start", container.id], "stopped");
    assert.notEqual((await c.call(["start", "never-created"])).status, 0);
  });
  must(9, "start runs the program", async (c) => {
    const log = new HookLog(c);
    const container = await log.create({});
    await container.start();
    await log.programRuns();
    assert.equal((await container.state()).status, "running");
  });
  must(10, "kill sends exactly the named signal, and only to the container's process", async (c) => {
    const log = await SignalLog.start(c);
    for (const [, number] of SIGNALS) await log.expect(number, String(number));
    for (const number of [35, 50, 64]) await log.expect(number, String(number));
    const { container } = log;
    const stateOfProcess = async () => (await container.status()).get("State")?.[0];
    await container.kill("STOP");
    await waitFor(async () => (await stateOfProcess()) === "T", "a stopped process");
    await container.kill("CONT");
    await waitFor(async () => (await stateOfProcess()) !== "T", "a continued process");
    await container.kill("KILL");
    await container.until("stopped");
  });
  must(11, "kill works on created and running containers only", async (c) => {
    const created = await c.create();
    await created.kill("KILL");
    await created.until("stopped");
    const running = await c.start();
    await running.kill("KILL");
    await running.until("stopped");
    await refusedVerb(running, ["kill", running.id, "KILL"], "stopped");
    assert.notEqual((await c.call(["kill", "never-created", "KILL"])).status, 0);
  });
  should(12, "a signal is a number or a name, with or without SIG; the default is TERM", async (c) => {
    const log = await SignalLog.start(c);
    for (const [index, [name, number]] of SIGNALS.entries()) await log.expect(number, index % 2 === 0 ? name : name.slice(3));
    for (const word of ["15", "TERM", "SIGTERM"]) await log.expect(15, word);
    await log.expect(15);
    for (const word of ["NOSUCH", "SIGNOSUCH", "-1"]) await refusedVerb(log.container, ["kill", log.container.id, word], "running");
  });
  must(
    13,
    "delete of a running container fails without an effect",
    async (c) => {
      const container = await c.create();
      const pid = await container.pid();
      await container.delete();
      await c.nothingOf(container);
      assert.ok(!existsSync(`/proc/${pid}`) || /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")));
      const running = await c.start();
      await refusedVerb(running, ["delete", running.id], "running");
      assert.match(await running.proc("status"), /^State:\s+[RS]/m);
    },
    { note: "a created container is deleted: containerd and CRI-O rely on it" },
  );
  must(14, "delete removes what create has made, and nothing else", async (c) => {
    const own = `${c.cgroup}/own`;
    const parent = `${hierarchyOf("pids")}${own}`;
    c.cleanup(() => removeCgroups(c.cgroup));
    mkdirSync(parent, { recursive: true });
    const neighbour = await c.start();
    const target = c.scratch("target");
    writeFileSync(join(target, "file"), "kept");
    const container = await c.start((config) => {
      config.linux.cgroupsPath = `${own}/container`;
      config.mounts.push({ destination: "/mnt", type: "bind", source: target, options: ["bind"] });
    });
    const bundle = readdirSync(container.bundle);
    assert.ok(cgroupsBelow(`${own}/container`).length > 0);
    await container.end();
    await container.delete();
    assert.notEqual((await container.call(["state", container.id])).status, 0);
    assert.deepEqual(
      readdirSync(c.root).filter((name) => !name.startsWith("@")),
      [neighbour.id],
    );
    assert.deepEqual(cgroupsBelow(`${own}/container`), []);
    assert.ok(existsSync(parent), "a cgroup that was there before is gone");
    assert.deepEqual(readdirSync(container.bundle), bundle);
    assert.equal(readFileSync(join(target, "file"), "utf8"), "kept");
    assert.equal((await neighbour.state()).status, "running");
    assert.match(await neighbour.proc("status"), /^State:\s+[RS]/m);
  });
  may(15, "the id of a deleted container can be used again", async (c) => {
    const container = await c.start();
    await container.delete("--force");
    await container.ok(["create", "--bundle", container.bundle, container.id]);
    assert.equal((await container.state()).status, "created");
  });
  must(16, "state of an unknown id fails", async (c) => {
    const result = await c.call(["state", "never-created"]);
    assert.notEqual(result.status, 0);
    assert.equal(result.stdout, "");
    const container = await c.create();
    await container.delete("--force");
    assert.notEqual((await c.call(["state", container.id])).status, 0);
  });
  must(17, "state shows version, id, status, pid, bundle and annotations", async (c) => {
    const annotations = { "org.example.key": "value" };
    const pidFile = join(c.directory, "pid");
    const container = await c.create((config) => Object.assign(config, { annotations }), { flags: ["--pid-file", pidFile] });
    const pid = Number(readFileSync(pidFile, "utf8"));
    const common = { isVersion: true, id: container.id, bundle: container.bundle, annotations };
    const told = async () => {
      const { ociVersion, id, status, pid, bundle, annotations } = await container.state();
      return { isVersion: SEMVER.test(ociVersion), id, status, pid: pid ?? 0, bundle, annotations };
    };
    assert.deepEqual(await told(), { ...common, status: "created", pid });
    await container.start();
    assert.deepEqual(await told(), { ...common, status: "running", pid });
    await container.end();
    assert.deepEqual(await told(), { ...common, status: "stopped", pid: 0 });
  });
  must(18, "status is creating, created, running and stopped over the life of the container", async (c) => {
    const log = new HookLog(c);
    const bundle = c.bundle(log.with({}));
    const container = c.container(bundle);
    const ask = `${c.runtime.path} --root ${c.root} state ${container.id}`;
    const config = JSON.parse(readFileSync(join(bundle, "config.json"), "utf8"));
    config.hooks = { createRuntime: [log.note("createRuntime", ask)] };
    writeFileSync(join(bundle, "config.json"), JSON.stringify(config));
    const seen: string[] = [];
    const look = async () => seen.push((await container.state()).status);
    await container.ok(["create", "--bundle", bundle, container.id]);
    // Another runtime may know nothing of a container that does not exist yet.
    const early = log.read("createRuntime.out");
    seen.push(c.isRunt || early.startsWith("{") ? JSON.parse(early).status : "creating");
    await look();
    await container.start();
    await look();
    await container.end();
    await look();
    assert.deepEqual(seen, ["creating", "created", "running", "stopped"]);
  });
  must(19, "a container whose process has ended is stopped, even if the process is not yet reaped or its pid is reused", async (c) => {
    const container = await unreaped(c);
    assert.equal((await container.state()).status, "stopped");
    const ended = await c.start();
    const pid = await ended.pid();
    await ended.end();
    await waitFor(() => !existsSync(`/proc/${pid}`), "the process to be reaped");
    await otherProcessWithPid(c, pid);
    assert.equal((await ended.state()).status, "stopped");
    assert.notEqual((await ended.call(["kill", ended.id, "KILL"])).status, 0);
    await ended.delete("--force");
    assert.match(readFileSync(`/proc/${pid}/status`, "utf8"), /^State:\s+S/m);
  });
  should(20, "a stopped container has no pid", async (c) => {
    const container = await c.start();
    await container.end();
    const { pid } = await container.state();
    assert.ok(pid === undefined || pid === 0, `pid ${pid}`);
  });
  should(21, "warnings change neither the outcome nor the container", async (c) => {
    const text = await c.output("echo fine; grep CapBnd /proc/self/status", (config) => {
      config.process.capabilities = { bounding: ["CAP_KILL", "CAP_NOT_YET_INVENTED"] };
      if (c.isRunt) config.ociVersion = "1.99.0";
    });
    assert.match(text, /^fine\nCapBnd:\s+0000000000000020\n$/);
  });
  must(22, "after a failed hook of create the container is unknown", async (c) => {
    for (const kind of AT_CREATE) {
      const log = new HookLog(c);
      const { container } = await log.failing(kind, { [kind]: [log.fail(kind)] });
      for (const verb of ["state", "start", "kill", "delete"])
        assert.notEqual((await c.call([verb, container.id])).status, 0, `${verb} after ${kind}`);
    }
  });
  customs(levels);
  cgroupItems(levels);
});
