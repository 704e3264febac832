/** Images of registries: pinned to their digests, got within bounds, and with credentials that nobody else sees. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SLOW } from "../support/patience.ts";
import { RUNTCTL } from "./client-programs.ts";
import { baseLayer, tar, writeLayout } from "./image-files.ts";
import { HAS_REGISTRY, PASSWORD, type Registry, USER, useRegistries } from "./registry.ts";
import { type Daemon, eventsOf, http, isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

/** A program is killed when its task is, and gone within two seconds of the answer to who has asked for that. */
const GONE_MS = 2_000 * SLOW;

describe.skipIf(!isRoot || !HAS_REGISTRY)("registries (needs root, skopeo, umoci and docker-registry)", () => {
  const scene = useEngine();
  const registryOf = useRegistries(scene.directory);
  let count = 0;
  /** An image of its own: no two have the same upper layer. */
  const layout = (text = `image ${++count}`): { readonly directory: string; readonly digest: string } => {
    const directory = join(scene.directory, `layout-${++count}`);
    const layers = [baseLayer(), tar([{ name: "text", content: text }])];
    return { directory, digest: writeLayout(directory, { layers, config: { Cmd: ["/bin/sh", "-c", `cat /text; ${SLEEP}`] } }) };
  };
  const task = async (name = "t") => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = async (containers: readonly object[], name = "t") => {
    const named = containers.map((one, at) => ({ name: `c${at}`, stopSignal: "SIGKILL", ...one }));
    const answer = await http(scene.socket, "POST", "/v1/apply", { text: JSON.stringify({ name, containers: named }) });
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const settled = async (name = "t") => {
    await until(async () => /RUNNING|STOPPED/.test((await task(name)).known));
    return task(name);
  };
  const running = async (name = "t") => {
    const record = await settled(name);
    expect(record).toMatchObject({ known: "RUNNING", reason: null });
    return record;
  };
  const stopped = async (name = "t") => {
    await until(async () => (await task(name)).known === "STOPPED");
    return task(name);
  };
  const remove = async (name = "t") => expect((await scene.ctl("delete", name)).status).toBe(0);
  const images = (...parts: string[]) => join(scene.stateDir, "images", ...parts);
  const childrenOf = (pid: number) => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const assertGone = async (pids: readonly string[]) => {
    expect(pids).not.toEqual([]);
    await until(() => pids.every((pid) => !existsSync(`/proc/${pid}`)), GONE_MS);
  };
  const manifests = ({ asked }: Registry, name: string) =>
    asked.filter((line) => line.startsWith("GET") && line.includes(`/${name}/manifests/`));

  test("E45: a tag keeps the digest of the first step, and only new layers are pulled", async () => {
    const registry = await registryOf();
    await scene.daemon({ before: registry.before });
    const [first, second] = [layout(), layout()];
    const image = await registry.push(first.directory, "shop/web:v1");
    await apply([{ image }]);
    expect((await running()).containers[0].image).toEqual({ reference: image, digest: first.digest, via: "pulled" });
    await registry.push(second.directory, "shop/web:v1");
    await scene.ctl("restart", "t", "-c", "c0");
    await until(async () => (await task()).containers[0].generation === 2 && (await task()).containers[0].known === "RUNNING");
    expect((await task()).containers[0].image.digest).toBe(first.digest);
    const before = registry.asked.length;
    await apply([{ image }], "next");
    expect((await running("next")).containers[0].image).toEqual({ reference: image, digest: second.digest, via: "pulled" });
    // The base is there: a configuration and one layer have come.
    expect(registry.asked.slice(before).filter((line) => /^GET .*\/blobs\//.test(line))).toHaveLength(2);
    await apply([{ image }], "same");
    expect((await running("same")).containers[0].image).toMatchObject({ digest: second.digest, via: "current" });
    await apply([{ image: `docker://${registry.host}/shop/web@${first.digest}` }], "pinned");
    expect((await running("pinned")).containers[0].image.digest).toBe(first.digest);
    for (const name of ["t", "next", "same", "pinned"]) await remove(name);
  });

  test("E38: if a registry is down, the container runs from the local image, and the event says so; without a local image the container stops", async () => {
    const registry = await registryOf();
    await scene.daemon({ before: registry.before });
    const { directory, digest } = layout();
    const image = await registry.push(directory, "a:v1");
    await apply([{ image }]);
    await running();
    await remove();
    await registry.stop();
    await apply([{ image }]);
    expect((await running()).containers[0].image).toEqual({ reference: image, digest, via: "usingCachedDigest" });
    const told = (await eventsOf(scene.socket, 0)).map(({ data }) => data).filter(({ type }) => type === "image");
    expect(told.at(-1)).toMatchObject({ digest, via: "usingCachedDigest", error: expect.stringContaining("connection refused") });
    expect((await scene.ctl("events")).stdout).toMatch(/from before: the source has failed/);
    await apply([{ image, pullPolicy: "always" }], "always");
    expect((await stopped("always")).reason).toMatch(/could not be provided: skopeo has failed .*connection refused/);
    await apply([{ image: `docker://${registry.host}/never:v1` }], "never");
    expect((await stopped("never")).reason).toMatch(/could not be provided/);
    for (const name of ["t", "always", "never"]) await remove(name);
  });

  test("E43: a pull from a slow registry ends in time; half a layer, or a wrong layer, is refused; nothing is left", async () => {
    const registry = await registryOf();
    const { before } = registry;
    const hurried = await scene.daemon({ before, args: ["--pull-timeout", `${3 * SLOW}s`] });
    const image = await registry.push(layout().directory, "a:v1");
    const cases = [
      ["slow", /PullTimeout: it was not there within/],
      ["truncated", /could not be provided: skopeo has failed .*(EOF|reset)/],
      ["wrong", /could not be provided: skopeo has failed .*(digest|checksum|unexpected)/i],
    ] as const;
    for (const [fault, reason] of cases) {
      registry.fault = fault;
      if (fault === "truncated") {
        // A busy machine may need longer than that for the others.
        await hurried.kill();
        await scene.daemon({ before });
      }
      await apply([{ image }], fault);
      expect((await stopped(fault)).reason).toMatch(reason);
      await remove(fault);
      await until(() => readdirSync(images("staging")).length === 0);
      expect(readdirSync(images("layers"))).toEqual([]);
    }
    registry.fault = "none";
    await apply([{ image }]);
    await running();
    await remove();
  });

  test("E39: no more pulls run at once than allowed, at most one of each image, and each records its times", async () => {
    const registry = await registryOf();
    await scene.daemon({ before: registry.before, args: ["--pulls-at-once", "2"] });
    const references: string[] = [];
    // Nothing is shared: each pull has something to get.
    for (const name of ["a", "b", "c", "d"]) {
      const directory = join(scene.directory, `alone-${name}`);
      const files = [
        { name: "bin/", type: "5" },
        { name: "bin/sh", content: readFileSync("/bin/busybox"), mode: 0o755 },
      ] as const;
      writeLayout(directory, { layers: [tar([...files, { name: "text", content: name }])], config: { Cmd: ["/bin/sh", "-c", SLEEP] } });
      references.push(await registry.push(directory, `${name}:v1`));
    }
    registry.fault = "slow";
    for (const [at, image] of references.entries()) await apply([{ image }, { image }], `t${at}`);
    // A configuration and a layer of each of the two.
    await until(() => registry.mostAtOnce >= 2);
    await until(() => registry.asked.filter((line) => /^GET .*\/manifests\//.test(line)).length >= 4);
    expect(new Set(registry.asked.filter((line) => /\/manifests\//.test(line)).map((line) => line.split("/")[2])).size).toBe(2);
    // Who removes images waits for those who get some.
    let isPruned = false;
    const pruning = http(scene.socket, "POST", "/v1/images/prune", {}).then((answer) => {
      isPruned = true;
      return answer;
    });
    await new Promise((over) => setTimeout(over, 500));
    expect(isPruned).toBe(false);
    registry.fault = "none";
    expect((await pruning).status).toBe(200);
    for (const at of references.keys()) await running(`t${at}`);
    // Once to know what it is, and once to copy it: for both containers together.
    for (const name of ["a", "b", "c", "d"]) expect(manifests(registry, name)).toHaveLength(2);
    const times = await Promise.all([...references.keys()].map(async (at) => (await task(`t${at}`)).pulls));
    for (const { startedMs, stoppedMs } of times) expect(stoppedMs).toBeGreaterThan(startedMs);
    const [one, two] = [...times].sort((a, b) => a.stoppedMs - b.stoppedMs);
    expect(Math.max(one!.startedMs, two!.startedMs)).toBeLessThan(Math.min(one!.stoppedMs, two!.stoppedMs));
    for (const at of references.keys()) await remove(`t${at}`);
  });

  test("E40: a stop during a pull, or while a pull waits, ends the programs; the reason says that the image was not pulled yet", async () => {
    const registry = await registryOf();
    const daemon = await scene.daemon({ before: registry.before, args: ["--pulls-at-once", "1"] });
    const [first, second] = [await registry.push(layout().directory, "a:v1"), await registry.push(layout().directory, "b:v1")];
    registry.fault = "slow";
    await apply([{ image: first }], "first");
    await until(() => registry.mostAtOnce > 0);
    await apply([{ image: second }], "second");
    const children = childrenOf(daemon.pid);
    for (const name of ["second", "first"]) {
      // Not by runtctl, which takes its own time to start.
      expect((await http(scene.socket, "POST", `/v1/tasks/${name}/stop`)).status).toBe(202);
      if (name === "first") await assertGone(children);
      const { containers } = await stopped(name);
      expect(containers[0]).toMatchObject({ known: "STOPPED", image: null, exit: null });
      expect(containers[0].reason).toMatch(/^container c0 was stopped before its image was pulled <- task stopped/);
    }
    expect(manifests(registry, "b")).toEqual([]);
    const told = (await eventsOf(scene.socket, 0)).map(({ data }) => data as { type: string; reason?: { code: string } });
    expect(told.filter(({ type, reason }) => type === "container" && reason?.code === "StoppedBeforePull")).toHaveLength(2);
    registry.fault = "none";
    for (const name of ["first", "second"]) await remove(name);
    // The task has stopped before the directory of its pull is gone.
    await until(() => readdirSync(images("staging")).length === 0);
  });

  test("E44: with pull-upfront the image is pulled before the container's dependencies are ready; a program that hangs at the creation ends with the task", async () => {
    const registry = await registryOf();
    const bin = join(scene.directory, "upfront");
    const [hang, pids] = [join(bin, "hang"), join(bin, "pids")];
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "umoci"), `#!/bin/sh\n[ ! -e ${hang} ] || { echo $$ >> ${pids}; sleep 300; }\nexec /usr/bin/umoci "$@"\n`, {
      mode: 0o755,
    });
    await scene.daemon({ before: `${registry.before} PATH=${bin}:$PATH`, args: ["--pull-upfront"] });
    const image = await registry.push(layout().directory, "a:v1");
    const go = join(scene.directory, "go");
    mkdirSync(go, { recursive: true });
    const check = { command: ["/bin/sh", "-c", "test -e /go/now"], interval: "200ms", startPeriod: "10m" };
    await apply([
      { rootfs: scene.rootfs(), command: "/bin/sh", args: ["-c", SLEEP], healthCheck: check, mounts: [{ source: go, target: "/go" }] },
      { image, dependsOn: [{ container: "c0", condition: "HEALTHY" }] },
    ]);
    await until(async () => (await task()).containers[1].known === "PULLED");
    expect((await task()).containers[0].known).toBe("RUNNING");
    // What was unpacked is gone: it is unpacked again when the container is made.
    for (const name of readdirSync(images("layers"))) rmSync(images("layers", name), { recursive: true });
    writeFileSync(hang, "");
    writeFileSync(join(go, "now"), "");
    await until(() => existsSync(pids));
    expect((await http(scene.socket, "POST", "/v1/tasks/t/stop")).status).toBe(202);
    await assertGone(readFileSync(pids, "utf8").split("\n").filter(Boolean));
    await stopped();
    await remove();
    // The store removes what was not unpacked to its end; the task does not wait for that.
    await until(() => readdirSync(images("staging")).length === 0);
    expect(readdirSync(images("roots"))).toEqual([]);
  });

  test("E40: a requested pull shows its progress on a terminal, and ends with the client that requested it", async () => {
    const registry = await registryOf();
    const daemon = await scene.daemon({ before: registry.before });
    const image = await registry.push(layout().directory, "a:v1");
    registry.fault = "slow";
    const command = `${RUNTCTL.join(" ")} -s ${scene.socket} pull ${image}`;
    const client = spawn("script", ["-qec", command, "/dev/null"], { stdio: ["pipe", "pipe", "ignore"] });
    // It may end before the programs of the pull.
    const ended = new Promise((done) => client.once("exit", done));
    let output = "";
    client.stdout.on("data", (chunk) => {
      output += chunk;
    });
    await until(() => registry.mostAtOnce > 0 && /of \d/.test(output));
    const children = childrenOf(daemon.pid);
    client.stdin.write("\x03");
    await assertGone(children);
    await ended;
    registry.fault = "none";
    expect((await scene.ctl("pull", image)).status).toBe(0);
  });

  /** Everything of the host that others may read, or that stays. */
  const traces = (daemon: Daemon): string => {
    const below = (directory: string): string[] =>
      readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
        const path = join(directory, entry.name);
        return entry.isDirectory() ? below(path) : entry.isFile() ? [path] : [];
      });
    const files = below(scene.stateDir).map((path) => readFileSync(path, "latin1"));
    return [daemon.log(), ...files].join("\n");
  };
  const commands = (): string =>
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
      .flatMap((pid) => ["cmdline", "environ"].map((name) => `/proc/${pid}/${name}`))
      .map((path) => {
        try {
          return readFileSync(path, "latin1");
        } catch {
          return "";
        }
      })
      .join("\n");
  const AUTH = Buffer.from(`${USER}:${PASSWORD}`).toString("base64");

  test("E41 E42: credentials of a file and of a program get the image, and appear nowhere else; without them no program is asked", async () => {
    const registry = await registryOf({ hasUsers: true });
    const file = scene.file("auth.json", JSON.stringify({ auths: { [registry.host]: { auth: AUTH } } }));
    const program = scene.file("provider", `#!/bin/sh\necho '${AUTH}' >&2\nexec cat ${file}\n`);
    execMode(program);
    const broken = scene.file("broken", "#!/bin/sh\necho noise >&2; exit 3\n");
    execMode(broken);
    const credentials = { default: `file:${file}`, program: `exec:${program}`, broken: `exec:${broken}`, gone: "file:/nowhere/auth.json" };
    const args = Object.entries(credentials).flatMap(([name, source]) => ["--credentials", `${name}=${source}`]);
    const daemon = await scene.daemon({ before: registry.before, args });
    const image = await registry.push(layout().directory, "a:v1");
    const before = registry.asked.length;
    const failures = [
      ["gone", /credentials gone: ENOENT.*\/nowhere\/auth\.json/],
      ["broken", /credentials broken: .*provider|credentials broken: .*broken has failed \(3\)$/],
      ["unknown", /this host has no credentials with the name "unknown"/],
    ] as const;
    for (const [pullCredentials, reason] of failures) {
      await apply([{ image, pullCredentials }], pullCredentials);
      expect((await stopped(pullCredentials)).reason).toMatch(reason);
      await remove(pullCredentials);
    }
    expect(registry.asked.slice(before)).toEqual([]);
    registry.fault = "slow";
    await apply([{ image }], "by-file");
    await apply([{ image, pullCredentials: "program" }], "by-program");
    await until(() => registry.mostAtOnce > 0);
    const seen = commands();
    expect(seen).toContain("skopeo");
    for (const secret of [AUTH, PASSWORD]) expect(seen).not.toContain(secret);
    registry.fault = "none";
    for (const name of ["by-file", "by-program"]) await running(name);
    const kept = traces(daemon);
    expect(kept).toContain(registry.host);
    for (const secret of [AUTH, PASSWORD]) expect(kept).not.toContain(secret);
    expect(statSync(file).mode & 0o777).toBe(0o644);
    for (const name of ["by-file", "by-program"]) await remove(name);
  });

  test("P10 a pod's image is pulled with the credentials of the host, by default or by the name in imagePullSecrets", async () => {
    const registry = await registryOf({ hasUsers: true });
    const file = scene.file("auth.json", JSON.stringify({ auths: { [registry.host]: { auth: AUTH } } }));
    await scene.daemon({ before: registry.before, args: ["--credentials", `default=file:${file}`, "--credentials", `mine=file:${file}`] });
    const image = await registry.push(layout().directory, "a:v1");
    const pod = (more: object) => {
      const container = { name: "a", image: image.replace("docker://", ""), imagePullPolicy: "Always" };
      const spec = { containers: [container], restartPolicy: "Never", ...more };
      return scene.file("pod.json", JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec }));
    };
    // A name that the host lacks is told of, and the default credentials are used.
    for (const more of [{}, { imagePullSecrets: [{ name: "mine" }] }, { imagePullSecrets: [{ name: "nobody" }] }]) {
      expect(await scene.ctl("apply", "-f", pod(more))).toMatchObject({ status: 0 });
      await running("p");
      await remove("p");
    }
  });

  test("E41: if a registry repeats what it was sent, the text does not get into a message", async () => {
    const registry = await registryOf({ hasUsers: true });
    const file = scene.file("auth.json", JSON.stringify({ auths: { [registry.host]: { auth: AUTH } } }));
    const daemon = await scene.daemon({ before: registry.before, args: ["--credentials", `default=file:${file}`] });
    const image = await registry.push(layout().directory, "a:v1");
    registry.fault = "echo";
    await apply([{ image }]);
    expect((await stopped()).reason).toMatch(/Basic \[hidden\]/);
    expect(traces(daemon)).not.toContain(AUTH);
    await remove();
  });
});

function execMode(path: string): void {
  chmodSync(path, 0o755);
}
