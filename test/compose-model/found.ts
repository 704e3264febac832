/** What a service is here, in the form of view.ts: its container in the tasks that the file becomes, and its build. */
import type { ComposeFile } from "../../src/pod/index.ts";
import { type Fields, fieldsOf, imageName, plainName, sorted, textsOf, type View, view } from "./view.ts";

type Task = ComposeFile["tasks"][number];
type Container = Task["containers"][number];
type Network = NonNullable<Task["network"]>;

/** The services of a file, by the name of their container. */
interface Located {
  readonly task: Task;
  readonly container: Container;
  /** It is a further container of the task of another service. */
  readonly isMember: boolean;
}

function locate({ tasks }: ComposeFile, key: string, { container_name: container }: Fields): Located | undefined {
  const own = plainName(key);
  const task = tasks.find(({ name }) => name === own);
  if (task !== undefined) return { task, container: task.containers[0]!, isMember: false };
  for (const one of tasks) {
    const found = one.containers.slice(1).find(({ name }) => name === (container ?? own));
    if (found !== undefined) return { task: one, container: found, isMember: true };
  }
  return undefined;
}

/** undefined: there is no task for it. @param service that of the oracle, which tells what there may be */
export function foundOf(key: string, service: Fields, services: Readonly<Record<string, Fields>>, file: ComposeFile): View | undefined {
  const located = locate(file, key, service);
  if (located === undefined) return undefined;
  const { task, container, isMember } = located;
  const network = isMember ? undefined : task.network;
  const build = file.builds.find((one) => one.service === key);
  const names = (network_: Pick<Network, "aliases">) => namesIn(network_, key, service, services);
  const networks = network === undefined ? [] : [network, ...(network.further ?? [])];
  return view({
    image: container.image === undefined ? undefined : container.image.replace(/^docker:\/\//, ""),
    pull: build === undefined && container.pullPolicy !== "prefer-cached" ? container.pullPolicy : undefined,
    build: build === undefined ? undefined : requestOf(build.request),
    ...(container.command === undefined ? { command: container.args } : { entrypoint: [container.command, ...(container.args ?? [])] }),
    environment: container.env,
    annotations: container.annotations,
    user: container.user,
    working_dir: container.cwd,
    hostname: container.hostname,
    domainname: container.domainname,
    cap_add: sorted(container.capabilities?.add ?? []),
    cap_drop: sorted(container.capabilities?.drop ?? []),
    privileged: container.privileged,
    read_only: container.readonlyRootfs,
    stdin_open: container.stdin,
    tty: container.tty,
    init: task.namespaces.pid === "shared" && !isJoined("pid", key, services),
    group_add: (container.groups ?? []).map(String),
    stop_signal: container.stopSignal,
    stop_grace_period: container.stopTimeout,
    restart: restartOf(task, container),
    healthcheck: checkOf(container.healthCheck),
    depends_on: sorted(
      container.dependsOn.map(
        ({ container: name, condition, restart }) =>
          `${serviceOf(name, services)} ${CONDITIONS[condition] ?? condition}${restart ? " restart" : ""}`,
      ),
    ),
    ports: isMember ? [] : sorted((network?.ports ?? []).map(portOf)),
    volumes: sorted((container.mounts ?? []).flatMap((one) => mountOf(one, task))),
    secrets: filesOf("secrets", task, container),
    configs: filesOf("configs", task, container),
    networks: sorted(
      networks
        .filter(({ name, shared }) => name !== undefined && !(shared && service["network_mode"] !== undefined))
        .map((one) =>
          view({
            name: one.name,
            shared: one.shared,
            internal: one.internal,
            aliases: names(one),
            address: one.address,
            subnet: one.subnet,
            gateway: one.gateway,
            range: one.range,
          }),
        ),
    ),
    mac_address: sorted(networks.flatMap(({ mac }) => mac ?? [])),
    network_mode: modeOf(located, service),
    dns: (network?.dns ?? task.dns)?.servers,
    dns_search: (network?.dns ?? task.dns)?.search,
    dns_opt: (network?.dns ?? task.dns)?.options,
    extra_hosts: sorted((network?.hosts ?? []).map(({ name, address }) => `${name}=${address}`)),
    pid: namespaceOf("pid", located, service),
    ipc: namespaceOf("ipc", located, service),
    uts: task.namespaces.uts === "host" && task.namespaces.network !== "host" ? "host" : undefined,
    sysctls: isMember ? undefined : task.sysctls,
    cpus: container.cpus,
    cpu_shares: container.cpuShares,
    cpuset: container.cpuset,
    mem_limit: container.memory,
    mem_reservation: container.memoryReservation,
    memswap_limit: container.memorySwap,
    pids_limit: container.pids,
    shm_size: container.shmSize,
    oom_score_adj: container.oomScoreAdj,
    ulimits: Object.fromEntries(Object.entries(container.rlimits ?? {}).map(([name, { soft, hard }]) => [name, `${soft} ${hard}`])),
    devices: sorted([
      ...(container.devices ?? []).map(({ source, target = source, access = "rwm" }) => `${source} ${target} ${access}`),
      ...(container.cdi ?? []).filter((one) => textsOf(service["devices"]).includes(one)),
    ]),
    device_cgroup_rules: container.deviceRules,
    logging: logOf(container.log),
    runtime: task.runtime,
    count: isMember ? 1 : file.tasks.filter(({ name }) => name === task.name || (isReplica(name, key) && !(name in services))).length,
    order: task.update?.order === "start-first" ? "start-first" : undefined,
    post_start: hookOf(container.postStart),
    pre_stop: hookOf(container.preStop),
    requests: sorted(container.cdi ?? []),
    security_opt: sorted([
      ...(container.seccomp === undefined ? [] : [`seccomp=${container.seccomp}`]),
      ...(container.apparmor === undefined ? [] : [`apparmor=${container.apparmor}`]),
      ...(container.noNewPrivileges ? ["no-new-privileges"] : []),
    ]),
  });
}

const isOther = (value: unknown) => /^(?:service|container):/.test(String(value));

/** Whether it shares a namespace with another service, because one of both says so. */
function isJoined(field: string, key: string, services: Readonly<Record<string, Fields>>): boolean {
  return isOther(services[key]![field]) || Object.values(services).some((one) => one[field] === `service:${key}`);
}

function namespaceOf(field: "pid" | "ipc", { task, isMember }: Located, { [field]: said }: Fields): unknown {
  if (task.namespaces[field] === "host") return "host";
  const isThat = task.joins?.[field] !== undefined || (isMember && task.namespaces[field] === "shared");
  return isThat && isOther(said) ? said : undefined;
}

const CONDITIONS: Readonly<Record<string, string>> = {
  START: "service_started",
  HEALTHY: "service_healthy",
  SUCCESS: "service_completed_successfully",
};

function isReplica(name: string, key: string): boolean {
  return name.startsWith(`${plainName(key)}-`) && /^\d+$/.test(name.slice(plainName(key).length + 1));
}

/** Of TASK/CONTAINER or CONTAINER. */
function serviceOf(name: string, services: Readonly<Record<string, Fields>>): string {
  const container = name.replace(/^.*\//, "");
  const task = name.includes("/") ? name.replace(/\/.*$/, "") : undefined;
  const keys = Object.keys(services);
  const named = keys.find((key) => services[key]!["container_name"] === container);
  return named ?? keys.find((key) => plainName(key) === container || plainName(key) === task) ?? name;
}

/** The names that Docker gives anyway are no aliases of the file. */
function namesIn({ aliases = [] }: Pick<Network, "aliases">, key: string, service: Fields, services: Readonly<Record<string, Fields>>) {
  const links = Object.values(services).flatMap((one) => textsOf(one["links"]).map((link) => link.split(":")));
  const own = new Set([service["container_name"], key, ...links.flatMap(([name, alias]) => (name === key ? [alias] : []))]);
  const said = Object.values(fieldsOf(service["networks"])).flatMap((one) => textsOf(fieldsOf(one)["aliases"]));
  return sorted(aliases.filter((one) => !own.has(one) || said.includes(one)));
}

function requestOf(request: ComposeFile["builds"][number]["request"]): View {
  const { context, dockerfile, inline, target, args, labels, tags, network, shmSize, contexts, hosts, secrets, noCache, pull, ulimits } =
    request;
  return view({
    context,
    dockerfile: dockerfile === "Dockerfile" ? undefined : dockerfile,
    inline,
    target,
    args,
    labels,
    tags: (tags ?? []).map((one) => imageName(one.replace(/^docker:\/\//, ""))),
    network: network === "default" ? undefined : network,
    shm_size: shmSize,
    contexts,
    hosts: sorted((hosts ?? []).map(({ name, address }) => `${name}=${address}`)),
    secrets: sorted(Object.keys(secrets ?? {})),
    no_cache: noCache,
    pull,
    ulimits: Object.fromEntries(Object.entries(ulimits ?? {}).map(([name, { soft, hard }]) => [name, `${soft} ${hard}`])),
  });
}

function restartOf({ start }: Task, { restart }: Container): unknown {
  if (restart === undefined) return undefined;
  const failure = restart.ignoredExitCodes.includes(0);
  return view({ failure, most: restart.maximumCount, boots: start === "always", delay: restart.backoff?.initial });
}

function checkOf(check: Container["healthCheck"]): unknown {
  if (check === undefined) return undefined;
  const { command, interval, timeout, retries, startPeriod, startInterval } = check as unknown as Readonly<Record<string, unknown>>;
  return view({ command, interval, timeout, retries, start_period: startPeriod, start_interval: startInterval });
}

function portOf({ address, host, hostRange, container, protocol }: NonNullable<Network["ports"]>[number]): string {
  const range = hostRange === undefined ? String(host) : hostRange.join("-");
  return `${address === undefined ? "" : `${address} `}${range === "49152-65535" ? "any" : range}>${container}/${protocol}`;
}

function mountOf(mount: NonNullable<Container["mounts"]>[number], { volumes }: Task): View[] {
  const { target, readOnly, source, propagation, subPath } = mount;
  const common = { target, read_only: readOnly };
  if (source !== undefined) return [view({ ...common, source, propagation })];
  const volume = volumes.find(({ name }) => name === mount.volume)!;
  if (volume.files !== undefined) return [];
  if (volume.image !== undefined)
    return [view({ target, read_only: true, image: volume.image.replace(/^docker:\/\//, ""), subpath: subPath })];
  if (volume.medium === "memory") return [view({ ...common, memory: true, size: volume.size })];
  if (volume.kept === undefined || volume.kept.startsWith("anonymous-")) return [view({ ...common, anonymous: true })];
  return [view({ ...common, volume: volume.kept, external: volume.existing, nocopy: mount.noCopy, subpath: subPath })];
}

function filesOf(kind: "secrets" | "configs", { volumes }: Task, { mounts = [] }: Container): unknown {
  return sorted(
    mounts.flatMap(({ target, volume: name, subPath }) => {
      const volume = volumes.find((one) => one.name === name);
      const file = volume?.files?.[subPath ?? ""];
      if (file === undefined || (kind === "secrets") !== isOfSecrets(volume!.name, volumes)) return [];
      const { content, uid, gid, mode = 0o444 } = file as { content: string; uid?: number; gid?: number; mode?: number };
      return [
        view({
          target,
          content: Buffer.from(content, "base64").toString(),
          uid: uid || undefined,
          gid: gid || undefined,
          mode: mode.toString(8),
        }),
      ];
    }),
  );
}

/** A service that has joined another one has volumes with names of their own, in the order of its task: secrets before configs. */
function isOfSecrets(name: string, volumes: Task["volumes"]): boolean {
  if (name === "secrets" || name === "configs") return name === "secrets";
  const files = volumes.filter((one) => one.files !== undefined && one.name.replace(/\d+$/, "") === name.replace(/\d+$/, ""));
  return files[0]?.name === name && files.length > 1;
}

function modeOf({ task, isMember }: Located, { network_mode: said }: Fields): unknown {
  if (isMember) return said;
  const { network, namespaces } = task;
  if (network === undefined) return namespaces.network === "host" ? "host" : "none";
  if (network.name === undefined) return said === "default" ? said : "bridge";
  // A network that the mode names is one of the host.
  return typeof said === "string" && network.shared ? said : undefined;
}

function logOf(log: Container["log"]): unknown {
  if (log === undefined) return undefined;
  const { driver, maxSize, maxFiles } = log as { driver?: string; maxSize?: number; maxFiles?: number };
  if (driver !== undefined) return { driver };
  return view({ size: maxSize, files: maxFiles === 1 ? undefined : maxFiles });
}

function hookOf(hook: Container["postStart"]): unknown {
  if (hook === undefined) return undefined;
  const { command, commands = [{ command, env: {} }] } = hook;
  return commands.map((one) => view({ ...one, env: view(one.env ?? {}) }));
}
