/** What a swarm of one node is asked to do. It has no setting for the runtime of a service: it takes the daemon's default one. */
import { IMAGE } from "../engine.ts";
import { engine, host, type Scenario } from "../scenario.ts";
import { SECOND, SLEEP } from "./client-steps.ts";

const TASKS = "{engine} ps -q --no-trunc --filter label=com.docker.swarm.service.name={id}";
const create = engine([
  ...["service", "create", "--detach", "--no-resolve-image", "--name", "{id}", "--replicas", "2", "--network", "host"],
  ...["--restart-delay", "100ms", "--stop-grace-period", "500ms", "--update-monitor", "500ms", "--limit-memory", "64M", IMAGE, ...SLEEP],
]);
const replicas = (expected: string) =>
  engine(
    ["service", "ls", "--filter", "name={id}", "--format", "{{.Replicas}}"],
    { stdout: new RegExp(`^${expected}$`, "m") },
    { within: 30 * SECOND },
  );
const remove = engine(["service", "rm", "{id}"]);

export const scenarios: readonly Scenario[] = [
  {
    name: "service: two replicas",
    steps: [
      create,
      replicas("2/2"),
      host(`${TASKS} | xargs {engine} inspect -f '{{.HostConfig.Runtime}} {{.State.Status}}'`, {
        stdout: /^tested running\ntested running\n$/,
      }),
      host(`for task in $(${TASKS}); do {engine} exec $task cat /sys/fs/cgroup/memory/memory.limit_in_bytes; done`, {
        stdout: /^67108864\n67108864\n$/,
      }),
      remove,
      host(`test -z "$(${TASKS} -a)"`, {}, { within: 15 * SECOND }),
    ],
  },
  {
    name: "service: a killed task is replaced",
    steps: [
      create,
      replicas("2/2"),
      host(`${TASKS} | sort > {dir}/before; {engine} kill $(head -n 1 {dir}/before)`),
      // One of them is new, the other one is not.
      host(
        `${TASKS} | sort > {dir}/after; comm -13 {dir}/before {dir}/after | wc -l; comm -12 {dir}/before {dir}/after | wc -l`,
        { stdout: /^1\n1\n$/ },
        { within: 30 * SECOND },
      ),
      replicas("2/2"),
      remove,
    ],
  },
  {
    name: "service: a program that is killed by the host",
    steps: [
      create,
      replicas("2/2"),
      host(`${TASKS} | sort > {dir}/before; kill -9 $({engine} inspect -f '{{.State.Pid}}' $(head -n 1 {dir}/before))`),
      host(`${TASKS} | sort > {dir}/after; comm -13 {dir}/before {dir}/after | wc -l`, { stdout: /^1\n$/ }, { within: 30 * SECOND }),
      replicas("2/2"),
      remove,
    ],
  },
  {
    name: "service: scaled and updated",
    steps: [
      create,
      replicas("2/2"),
      engine(["service", "scale", "--detach", "{id}=4"]),
      replicas("4/4"),
      engine(["service", "update", "--detach", "--no-resolve-image", "--env-add", "A=b", "--update-parallelism", "4", "{id}"]),
      host(`for task in $(${TASKS}); do {engine} exec $task sh -c 'echo $A'; done`, { stdout: /^(b\n){4}$/ }, { within: 60 * SECOND }),
      // The update before goes on in the service's record: "update out of sequence", where it writes between this call's look and its change.
      engine(["service", "scale", "--detach", "{id}=1"], {}, { within: 10 * SECOND }),
      replicas("1/1"),
      remove,
    ],
  },
];
