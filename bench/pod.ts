/**
 * How long a pod takes until it is ready, beside `podman kube play`, as root:
 *
 *   tsx bench/pod.ts --tree DIRECTORY [--rounds N] [--only NAME,...]
 *
 * DIRECTORY is Podman's tree (tools/debian-tree.sh). Both get the same file and the same image, in turns, in one network namespace of their own. Of runt it is the time from the start of
 * `runtctl apply`, or of the request that it makes, until the daemon has told that all containers of the pod run; of Podman until `podman kube play` has ended.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { baseLayer, writeLayout } from "../test/engine/image-files.ts";
import { BenchDaemon } from "./engine-daemon.ts";
import { describe, machine } from "./machine.ts";
import { inNamespace, prepareHierarchies } from "./namespace.ts";
import { Podman } from "./podman.ts";
import { median, summarize } from "./stats.ts";

interface Scenario {
  readonly name: string;
  readonly what: string;
  readonly file: string;
  /** Containers that run when the pod is ready. */
  readonly running: readonly string[];
}

const sleeping = (name: string, more = "") =>
  `  - { name: ${name}, image: "app:v1", imagePullPolicy: IfNotPresent, command: [/bin/sleep, "1000"]${more} }\n`;
const pod = (name: string, containers: string, more = "") =>
  `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name} }\nspec:\n  terminationGracePeriodSeconds: 1\n${more}  containers:\n${containers}`;
const mounts = ", volumeMounts: [{ name: scratch, mountPath: /scratch }, { name: conf, mountPath: /conf }]";
const conf = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: conf }\ndata: { word: hello }\n---\n`;
const volumes = `  volumes: [{ name: scratch, emptyDir: {} }, { name: conf, configMap: { name: conf } }]\n`;
const init = `  initContainers:\n  - { name: first, image: "app:v1", imagePullPolicy: IfNotPresent, command: [/bin/true]${mounts} }\n`;

const SCENARIOS: readonly Scenario[] = [
  { name: "one", what: "one container", file: pod("one", sleeping("main")), running: ["main"] },
  {
    name: "three",
    what: "three containers",
    file: pod("three", ["a", "b", "c"].map((name) => sleeping(name)).join("")),
    running: ["a", "b", "c"],
  },
  {
    name: "volumes",
    what: "an init container and a container with a scratch volume and a ConfigMap",
    file: conf + pod("volumes", sleeping("main", mounts), volumes + init),
    running: ["main"],
  },
  {
    name: "port",
    what: "one container with a port of the host",
    file: pod("port", sleeping("main", ", ports: [{ containerPort: 80, hostPort: 8080 }]")),
    running: ["main"],
  },
];

// Node reads these at each start.
delete process.env["NODE_EXTRA_CA_CERTS"];

const { values } = parseArgs({
  options: {
    tree: { type: "string" },
    rounds: { type: "string", default: "20" },
    only: { type: "string" },
    inside: { type: "string" },
  },
});

/** Milliseconds of one round. */
interface Round {
  /** `runtctl apply`: until the pod is ready and the client has ended. */
  readonly own: number;
  /** The same request by a client that runs already, as a cluster's or a program's is. */
  readonly direct: number;
  readonly peer: number;
}

/** Until the request has ended and the pod is ready. */
async function untilReady(daemon: BenchDaemon, running: readonly string[], apply: () => Promise<unknown>): Promise<number> {
  let ready: ((arrived: number) => void) | undefined;
  const isReady = new Promise<number>((done) => {
    ready = done;
  });
  const missing = new Set(running);
  const { stop } = await daemon.events((event, arrived) => {
    if (event.type === "container" && event.known === "RUNNING") missing.delete(event.container!);
    if (missing.size === 0) ready!(arrived);
  });
  const begun = performance.timeOrigin + performance.now();
  const ended = apply().then(() => performance.timeOrigin + performance.now());
  const times = await Promise.all([ended, isReady]);
  stop();
  return Math.max(...times) - begun;
}

async function measure(scenario: Scenario, rounds: number, podman: Podman, daemon: BenchDaemon, work: string): Promise<Round[]> {
  const { name, running } = scenario;
  const file = join(work, `${name}.yaml`);
  writeFileSync(file, scenario.file);
  const own = async (isFirst: boolean) => {
    const time = await untilReady(daemon, running, () => daemon.ctl(["apply", "-f", file]));
    if (isFirst) expectReady(daemon.shown(name));
    await daemon.remove([name]);
    return { own: time };
  };
  const direct = async () => {
    const time = await untilReady(daemon, running, () => daemon.call("POST", "/v1/apply", { text: scenario.file }));
    await daemon.remove([name]);
    return { direct: time };
  };
  const peer = async (isFirst: boolean) => {
    const time = await podman.play(file);
    if (isFirst && !/Running/.test(podman.run("pod", "ps"))) throw new Error(`Podman's pod does not run: ${podman.run("pod", "ps")}`);
    podman.remove();
    return { peer: time };
  };
  const found: Round[] = [];
  // The first round of each is not counted: it fills caches.
  for (let round = 0; round <= rounds; round++) {
    // Neither is always the first.
    const sides = round % 2 === 0 ? [own, direct, peer] : [peer, direct, own];
    let times = {};
    for (const side of sides) times = { ...times, ...(await side(round === 0)) };
    if (round > 0) found.push(times as Round);
  }
  return found;
}

/** One container by `run --rm` that ends at once, in turns. */
async function measureRuns(rounds: number, podman: Podman, daemon: BenchDaemon, image: string): Promise<Round[]> {
  const words = ["run", "--rm", "--network", "none", "--pull", "prefer-cached", "--image", image, "--", "/bin/true"];
  const sides = {
    own: () => daemon.ctl(words),
    peer: () => podman.once("localhost/app:v1", "/bin/true"),
  };
  const found: Round[] = [];
  for (let round = 0; round <= rounds; round++) {
    const order = ["own", "peer"] as const;
    const times = { own: 0, peer: 0, direct: Number.NaN };
    for (const side of round % 2 === 0 ? order : order.toReversed()) times[side] = await sides[side]();
    if (round > 0) found.push(times);
  }
  return found;
}

function expectReady(pod: string): void {
  const { status } = JSON.parse(pod) as { status: { phase: string; conditions: { type: string; status: string }[] } };
  if (status.phase !== "Running" || status.conditions.find(({ type }) => type === "Ready")?.status !== "True")
    throw new Error(`not ready: ${pod}`);
}

async function inside(work: string): Promise<void> {
  execFileSync("ip", ["link", "set", "lo", "up"]);
  prepareHierarchies(work);
  const layout = join(work, "names/app");
  mkdirSync(join(work, "names"));
  writeLayout(layout, { layers: [baseLayer()], tag: "v1" });
  execFileSync("skopeo", ["copy", "-q", `oci:${layout}:v1`, `docker-archive:${work}/app.tar:localhost/app:v1`]);
  const podman = new Podman(resolve(values.tree!), work);
  podman.run("load", "--quiet", "--input", `${work}/app.tar`);
  const daemon = new BenchDaemon({ RUNT_IMAGES: `oci:${work}/names` });
  try {
    await daemon.ready();
    console.log(`${podman.run("--version").trim()}. ${describe(machine(resolve("bin/runt")))}\n`);
    console.log("| pod | rounds | runtctl apply / Podman | interface / Podman | runtctl apply | interface | podman kube play |");
    console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    const only = values.only?.split(",");
    const print = (what: string, rounds: readonly Round[]) => {
      const times = (["own", "direct", "peer"] as const).map((field) => summarize(rounds.map((round) => round[field])));
      const cells = times.map((one) => `${one.median.toFixed(0)} (${one.minimum.toFixed(0)})`);
      const ratios = (["own", "direct"] as const).map((field) => median(rounds.map((round) => round[field] / round.peer)).toFixed(2));
      console.log(`| ${[what, rounds.length, ...ratios, ...cells].join(" | ").replaceAll(/NaN(?: \(NaN\))?/g, "")} |`);
    };
    for (const scenario of SCENARIOS.filter(({ name }) => only?.includes(name) ?? true))
      print(scenario.what, await measure(scenario, Number(values.rounds), podman, daemon, work));
    if (only?.includes("run") ?? true)
      print("one container, no network: `run --rm`", await measureRuns(Number(values.rounds), podman, daemon, `oci:${layout}:v1`));
    console.log("\nRatios: the median of those of each round. Times: milliseconds, the median and in brackets the minimum.");
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    podman.end();
    await daemon.end();
  }
}

if (values.inside !== undefined) await inside(values.inside);
else {
  const work = mkdtempSync("/var/tmp/runt-bench-pod-");
  try {
    process.exitCode = await inNamespace(["--inside", work], undefined, false, ["--net"]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
