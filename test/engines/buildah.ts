/** Buildah with storage and configuration of its own, which gives every `RUN` to the runtime; as root, and as a user. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { EngineDefinition } from "./engine.ts";
import { ROOTLESS_UID } from "./podman.ts";
import { call, must } from "./process.ts";
import { rootful, rootless } from "./scenarios/buildah.ts";

/** This host's root has no CAP_SYS_RESOURCE and 20000 as its hard limit. */
const ULIMITS = ["nofile=20000:20000", "nproc=32768:32768"];

function define(name: string, scenarios: EngineDefinition["scenarios"], user: number): EngineDefinition {
  const isRoot = user === 0;
  return {
    name,
    scenarios,
    async start(place, runtime) {
      const directory = join(place.directory, `${name}-${basename(runtime)}`);
      mkdirSync(directory);
      const configuration = join(directory, "containers.conf");
      writeFileSync(configuration, `[containers]\ndefault_ulimits = ${JSON.stringify(ULIMITS)}\n`);
      const run = isRoot ? "/run" : `/run/user/${user}`;
      const env = {
        CONTAINERS_CONF: configuration,
        HOME: directory,
        PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        // Else it builds below /var/tmp, which it may not leave as it was.
        TMPDIR: directory,
        ...(isRoot ? {} : { XDG_RUNTIME_DIR: run }),
      };
      if (!isRoot) execFileSync("chown", ["-R", `${user}:${user}`, directory]);
      const become = isRoot ? [] : ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--"];
      const storage = ["--root", join(directory, "root"), "--runroot", join(run, `${name}-${basename(runtime)}`)];
      const buildah = [...become, "buildah", ...storage, "--storage-driver", isRoot ? "overlay" : "vfs"];
      const isolation = ["--runtime", runtime, "--isolation", isRoot ? "oci" : "rootless"];
      // Containers without a cgroup path go below the caller's own cgroup. A user has no cgroups here (version 1).
      const within = isRoot ? enter(place.cgroup) : [];
      await must([...buildah, "pull", "-q", `docker-archive:${place.archive}:localhost/runt-test:1`], { env });
      return {
        command: (args) => [...within, ...buildah, ...args],
        env,
        cgroupPath: (container) => `/${place.cgroup}/${container}`,
        expand({ args: [verb = "", ...rest] }) {
          if (verb === "run") return [verb, ...isolation, ...rest];
          if (verb === "from") return [verb, "--pull-never", ...rest];
          if (verb === "build") return [verb, "--pull-never", ...isolation, ...rest];
          return [verb, ...rest];
        },
        async clean() {
          await call([...buildah, "rm", "-a"], { env });
        },
        stop: async () => {},
      };
    },
  };
}

/**
 * A command in front of commands, which takes them into the cgroup. `--cgroup-parent` would not do: what Buildah is given there is the
 * container's own cgroup, the same one for all.
 */
function enter(cgroup: string): readonly string[] {
  const hierarchies = readdirSync("/sys/fs/cgroup").map((name) => join("/sys/fs/cgroup", name));
  for (const hierarchy of hierarchies) {
    mkdirSync(join(hierarchy, cgroup), { recursive: true });
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      const value = join(hierarchy, file);
      if (existsSync(join(hierarchy, cgroup, file)) && existsSync(value)) writeFileSync(join(hierarchy, cgroup, file), readFileSync(value));
    }
  }
  return ["sh", "-c", `for cgroup in /sys/fs/cgroup/*/${cgroup}; do echo 0 > $cgroup/cgroup.procs || exit; done; exec "$@"`, "sh"];
}

export const buildah = define("buildah", rootful, 0);
export const buildahRootless = define("buildah-rootless", rootless, ROOTLESS_UID);
