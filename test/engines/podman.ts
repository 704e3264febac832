/** Podman with storage, run directory and configuration of its own; rootful, and rootless as a user of its own. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brokenScenarios } from "./broken.ts";
import { type EngineDefinition, IMAGE, type Place } from "./engine.ts";
import { call, firstByte, must } from "./process.ts";
import { timed } from "./ratios.ts";
import { rootful, rootless } from "./scenarios/podman.ts";

/** Made known to passwd, subuid and subgid by sandbox.ts. */
export const ROOTLESS_UID = 4000;

/** This host's root has no CAP_SYS_RESOURCE and 20000 as its hard limit. */
const ULIMITS = ["nofile=20000:20000", "nproc=32768:32768"];

function configuration(directory: string, runtime: string, user: number, hasControllers: boolean): Record<string, string> {
  const name = basename(runtime);
  const containers = join(directory, "containers.conf");
  writeFileSync(
    containers,
    `[containers]
default_ulimits = ${JSON.stringify(ULIMITS)}
netns = "none"
log_driver = "k8s-file"
${hasControllers ? "" : "pids_limit = 0"}
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "${name}"
runtime_supports_json = ["runt", "runc", "crun"]
runtime_supports_nocgroup = ["runt", "crun"]
[engine.runtimes]
${name} = ["${runtime}"]
`,
  );
  const storage = join(directory, "storage.conf");
  writeFileSync(
    storage,
    `[storage]
driver = "${user === 0 ? "overlay" : "vfs"}"
graphroot = "${directory}/graph"
runroot = "/run/${user === 0 ? "" : `user/${user}/`}podman-${name}"
rootless_storage_path = "${directory}/graph"
`,
  );
  return {
    CONTAINERS_CONF: containers,
    CONTAINERS_STORAGE_CONF: storage,
    HOME: directory,
    PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
    ...(user === 0 ? {} : { XDG_RUNTIME_DIR: `/run/user/${user}` }),
  };
}

function define(name: string, scenarios: EngineDefinition["scenarios"], user: number): EngineDefinition {
  return {
    name,
    scenarios,
    timed: "`podman run -d`",
    whole: "`podman run` until the first byte",
    async start(place: Place, runtime) {
      const directory = join(place.directory, `${name}-${basename(runtime)}`);
      mkdirSync(directory, { recursive: true });
      const env = configuration(directory, runtime, user, place.hasControllers);
      const become = user === 0 ? [] : ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--"];
      if (user !== 0) execFileSync("chown", ["-R", `${user}:${user}`, directory]);
      const tmpdir = `/run/${user === 0 ? "" : `user/${user}/`}libpod-${basename(runtime)}`;
      const podman = [...become, "podman", "--tmpdir", tmpdir];
      await must([...podman, "load", "-q", "-i", place.archive], { env });
      const parent = user === 0 ? ["--cgroup-parent", `/${place.cgroup}`] : [];
      return {
        command: (args) => [...podman, ...args],
        env,
        cgroupPath: (container) => `/${place.cgroup}/libpod-${container}`,
        expand({ args: [verb = "", ...rest] }) {
          const makes = (verb === "run" || verb === "create") && !rest.includes("--cgroups=disabled");
          return [verb, ...(makes ? parent : []), ...rest];
        },
        async timedStart(container) {
          const run = [...podman, "run", ...parent, "-d", "--name", container, IMAGE, "sleep", "1000"];
          const time = await timed(() => must(run, { env }));
          await must([...podman, "rm", "-f", "-t", "0", container], { env });
          return time;
        },
        timedWhole(container) {
          // Podman 4.3 now and then loses, with any runtime, what a program has said that is gone by then.
          const program = ["sh", "-c", "echo here; sleep 0.1"];
          return firstByte([...podman, "run", ...parent, "--rm", "--name", container, IMAGE, ...program], { env });
        },
        async clean() {
          await call([...podman, "pod", "rm", "-f", "-t", "0", "-a"], { env });
          await call([...podman, "rm", "-f", "-t", "0", "-a"], { env });
        },
        async stop() {
          // The pause process of the user's namespaces.
          const pause = `/run/user/${user}/libpod/tmp/pause.pid`;
          if (existsSync(pause)) await call(["kill", execFileSync("cat", [pause], { encoding: "utf8" })]);
        },
      };
    },
  };
}

export const podman = define("podman", [...rootful, ...brokenScenarios("podman")], 0);
export const podmanRootless = define("podman-rootless", rootless, ROOTLESS_UID);
