/**
 * CRI-O with state, storage and network of its own, for who has it: `CRIO=DIR make test-engines`, DIR with `crio`, `pinns`, `crictl` and
 * a `conmon` that this crio takes. Debian 12 has no package of it. Asked the same as containerd's CRI, through the same client.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CriEngine } from "./cri.ts";
import { CriClient } from "./cri-client.ts";
import { BRIDGE, cniNetwork, OTHER_HANDLER } from "./cri-config.ts";
import type { EngineDefinition } from "./engine.ts";
import { call, must, type Running, start } from "./process.ts";
import { scenarios } from "./scenarios/crio.ts";

export const CRIO_TREE = process.env["CRIO"] === undefined ? undefined : resolve(process.env["CRIO"]);
const PROGRAMS = ["crio", "conmon", "pinns", "crictl"];
/** Those that containerd gives, of which the scenarios know. */
const CAPABILITIES = [
  ...["CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP", "SETPCAP"],
  ...["NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"],
];
const ANSWERS_WITHIN_MS = 20_000;
const POLL_MS = 100;

interface CrioPlace {
  readonly directory: string;
  readonly state: string;
  readonly socket: string;
  readonly tree: string;
}

function configuration(runtime: string, { directory, state, socket, tree }: CrioPlace): string {
  const handlers = Object.entries({ [basename(runtime)]: runtime, [OTHER_HANDLER]: "/usr/sbin/runc" }).map(
    ([name, path]) => `[crio.runtime.runtimes.${name}]
runtime_path = "${path}"
runtime_type = "oci"
runtime_root = "${state}/runtimes/${name}"
monitor_path = "${tree}/conmon"
monitor_cgroup = "pod"
`,
  );
  return `[crio]
root = "${directory}/storage"
runroot = "${state}/storage"
storage_driver = "overlay"
log_dir = "${directory}/log"
version_file = "${state}/version"
version_file_persist = ""
clean_shutdown_file = "${directory}/clean"
[crio.api]
listen = "${socket}"
[crio.runtime]
default_runtime = "${basename(runtime)}"
cgroup_manager = "cgroupfs"
apparmor_profile = "unconfined"
default_capabilities = ${JSON.stringify(CAPABILITIES)}
container_exits_dir = "${state}/exits"
container_attach_socket_dir = "${state}/attach"
namespaces_dir = "${state}/namespaces"
pinns_path = "${tree}/pinns"
irqbalance_config_file = ""
irqbalance_config_restore_file = "disable"
enable_criu_support = false
log_level = "warn"
${handlers.join("")}
[crio.image]
pause_image = "localhost/runt-pause:1"
pause_command = ""
[crio.network]
network_dir = "${directory}/cni"
plugin_dirs = ["/usr/lib/cni"]
[crio.nri]
enable_nri = false
`;
}

export const crio: EngineDefinition = {
  name: "crio",
  scenarios,
  missing: lacking(),
  async start(place, runtime): Promise<CriEngine> {
    const directory = join(place.directory, `crio-${basename(runtime)}`);
    const state = `/run/crio-${basename(runtime)}`;
    const socket = `${state}/crio.sock`;
    for (const path of [join(directory, "cni"), state]) mkdirSync(path, { recursive: true });
    writeFileSync(join(directory, "cni/10-runt.conflist"), cniNetwork(directory));
    writeFileSync(join(directory, "crio.conf"), configuration(runtime, { directory, state, socket, tree: CRIO_TREE ?? "" }));
    // As on a node: what pods mount may be shared with the host. The namespace is this run's own.
    execFileSync("mount", ["--make-rshared", "/"]);
    const storage = ["--root", join(directory, "storage"), "--runroot", join(state, "storage"), "--storage-driver", "overlay"];
    await must(["podman", ...storage, "load", "-q", "-i", place.archive]);
    const cri = new CriClient(socket);
    let daemon = await launch(directory, cri);
    return {
      cri,
      cgroupParent: `/${place.cgroup}`,
      cgroupName: (container) => `crio-${container}`,
      stateDirectories: [join(state, "runtimes", basename(runtime)), join(state, "storage/overlay-containers")],
      command: (args) => [join(CRIO_TREE ?? "", "crictl"), "--runtime-endpoint", `unix://${socket}`, ...args],
      env: process.env as Record<string, string>,
      cgroupPath: (container) => `/${place.cgroup}/${container}`,
      expand: ({ args }) => args,
      async restart(signal = "SIGTERM") {
        daemon.child.kill(signal);
        await daemon.ended;
        daemon = await launch(directory, cri);
      },
      async clean() {
        // With the pod they would have their whole grace.
        for (const { id } of (await cri.call("ListContainers", {})).containers)
          await cri.call("StopContainer", { containerId: id, timeout: 0 });
        for (const { id } of (await cri.call("ListPodSandbox", {})).items) {
          await cri.call("StopPodSandbox", { sandboxId: id });
          await cri.call("RemovePodSandbox", { sandboxId: id });
        }
      },
      async stop() {
        cri.close();
        daemon.child.kill("SIGTERM");
        await daemon.ended;
        await call(["ip", "link", "delete", BRIDGE]);
        execFileSync("mount", ["--make-rprivate", "/"]);
      },
    };
  },
};

/** What the tree lacks, or the tree itself. */
function lacking(): string | undefined {
  if (CRIO_TREE === undefined) return "CRI-O (CRIO=DIR)";
  return PROGRAMS.map((name) => join(CRIO_TREE, name)).find((path) => !existsSync(path));
}

async function launch(directory: string, cri: CriClient): Promise<Running> {
  // Without /etc/crio of the host.
  const command = [join(CRIO_TREE ?? "", "crio"), "--config", join(directory, "crio.conf"), "--config-dir", ""];
  const daemon = start(command, { timeout: 0, env: process.env as Record<string, string> });
  for (const deadline = Date.now() + ANSWERS_WITHIN_MS; ; await sleep(POLL_MS)) {
    try {
      await cri.call("Status", {});
      return daemon;
    } catch (error) {
      if (Date.now() < deadline && daemon.child.exitCode === null) continue;
      daemon.child.kill("SIGKILL");
      throw new Error(`crio: ${String(error)}: ${(await daemon.ended).stderr.slice(-3000)}`);
    }
  }
}
