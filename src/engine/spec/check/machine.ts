/** Refuses what a task in a virtual machine cannot have: its runtime would refuse it, or it would not work. */
import type { Problem } from "../finding.ts";
import { hasOwnNetwork, namespacesOf } from "../namespaces.ts";
import type { ContainerSpec } from "../schema/container.ts";
import { NAMESPACES, type TaskSpec, type VolumeSpec } from "../schema/task.ts";

type Path = (string | number)[];

/** Host files that the guest sees but cannot use, because the kernel of the host is their other end. */
const OF_THE_HOST: ReadonlySet<string | undefined> = new Set(["Socket", "CharDevice", "BlockDevice"]);

/**
 * Maximum size of all volumes in memory, in bytes. They count as memory of the machine's processes on the host, which need memory themselves
 * (docs/vm.md, "The size").
 */
const MOST_IN_MEMORY = 64 * 1024 ** 2;

/** For tasks whose runtime makes virtual machines. */
export function checkMachine(task: TaskSpec): Problem[] {
  return [
    ...ofTask(task),
    ...namespaces(task),
    ...network(task),
    ...task.volumes.flatMap(volume),
    ...inMemory(task),
    ...task.containers.flatMap((container, index) => ofContainer(container, ["containers", index])),
  ];
}

function ofTask({ privateUsers, pids, hugepages, sharedProxy, start, joins }: TaskSpec): Problem[] {
  return [
    ...Object.keys(joins ?? {}).map((type) => wrong(`the ${type} namespace of another task`, ["joins", type])),
    ...(privateUsers ? [wrong("users of its own: the machine keeps them apart", ["privateUsers"])] : []),
    ...(hugepages === undefined ? [] : [wrong("a limit of huge pages for all containers together", ["hugepages"])]),
    ...(pids === undefined ? [] : [wrong("a limit of processes for all containers together", ["pids"])]),
    ...(sharedProxy === undefined ? [] : [wrong("a shared proxy: its socket is on the host", ["sharedProxy"])]),
    ...(start === "needed" ? [wrong("the socket of a shared proxy, which others could not reach", ["start"])] : []),
  ];
}

/** A task has one machine. Its first container boots it. If namespaces are shared, the pause container boots it, and the others join. */
function namespaces(task: TaskSpec): Problem[] {
  const modes = namespacesOf(task);
  const ofHost = NAMESPACES.filter((type) => modes[type] === "host" && (type !== "uts" || modes.network !== "host"));
  const problems = ofHost.map((type) => wrong(`the ${type} namespace of the host`, ["namespaces", type]));
  if (problems.length > 0) return problems;
  const isShared = NAMESPACES.some((type) => task.namespaces[type] === "shared");
  if (isShared && modes.network !== "shared" && !hasOwnNetwork(task))
    return [wrong("shared namespaces without a shared network: the containers of a machine have one network", ["namespaces"])];
  if (!isShared && task.containers.length > 1)
    return [
      wrong("several containers that share nothing: in one machine they share their network (namespaces.network: shared)", ["namespaces"]),
    ];
  return [];
}

function network({ network: given }: TaskSpec): Problem[] {
  if (given === undefined) return [];
  const { mode, proxy, via } = given;
  return [
    ...(mode === "isolated" ? [wrong("interfaces of its own on the host (isolated)", ["network", "mode"])] : []),
    ...(proxy === undefined ? [] : [wrong("a proxy: its rules are on the host, which the machine goes past", ["network", "proxy"])]),
    ...(via === undefined ? [] : [wrong("routes through another task, which change while it runs", ["network", "via"])]),
  ];
}

function volume({ hostType }: VolumeSpec, index: number): Problem[] {
  return OF_THE_HOST.has(hostType) ? [wrong(`a ${hostType} of the host as a volume`, ["volumes", index, "hostType"])] : [];
}

/** The memory of such a volume belongs to the host, and the kernel counts it for the file server of the machine. */
function inMemory({ volumes }: TaskSpec): Problem[] {
  const all = volumes.flatMap(({ medium, size = Number.POSITIVE_INFINITY }, index) => (medium === "memory" ? [{ size, index }] : []));
  const isTooLarge = all.reduce((sum, { size }) => sum + size, 0) > MOST_IN_MEMORY;
  return isTooLarge
    ? all.map(({ index }) => wrong("volumes in memory of more than 64Mi together: they are the host's", ["volumes", index, "medium"]))
    : [];
}

function ofContainer(container: ContainerSpec, path: Path): Problem[] {
  const { privileged, logRouter, devices, deviceRules, cdi, blockIo, apparmor } = container;
  const ofHost = Object.entries({ devices, deviceRules, cdi, blockIo }).filter(([, given]) => given !== undefined);
  return [
    ...(privileged ? [wrong("a privileged container: the host's devices are not in it", [...path, "privileged"])] : []),
    ...ofHost.map(([field]) => wrong("devices of the host", [...path, field])),
    ...(apparmor === undefined ? [] : [wrong("a profile of AppArmor: the kernel of the machine has none", [...path, "apparmor"])]),
    ...(logRouter ? [wrong("a log router: its socket is on the host", [...path, "logRouter"])] : []),
  ];
}

function wrong(what: string, path: Path): Problem {
  return { code: "combination", message: `a task in a virtual machine cannot have ${what}`, path };
}
