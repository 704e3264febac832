/** What outlives the daemon, and what is left by a container. */
import { engine, host, restart, type Scenario } from "../scenario.ts";
import { detached, inspect, SECOND } from "./client-steps.ts";

/** The daemon goes by this signal and comes back; the container must not notice. */
function liveRestore(signal: NodeJS.Signals): Scenario {
  return {
    name: `live restore: ${signal}`,
    steps: [
      detached(["--memory", "64m"], ["sh", "-c", "trap 'exit 3' TERM; while :; do sleep 0.1; done"]),
      host("{engine} inspect -f '{{.State.Pid}} {{.State.StartedAt}}' {id} > {dir}/before"),
      restart(signal),
      host("{engine} inspect -f '{{.State.Pid}} {{.State.StartedAt}}' {id} | cmp - {dir}/before"),
      engine(["exec", "{id}", "echo", "hello"], { stdout: /^hello$/m }),
      engine(["update", "--memory", "32m", "--memory-swap", "64m", "{id}"]),
      engine(["pause", "{id}"]),
      engine(["unpause", "{id}"]),
      engine(["stop", "{id}"]),
      inspect("{{.State.Status}} {{.State.ExitCode}}", /^exited 3$/m),
      engine(["start", "{id}"]),
      inspect("{{.State.Status}}", /^running$/m),
    ],
  };
}

export const daemon: readonly Scenario[] = [
  liveRestore("SIGTERM"),
  liveRestore("SIGKILL"),
  {
    name: "nothing is left",
    steps: [
      detached(["--memory", "64m", "-it"]),
      host("{engine} inspect -f '{{.Id}}' {id} > {dir}/id"),
      engine(["exec", "{id}", "true"]),
      // It is there while it runs: the check below can fail.
      host("find /run /sys/fs/cgroup -name $(cat {dir}/id) | grep -c .", { stdout: /^[1-9]/ }),
      engine(["rm", "-f", "{id}"]),
      host("! find /run /sys/fs/cgroup -name $(cat {dir}/id) | grep .", {}, { within: 5 * SECOND }),
      host("! grep $(cat {dir}/id) /proc/self/mounts /proc/[0-9]*/cmdline", {}, { within: 5 * SECOND }),
      host("! ip link | grep veth", {}, { within: 5 * SECOND }),
    ],
  },
];
