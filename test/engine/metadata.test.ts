/** What a container is told about itself, as the container reads it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";
import { baseLayer, writeLayout } from "./image-files.ts";
import { taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, sharedIn, until, useEngine } from "./support.ts";
import { SLEEP, taskText } from "./tasks.ts";

const RUNT = join(REPOSITORY, "bin/runt");
/** Copies what it is told to the host until it is READY, and then goes on. The copy is renamed into its place: nobody reads half of it. */
const POLL = `while :; do cp /run/self/metadata.json /shared/next 2>/dev/null && mv /shared/next /shared/seen && grep -q '"READY"' /shared/seen && break; sleep 0.05; done; `;

describe.skipIf(!isRoot)("metadata of a container (needs root)", () => {
  const scene = useEngine();
  const task = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
  const apply = async (fields: object, script: string, further: Readonly<Record<string, unknown>> = {}) => {
    const shared = sharedIn(scene, "t");
    const mounts = [{ source: shared.directory, target: "/shared" }];
    const text = taskText(scene.rootfs(), "t", [{ name: "a", script, fields: { metadata: "/run/self", mounts, ...fields } }], further);
    expect((await http(scene.socket, "POST", "/v1/apply", { text })).text).toContain("created");
    return shared.directory;
  };
  const seenIn = (directory: string) => JSON.parse(readFileSync(join(directory, "seen"), "utf8"));
  const hasSeen = (directory: string, status: string) => () => {
    try {
      return seenIn(directory).status === status;
    } catch {
      return false;
    }
  };

  test("E61 a container can read its metadata: task, container, start, ports, image, limits; it cannot write there, and another user can read it", async () => {
    await scene.daemon();
    const script = `${POLL} (echo x > /run/self/metadata.json || echo x > /run/self/x || rm /run/self/metadata.json) 2>/dev/null || echo > /shared/refused; ${SLEEP}`;
    const namespaces = { network: "host" };
    const shared = await apply({ user: "1234", memory: "64Mi" }, script, { namespaces, pids: 50, ports: [{ port: 18_099 }] });
    execFileSync("chmod", ["777", shared]);
    await until(hasSeen(shared, "READY"));
    const { id, digest, containers } = await task();
    expect(seenIn(shared)).toEqual({
      status: "READY",
      task: { id, group: "default", name: "t", specDigest: digest },
      container: { name: "a", id: containers[0].id, generation: 1, startedAt: expect.stringMatching(/^\d{4}-.*Z$/) },
      addresses: [],
      ports: [{ port: 18_099, protocol: "tcp" }],
      image: null,
      limits: { container: { memory: 64 * 1024 ** 2 }, task: { pids: 50 } },
    });
    // The kernel's own time of that start, to the second.
    const { pid } = scene.list()[0]!;
    const begun = Date.parse(seenIn(shared).container.startedAt);
    const seconds = Number(execFileSync("ps", ["-o", "etimes=", "-p", String(pid)], { encoding: "utf8" }));
    expect(Math.abs(Date.now() - begun - seconds * 1000)).toBeLessThan(5_000);
    await until(() => existsSync(join(shared, "refused")));
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    await until(() => readdirSync(join(scene.stateDir, "metadata")).length === 0);
  });

  test("E61 when the file cannot be written the container runs without it, and the log says why", async () => {
    const daemon = await scene.daemon();
    writeFileSync(join(scene.stateDir, "metadata"), "in the way\n");
    const shared = await apply({}, `test -e /run/self/metadata.json || echo > /shared/none; ${SLEEP}`);
    await until(() => existsSync(join(shared, "none")));
    await until(async () => (await task()).known === "RUNNING");
    expect(daemon.log()).toMatch(/"metadata-not-written","task":"[^"]*","container":"a"/);
    rmSync(join(scene.stateDir, "metadata"));
  });

  test("E64 if a file cannot be written after the container has started, the daemon tries again until it succeeds, also after a kill", async () => {
    const first = await scene.daemon();
    // It runs before the program and behind the first writing, and puts a directory in the place of the next file.
    const bundle = mkdtempSync(join(scene.directory, "bundle-"));
    execFileSync(RUNT, ["spec", "--bundle", bundle]);
    const config = JSON.parse(readFileSync(join(bundle, "config.json"), "utf8"));
    const block = `for place in ${scene.stateDir}/metadata/*/*; do mkdir "$place/metadata.json.new"; done`;
    Object.assign(config.process, { terminal: false, args: ["/bin/sh", "-c", `${POLL}${SLEEP}`] });
    config.root.path = scene.rootfs();
    config.hooks = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", block] }] };
    writeFileSync(join(bundle, "config.json"), JSON.stringify(config));
    const shared = await apply({ bundle }, "");
    await until(async () => (await task()).known === "RUNNING");
    await until(() => /"metadata-not-written"/.test(first.log()));
    await until(hasSeen(shared, "INITIAL"));
    expect(seenIn(shared).container.startedAt).toBe(null);
    const blocks = () =>
      execFileSync("find", [join(scene.stateDir, "metadata"), "-name", "metadata.json.new", "-type", "d"], { encoding: "utf8" });
    await first.kill();
    const second = await scene.daemon();
    await until(() => /"metadata-not-written"/.test(second.log()));
    expect(hasSeen(shared, "INITIAL")()).toBe(true);
    rmdirSync(blocks().trim());
    await until(hasSeen(shared, "READY"));
  });
});

const HAS_IMAGES = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));

describe.skipIf(!isRoot || !HAS_IMAGES || noNetworks !== undefined)(
  "metadata of a container of an image (needs root, CNI plugins, skopeo and umoci)",
  () => {
    const scene = useEngine();
    const host = useNetworkHost(scene);

    test("E61 a container of an image reads its digest, the ports of the host that lead to it, and its address", async () => {
      await host.daemon();
      const layout = join(scene.directory, "layout");
      const digest = writeLayout(layout, { layers: [baseLayer()], config: { Cmd: ["/bin/sh", "-c", `${POLL}${SLEEP}`] } });
      const shared = sharedIn(scene, "t");
      const container = {
        name: "a",
        image: `oci:${layout}:v1`,
        metadata: "/run/self",
        mounts: [{ source: shared.directory, target: "/shared" }],
      };
      const ports = [
        { container: 80, host: 18_080 },
        { container: 53, hostRange: [18_090, 18_099], protocol: "udp", address: "127.0.0.1" },
      ];
      const text = JSON.stringify({ name: "t", network: { ports }, memory: "128Mi", containers: [{ ...container, cpus: 0.5 }] });
      expect((await http(scene.socket, "POST", "/v1/apply", { text })).text).toContain("created");
      const seen = () => {
        try {
          return JSON.parse(readFileSync(join(shared.directory, "seen"), "utf8"));
        } catch {
          return undefined;
        }
      };
      await until(() => seen()?.status === "READY");
      const { addresses } = await taskOf(scene, "t");
      expect(seen()).toMatchObject({
        addresses,
        ports: [
          { port: 18_080, protocol: "tcp", containerPort: 80 },
          { port: 18_090, protocol: "udp", containerPort: 53, address: "127.0.0.1" },
        ],
        image: { reference: `oci:${layout}:v1`, digest },
        limits: { container: { cpus: 0.5 }, task: { memory: 128 * 1024 ** 2 } },
      });
      expect((await scene.ctl("delete", "t")).status).toBe(0);
      expect(await host.left()).toEqual([]);
    });
  },
);
