/**
 * dockerd with data, state, socket, bridge and packet filter of its own, and the containerd that it starts itself; `docker` of the same
 * package as its client. The runtime under test is the daemon's default one and BuildKit's.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Engine, type EngineDefinition, IMAGE } from "./engine.ts";
import { call, must, type Running, start } from "./process.ts";
import { timed } from "./ratios.ts";
import { scenarios, userNamespace } from "./scenarios/docker.ts";
import { scenarios as swarmScenarios } from "./scenarios/swarm.ts";

/** The client of Debian's package, whatever else PATH has. */
const DOCKER = "/usr/bin/docker";
/** The runtime's name: "runc" is one that dockerd keeps for itself. */
const RUNTIME_NAME = "tested";
const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
const START_SECONDS = 30;

interface Options {
  readonly name: string;
  readonly scenarios: EngineDefinition["scenarios"];
  readonly flags: readonly string[];
  readonly timed?: string;
  readonly prepare?: (docker: readonly string[], env: Engine["env"]) => Promise<void>;
}

function define({ name, scenarios, flags, timed: measured, prepare }: Options): EngineDefinition {
  return {
    name,
    scenarios,
    timed: measured,
    knowsAllRuntimes: true,
    async start(place, runtime) {
      hideConfiguration();
      // Short, as the path of a socket must be.
      const run = `/run/${name}-${basename(runtime)}`;
      mkdirSync(run);
      const directory = join(place.directory, `${name}-${basename(runtime)}`);
      mkdirSync(directory);
      const env = {
        PATH: SYSTEM_PATH,
        HOME: directory,
        DOCKER_HOST: `unix://${run}/docker.sock`,
        BUILDKIT_CALLS: join(run, "buildkit-calls"),
      };
      const command = [
        ...["dockerd", "--data-root", join(directory, "data"), "--exec-root", join(run, "exec"), "--pidfile", join(run, "pid")],
        ...["--host", env.DOCKER_HOST, "--cgroup-parent", `/${place.cgroup}`, "--log-level", "warn"],
        ...["--add-runtime", `${RUNTIME_NAME}=${runtime}`, "--default-runtime", RUNTIME_NAME, "--add-runtime", "debian=/usr/sbin/runc"],
        ...readdirSync(join(place.directory, "bin")).flatMap((file) => [
          "--add-runtime",
          `timed-${file}=${join(place.directory, "bin", file)}`,
        ]),
        ...flags,
        // This host's root has no CAP_SYS_RESOURCE.
        ...["--oom-score-adjust", "0"],
      ];
      const daemonEnv = { ...env, ...buildKitRuntime(run, runtime, env.BUILDKIT_CALLS) };
      const launch = async (): Promise<Running> => {
        const daemon = start(command, { timeout: 0, env: daemonEnv });
        for (let attempt = 0; (await call([DOCKER, "version"], { env })).status !== 0; attempt++) {
          if (attempt > START_SECONDS * 5) daemon.child.kill("SIGKILL");
          if (daemon.child.exitCode !== null || daemon.child.signalCode !== null)
            throw new Error(`dockerd does not answer: ${(await daemon.ended).stderr.slice(-3000)}`);
          await sleep(200);
        }
        return daemon;
      };
      let daemon = await launch();
      await must([DOCKER, "load", "-q", "-i", place.archive], { env });
      await prepare?.([DOCKER], env);
      return {
        command: (args) => [DOCKER, ...args],
        env,
        cgroupPath: (container) => `/${place.cgroup}/${container}`,
        expand: ({ args }) => args,
        async restart(signal) {
          daemon.child.kill(signal);
          await daemon.ended;
          daemon = await launch();
        },
        async timedStart(container, tested) {
          const flags = ["--runtime", `timed-${tested}`, "--network", "none", "--name", container];
          await must([DOCKER, "create", ...flags, IMAGE, "sleep", "1000"], { env });
          const time = await timed(() => must([DOCKER, "start", container], { env }));
          await must([DOCKER, "rm", "-f", container], { env });
          return time;
        },
        clean: () => removeEverything(env),
        async stop() {
          daemon.child.kill("SIGTERM");
          await daemon.ended;
        },
      };
    },
  };
}

/** dockerd writes a key to /etc/docker and reads daemon.json from there. */
function hideConfiguration(): void {
  const mounted = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .some((line) => line.split(" ")[1] === "/etc/docker");
  if (!mounted) execFileSync("mount", ["-t", "tmpfs", "-o", "mode=755", "tmpfs", "/etc/docker"]);
}

/**
 * BuildKit calls the first `runc` of the daemon's PATH; newer ones ask the environment before. Either way it is the runtime, behind a
 * script that keeps a record of the calls.
 */
function buildKitRuntime(run: string, runtime: string, calls: string): Record<string, string> {
  const directory = join(run, "buildkit");
  mkdirSync(directory);
  const path = join(directory, "runc");
  writeFileSync(path, `#!/bin/sh\necho "$*" >> ${calls}\nexec ${runtime} "$@"\n`, { mode: 0o755 });
  return { PATH: `${directory}:${SYSTEM_PATH}`, DOCKER_BUILDKIT_RUNC_COMMAND: path };
}

async function removeEverything(env: Engine["env"]): Promise<void> {
  const list = async (...args: string[]): Promise<string[]> =>
    (await call([DOCKER, ...args], { env })).stdout.split("\n").filter((line) => line !== "");
  // First: it would make its containers again. Nothing is listed outside of a swarm.
  const services = await list("service", "ls", "-q");
  if (services.length > 0) await call([DOCKER, "service", "rm", ...services], { env });
  // Ones of a killed daemon may be paused, which `rm` does not get over.
  const paused = await list("ps", "-q", "--filter", "status=paused");
  if (paused.length > 0) await call([DOCKER, "unpause", ...paused], { env });
  const containers = await list("ps", "-aq");
  if (containers.length > 0) await call([DOCKER, "rm", "-f", "-v", ...containers], { env });
  const networks = await list("network", "ls", "-q", "--filter", "type=custom", "--filter", "scope=local");
  for (const network of networks) await call([DOCKER, "network", "rm", network], { env });
}

export const docker = define({ name: "docker", scenarios, flags: ["--live-restore"], timed: "`docker start`, no network" });
/** The user is made known by sandbox.ts. */
export const dockerUserns = define({ name: "docker-userns", scenarios: userNamespace, flags: ["--userns-remap", "runt-engines"] });
export const swarm = define({
  name: "swarm",
  scenarios: swarmScenarios,
  flags: [],
  async prepare([client = ""], env) {
    await must([client, "swarm", "init", "--advertise-addr", "127.0.0.1", "--listen-addr", "127.0.0.1:2377"], { env });
  },
});
