/**
 * What a container of a Kubernetes manifest sees is the same under `podman kube play`, but for differences that have a reason (test/kube-play/reasons.ts): environment, arguments,
 * user and groups, directory, name of the host, capabilities, limits, mounts, answers at ports, order of init containers and exit codes. The images are stubs, which print it
 * (test/compose-model/stub.ts). RUNT_KUBE_CORPUS names directories with manifests of others, RUNT_KUBE_STARTED how many of them are started, the same number of each directory, and
 * RUNT_KUBE_PODMAN the root file system with Podman (`make test-kube-play`).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseFile } from "../../src/pod/index.ts";
import { FACTS, type Facts, factsIn } from "../compose-model/stub.ts";
import { compare, orderOf } from "../kube-play/compare.ts";
import { PodmanHost } from "../kube-play/podman.ts";
import { reasonOf } from "../kube-play/reasons.ts";
import { type Stubbed, type StubContainer, type StubPod, stubbed } from "../kube-play/stub.ts";
import { REPOSITORY } from "../support/programs.ts";
import { baseLayer, tar, writeDockerArchive, writeLayout } from "./image-files.ts";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

const TREE = process.env["RUNT_KUBE_PODMAN"] ?? "";
const COUNT = Number(process.env["RUNT_KUBE_STARTED"] ?? 0);
/** Where the differences are written. */
const REPORT = join(REPOSITORY, "build/test/kube-started.txt");
/** Largest file that is looked at, in bytes. */
const LARGEST = 100_000;

interface Case {
  readonly title: string;
  readonly manifest: Stubbed;
}

const HOST = { name: "node", cpus: 2, memoryBytes: 2 ** 34 };

/** Manifests of a directory that runt takes as they are played; what it refuses, and why, is in the report. @param scratch for what they have from the host */
function* takenBelow(directory: string, scratch: string): Generator<Case> {
  for (const path of (readdirSync(directory, { recursive: true, encoding: "utf8" }) as string[]).sort()) {
    if (!/\.(?:ya?ml|json)$/.test(path)) continue;
    const text = readFileSync(join(directory, path), "utf8");
    if (text.length > LARGEST || !/^ *"?kind/m.test(text)) continue;
    const title = `${basename(directory)}/${path}`;
    const manifest = stubbed(text);
    if (manifest === undefined) continue;
    const { findings } = parseFile(
      manifest.text(() => "oci:/stub:v1", scratch),
      HOST,
    );
    if (findings.length === 0) yield { title, manifest };
    else
      appendFileSync(REPORT, `${title}: refused by runt: ${findings.map(({ pointer, message }) => `${pointer} ${message}`).join("; ")}\n`);
  }
}

/** The same manifest is in several directories of some projects. */
function cases(): readonly Case[] {
  if (COUNT === 0 || TREE === "") return [];
  mkdirSync(dirname(REPORT), { recursive: true });
  writeFileSync(REPORT, "");
  const found: Case[] = [];
  const known = new Set<string>();
  const scratch = mkdtempSync("/var/tmp/runt-kube-read-");
  let sources = (process.env["RUNT_KUBE_CORPUS"] ?? "")
    .split(":")
    .filter(Boolean)
    .map((one) => takenBelow(one, scratch));
  while (sources.length > 0 && found.length < COUNT)
    sources = sources.filter((source) => {
      const { value, done } = source.next();
      if (done) return false;
      const shape = JSON.stringify(value.manifest.pods);
      if (!known.has(shape)) found.push(value);
      known.add(shape);
      return true;
    });
  rmSync(scratch, { recursive: true, force: true });
  return found.slice(0, COUNT);
}

const CASES = cases();

describe.skipIf(!isRoot || noNetworks !== undefined || CASES.length === 0)("started manifests (need root, CNI plugins and Podman)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const reasons = new Map<string, number>();
  let podman: PodmanHost;
  let holder: ChildProcess;
  let started = 0;
  beforeAll(async () => {
    const work = mkdtempSync("/var/tmp/runt-kube-play-");
    // Users of containers reach what is of the host there.
    chmodSync(work, 0o711);
    // What Podman mounts in its tree is not in the namespace of the daemon.
    holder = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-c", "echo there; exec sleep infinity"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(holder.stdout!, "data");
    podman = new PodmanHost(TREE, work);
    report(`${podman.version()}\n`);
  });
  afterAll(() => {
    report(`\n${started} manifests started by both\n${[...reasons].map(([why, count]) => `${count} x ${why}`).join("\n")}\n`);
    podman.end();
    holder.kill("SIGKILL");
    rmSync(podman.work, { recursive: true, force: true });
  });

  const report = (text: string) => appendFileSync(REPORT, text);

  interface Images {
    /** References of runt and of Podman. */
    readonly runt: string;
    readonly podman: string;
  }

  const images = new Map<string, Images>();

  function imageOf(container: StubContainer): Images {
    const key = JSON.stringify([container.image, container.users]);
    const known = images.get(key);
    if (known !== undefined) return known;
    const name = `stub${images.size}`;
    const accounts = [...new Set(container.users)].filter((id) => id !== 0);
    const programs = ["base64", "tr", "printf", "hostname", "sed", "cut", "nc", "echo"].map((one) => ({
      name: `bin/${one}`,
      type: "2",
      link: "busybox",
    }));
    const layers = [
      baseLayer(),
      tar([
        ...programs,
        { name: "srv/", type: "5" },
        { name: "facts", content: FACTS, mode: 0o755 },
        {
          name: "etc/passwd",
          content: `root:x:0:0::/root:/bin/sh\n${accounts.map((id) => `u${id}:x:${id}:${id}::/home/u${id}:/bin/sh\n`).join("")}`,
        },
        { name: "etc/group", content: `root:x:0:\nmore:x:4000:${accounts.map((id) => `u${id}`).join(",")}\n` },
      ]),
    ];
    const directory = join(podman.work, "images", name);
    writeLayout(directory, { layers, config: container.image });
    writeDockerArchive(`${directory}.tar`, { layers, config: container.image, tag: name });
    podman.load(`${directory}.tar`, name);
    const made = { runt: `oci:${directory}:v1`, podman: `localhost/a:${name}` };
    images.set(key, made);
    return made;
  }

  interface Task {
    readonly name: string;
    readonly group: string;
    readonly containers: readonly { readonly name: string; readonly exit: { readonly code: number } | null }[];
  }

  async function tasks(): Promise<readonly Task[]> {
    const answer = JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text) as { tasks: readonly Task[] };
    return answer.tasks.filter(({ group }) => group === "played");
  }

  /** A workload's pod has the number 0. */
  const taskOf = async ({ name }: StubPod) => (await tasks()).find((one) => one.name === name || one.name === `${name}-0`)!;

  async function printed(of: () => Promise<string> | string, whose: string): Promise<Facts> {
    let text = "";
    await until(
      async () => {
        text = await of();
        return factsIn(text) !== undefined;
      },
      undefined,
      () => `${whose}: ${text}`,
    );
    return factsIn(text)!;
  }

  test.each(CASES)(
    "$title",
    async ({ title, manifest }) => {
      await host.daemon({ in: `/proc/${holder.pid}/ns/mnt` });
      const file = (side: "runt" | "podman") => {
        const path = join(podman.work, `${side}.yaml`);
        writeFileSync(
          path,
          manifest.text((one) => imageOf(one)[side], join(podman.work, `host-${side}`)),
        );
        return path;
      };
      const [own, others] = [file("runt"), file("podman")];
      try {
        const refused = podman.play(others);
        if (refused !== undefined) {
          report(`${title}: refused by Podman: ${refused}\n`);
          return;
        }
        expect(await scene.ctl("-g", "played", "apply", "-f", own)).toMatchObject({ status: 0 });
        const lines: string[] = [];
        try {
          for (const pod of manifest.pods) lines.push(...(await podLines(pod)));
          lines.push(...(await endLines(manifest.pods, own)));
        } catch (error) {
          report(`${title}: ${String(error)}\n`);
          throw error;
        }
        started++;
        report(`${title}: ${manifest.pods.length} pods\n${lines.map((line) => `  ${line}\n`).join("")}`);
        expect(lines).toEqual([]);
      } finally {
        await scene.ctl("-g", "played", "delete", "-f", own, "--volumes");
        podman.clean();
        for (const side of ["runt", "podman"]) rmSync(join(podman.work, `host-${side}`), { recursive: true, force: true });
      }
    },
    LONGEST_MS,
  );

  /** Differences of a pod without a reason. */
  async function podLines(pod: StubPod): Promise<string[]> {
    const task = await taskOf(pod);
    const names = podman.namesOf(pod.name);
    const lines: string[] = [];
    const sides: Record<"runt" | "podman", { name: string; isInit: boolean; facts: Facts }[]> = { runt: [], podman: [] };
    for (const { name, isInit } of pod.containers) {
      const label = `${pod.name} ${name}`;
      const theirs = await printed(() => podman.logs(names[name]!), `Podman, ${label}`);
      const log = async () => {
        const { stdout, stderr } = await scene.ctl("-g", "played", "logs", task.name, "-c", name);
        return stdout + stderr + (stdout === "" ? JSON.stringify(await taskOf(pod)) : "");
      };
      const ours = await printed(log, `runt, ${label}`);
      sides.podman.push({ name, isInit, facts: theirs });
      sides.runt.push({ name, isInit, facts: ours });
      for (const one of compare(theirs, ours)) {
        const why = reasonOf(one, pod);
        if (why === undefined) lines.push(`${label}: ${one.field}: Podman ${JSON.stringify(one.podman)}, runt ${JSON.stringify(one.runt)}`);
        else reasons.set(why, (reasons.get(why) ?? 0) + 1);
      }
    }
    for (const [side, order] of Object.entries(sides)) lines.push(...orderOf(order).map((line) => `${pod.name}: ${side}: ${line}`));
    return [...lines, ...(await portLines(pod, task.name, names))];
  }

  /** Each port answers with the name of its container: inside the pod, and at the ports of the host that lead to it. */
  async function portLines(pod: StubPod, task: string, names: Readonly<Record<string, string>>): Promise<string[]> {
    const lines: string[] = [];
    const first = pod.containers.find(({ ends }) => !ends);
    const tell = (label: string, expected: string, answer: string) => {
      if (answer.trim() !== expected) lines.push(`${pod.name}: ${label}: ${JSON.stringify(answer)} answers instead of ${expected}`);
    };
    for (const { name, ports, published } of pod.containers) {
      for (const port of ports) {
        const words = ["nc", "-w", "5", "127.0.0.1", port];
        tell(`port ${port} in Podman's pod`, name, await answer(() => podman.inNetworkOf(names[first!.name]!, "busybox", ...words)));
        const told = await answer(async () => (await scene.ctl("-g", "played", "exec", task, "-c", first!.name, "--", ...words)).stdout);
        tell(`port ${port} in runt's pod`, name, told);
      }
      for (const { host: port, address } of published) {
        const words = ["busybox", "nc", "-w", "5", address, port];
        tell(`port ${port} of Podman's host`, name, await answer(() => podman.on(...words)));
        tell(`port ${port} of runt's host`, name, await answer(() => host.on(...words)));
      }
    }
    return lines;
  }

  /** The program may not listen yet. */
  async function answer(ask: () => Promise<string> | string): Promise<string> {
    let told = "";
    for (let tries = 0; tries < 10 && told === ""; tries++)
      try {
        told = await ask();
      } catch (error) {
        if (tries === 9) return String(error);
        await new Promise((done) => setTimeout(done, 200));
      }
    return told;
  }

  /** Programs end with 0 or with the number of the signal plus 100, under both. */
  async function endLines(pods: readonly StubPod[], file: string): Promise<string[]> {
    const names = pods.map((pod) => podman.namesOf(pod.name));
    const theirs = await podman.stop();
    expect((await scene.ctl("-g", "played", "stop", "-f", file)).status).toBe(0);
    const lines: string[] = [];
    for (const [at, pod] of pods.entries())
      for (const { name, ends } of pod.containers) {
        const codeOf = async () => (await taskOf(pod)).containers.find((one) => one.name === name)?.exit?.code;
        await until(async () => (await codeOf()) !== undefined);
        const [podmans, runts] = [theirs[names[at]![name]!], await codeOf()];
        const wanted = ends ? 0 : 115;
        if (podmans !== wanted || runts !== wanted)
          lines.push(`${pod.name} ${name}: exit code ${podmans} under Podman, ${runts} under runt`);
      }
    return lines;
  }
});
