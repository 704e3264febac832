/**
 * containerd with its Container Runtime Interface, the client in this process: what a node of Kubernetes has without its kubelet. The
 * runtime under test is the default.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CriClient } from "./cri-client.ts";
import { BRIDGE, type ConfigVersion, cniNetwork, configuration } from "./cri-config.ts";
import { type Engine, type EngineDefinition, IMAGE } from "./engine.ts";
import type { ImageDefinition } from "./image.ts";
import { call, must, type Running, start } from "./process.ts";
import { podFeatures } from "./scenarios/cri-features.ts";
import { podScenarios } from "./scenarios/cri-pods.ts";
import { processScenarios } from "./scenarios/cri-processes.ts";
import { LINKS, resourceScenarios } from "./scenarios/cri-resources.ts";
import { securityScenarios } from "./scenarios/cri-security.ts";

/** containerd's own name for what came in through this interface. */
const NAMESPACE = "k8s.io";
const ANSWERS_WITHIN_MS = 20_000;
const POLL_MS = 100;

/** Holds a pod's namespaces; a first process has to have a handler for the signal that stops it. */
const PAUSE: ImageDefinition = {
  reference: "localhost/runt-pause:1",
  command: ["sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait; done"],
};

export const criImages: readonly ImageDefinition[] = [PAUSE, LINKS];

export interface CriEngine extends Engine {
  readonly cri: CriClient;
  /** Parent of the pods' cgroups, with a slash in front. */
  readonly cgroupParent: string;
  /** Name of a container's cgroup below its pod's; the id when absent. */
  cgroupName?(container: string): string;
  /** Directories in which nothing may be left of a pod. */
  readonly stateDirectories: readonly string[];
  restart(signal?: NodeJS.Signals): Promise<void>;
}

/** `programs`: directory of containerd, its shim and ctr; undefined: those of the PATH. */
function define(name: string, scenarios: EngineDefinition["scenarios"], version: ConfigVersion, programs?: string): EngineDefinition {
  return {
    name,
    scenarios,
    missing: programs === undefined || existsSync(programs) ? undefined : `${programs} (tools/debian-package.sh containerd sid)`,
    timed: "StartContainer in a pod",
    whole: "RunPodSandbox, CreateContainer and StartContainer",
    async start(place, runtime): Promise<CriEngine> {
      const directory = join(place.directory, `${name}-${basename(runtime)}`);
      const state = `/run/${name}-${basename(runtime)}`;
      const socket = `${state}.sock`;
      mkdirSync(join(directory, "cni"), { recursive: true });
      writeFileSync(join(directory, "cni/10-runt.conflist"), cniNetwork(directory));
      const config = configuration(version, runtime, {
        directory,
        socket,
        state,
        sandboxImage: PAUSE.reference,
        hasControllers: place.hasControllers,
      });
      writeFileSync(join(directory, "config.toml"), config);
      // As on a node: what pods mount may be shared with the host. The namespace is this run's own.
      execFileSync("mount", ["--make-rshared", "/"]);
      const env = { ...process.env, PATH: `${programs ? `${programs}:` : ""}${process.env["PATH"]}` } as Record<string, string>;
      const cri = new CriClient(socket);
      const ctr = ["ctr", "--address", socket, "--namespace", NAMESPACE];
      let daemon = await launch(directory, env, cri);
      await must([...ctr, "image", "import", place.archive], { env });
      const timedPod = async (container: string, isWhole: boolean) => {
        // With a network of its own, as most pods have, where all of it counts.
        const namespaces = { network: isWhole ? 0 : 2, pid: 1 };
        const sandbox = {
          metadata: { name: container, uid: container, namespace: "default" },
          linux: { cgroupParent: `/${place.cgroup}`, security: { namespaces } },
        };
        const began = performance.now();
        const { sandboxId } = await cri.call("RunPodSandbox", { config: sandbox });
        const { containerId } = await cri.call("CreateContainer", {
          sandboxId,
          sandboxConfig: sandbox,
          config: {
            metadata: { name: container },
            image: { image: IMAGE },
            command: ["sleep", "1000"],
            linux: { security: { namespaces, seccomp: { type: 0 } } },
          },
        });
        const made = performance.now();
        await cri.call("StartContainer", { containerId });
        const time = performance.now() - (isWhole ? began : made);
        await cri.call("StopContainer", { containerId, timeout: 0 });
        await cri.stopSandbox(sandboxId);
        await cri.call("RemovePodSandbox", { sandboxId });
        return time;
      };
      return {
        cri,
        cgroupParent: `/${place.cgroup}`,
        stateDirectories: [join(state, "io.containerd.runtime.v2.task", NAMESPACE), join("/run/containerd/runc", NAMESPACE)],
        command: (args) => [...ctr, ...args],
        env,
        cgroupPath: (container) => `/${place.cgroup}/${container}`,
        expand: ({ args }) => args,
        async restart(signal = "SIGTERM") {
          await terminate(daemon, signal);
          daemon = await launch(directory, env, cri);
        },
        timedStart: (container) => timedPod(container, false),
        timedWhole: (container) => timedPod(container, true),
        async clean() {
          for (const { id } of (await cri.call("ListPodSandbox", {})).items) {
            await cri.stopSandbox(id);
            await cri.call("RemovePodSandbox", { sandboxId: id });
          }
        },
        async stop() {
          cri.close();
          await terminate(daemon);
          await call(["ip", "link", "delete", BRIDGE]);
          execFileSync("mount", ["--make-rprivate", "/"]);
        },
      };
    },
  };
}

async function launch(directory: string, env: Readonly<Record<string, string>>, cri: CriClient): Promise<Running> {
  const daemon = start(["containerd", "--config", join(directory, "config.toml"), "--log-level", "warn"], { timeout: 0, env });
  const deadline = Date.now() + ANSWERS_WITHIN_MS;
  for (;;) {
    const wrong = await notReady(cri);
    if (wrong === "") return daemon;
    if (Date.now() > deadline) {
      await terminate(daemon);
      throw new Error(`containerd: ${wrong}: ${(await daemon.ended).stderr}`);
    }
    await sleep(POLL_MS);
  }
}

async function notReady(cri: CriClient): Promise<string> {
  try {
    const conditions = (await cri.call("Status", {})).status?.conditions ?? [];
    return conditions
      .filter(({ status }) => !status)
      .map(({ type, message }) => `${type}: ${message}`)
      .join("; ");
  } catch (error) {
    return String(error);
  }
}

async function terminate(daemon: Running, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  daemon.child.kill(signal);
  await daemon.ended;
}

const all = [...podScenarios, ...processScenarios, ...resourceScenarios, ...securityScenarios];

/** Where `make test-engines` puts the programs of Debian's newest containerd (tools/debian-package.sh). */
export const NEWER_CONTAINERD = resolve(import.meta.dirname, "../../build/containerd-newer/usr/bin");

export const cri = define("cri", all, 2);
/** It also asks runtimes what they can do. */
export const criNewer = define("cri-newer", [...all, ...podFeatures], 3, NEWER_CONTAINERD);
