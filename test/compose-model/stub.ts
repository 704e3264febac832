/** A project whose images, commands and paths of the host are replaced by ones that print what a container sees, and otherwise as Docker Compose understands it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Model } from "./oracle.ts";
import { type Fields, fieldsOf, listOf, textsOf } from "./view.ts";

/**
 * Prints what its process has, between two marks, and waits. Its first two arguments are not the file's: ports of TCP at which it answers with the second, its name. Without
 * ports and with the name "ends" it ends. A signal ends it with its number plus 100. The environment is read where the kernel keeps it: the shell gives no name with a dot to its programs.
 */
export const FACTS = `#!/bin/sh
listen=$1 name=$2
shift 2
for number in 1 2 3 10 12 15 28 37; do trap "exit $((number + 100))" $number; done
echo facts begin
echo "began $(cut -d ' ' -f 1 /proc/uptime)"
echo "environment $(base64 /proc/$$/environ | tr -d '\\n')"
echo "arguments $([ $# -eq 0 ] || printf '%s\\0' "$@" | base64 | tr -d '\\n')"
echo "directory $(pwd)"
echo "user $(id -u):$(id -g)"
echo "groups $(id -G)"
echo "hostname $(hostname)"
sed -n 's/^\\(CapBnd\\|NoNewPrivs\\):\\t/status \\1 /p' /proc/self/status
echo "oom $(cat /proc/self/oom_score_adj)"
echo "files $(ulimit -Sn) $(ulimit -Hn)"
echo "ports $(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)"
echo "pings $(tr '\\t' ' ' < /proc/sys/net/ipv4/ping_group_range)"
for at in memory/memory.limit_in_bytes pids/pids.max cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us cpu/cpu.shares memory.max pids.max cpu.max; do
    [ ! -e /sys/fs/cgroup/$at ] || echo "cgroup $at $(cat /sys/fs/cgroup/$at)"
done
while read -r _ _ _ _ place options rest; do echo "mount $place $options $rest"; done < /proc/self/mountinfo
echo facts end
[ "$name" != ends ] || exit 0
for port in $listen; do nc -ll -p $port -e echo "$name" & done
sleep 1000 & wait $!
`;
/** Of the program: shell, script, ports, name. */
export const OWN_WORDS = 4;
/** Ports of one service that are tried: some files have hundreds. */
const MOST_PORTS = 4;

/** Fields that say which image there is, what it does, or what this host has not. */
const LEFT_OUT = [
  ...["build", "pull_policy", "platform", "runtime", "gpus", "devices", "device_cgroup_rules", "logging", "cpuset", "provider", "models"],
  ...["attach", "develop", "post_start", "pre_stop", "links", "userns_mode", "cgroup", "cgroup_parent", "external_links", "blkio_config"],
];
/** CPUs that any machine has. */
const CPUS = 0.5;

interface Stubbed {
  readonly text: string;
  /** The model that the text is of. */
  readonly model: Model;
}

/** @param image reference of one that has the script FACTS as /facts. @param directory of paths of the host */
export function stubbed({ services = {}, networks, volumes, secrets, configs, name }: Model, image: string, directory: string): Stubbed {
  const made = Object.fromEntries(
    Object.entries(services).map(([key, service]) => [key, serviceOf(key, service, { image, directory, services })]),
  );
  const own = (all: Readonly<Record<string, Fields>> = {}) =>
    Object.fromEntries(Object.entries(all).map(([key, { external: _, name: __, driver_opts: ___, driver: ____, ...rest }]) => [key, rest]));
  const contents = (kind: string, all: Readonly<Record<string, Fields>> = {}) =>
    Object.fromEntries(Object.keys(all).map((key) => [key, { file: written(directory, `${kind}-${key}`, `${kind} ${key}`) }]));
  const project = {
    name,
    services: made,
    networks: own(networks),
    volumes: Object.fromEntries(Object.keys(volumes ?? {}).map((key) => [key, {}])),
    secrets: contents("secret", secrets),
    configs: contents("config", configs),
  };
  return { text: escaped(JSON.stringify(project)), model: project as unknown as Model };
}

type Services = Readonly<Record<string, Fields>>;

interface Place {
  readonly image: string;
  readonly directory: string;
  readonly services: Services;
}

const conditionsIn = (service: Fields) =>
  Object.entries(fieldsOf(service["depends_on"])).map(([key, one]) => [key, String(fieldsOf(one)["condition"])] as const);

/** Another service waits until it has succeeded. */
export const ends = (key: string, services: Services) =>
  Object.values(services).some((one) =>
    conditionsIn(one).some(([name, what]) => name === key && what === "service_completed_successfully"),
  );

/** The file's own conditions, if the stub can meet them: its image has no check. */
function conditionOf(key: string, condition: string, services: Services): string {
  if (ends(key, services)) return "service_completed_successfully";
  return condition === "service_healthy" && services[key]?.["healthcheck"] === undefined ? "service_started" : condition;
}

/** Where a service can be reached from the host. */
export const tcpPortsOf = ({ ports }: Fields) => {
  const all = listOf(ports).map(fieldsOf);
  return [...new Set(all.filter(({ protocol }) => protocol === "tcp").map(({ target }) => String(target)))].slice(0, MOST_PORTS);
};

function serviceOf(key: string, service: Fields, { image, directory, services }: Place): Fields {
  const kept = Object.fromEntries(Object.entries(service).filter(([field, one]) => !LEFT_OUT.includes(field) && one !== null));
  const { depends_on: others, volumes, healthcheck, deploy, cpus, security_opt: security, ...rest } = kept;
  const limits = fieldsOf(fieldsOf(fieldsOf(deploy)["resources"])["limits"]);
  const isShort = ends(key, services);
  return {
    ...rest,
    image,
    entrypoint: ["/bin/sh", "/facts", ...(isShort ? ["", "ends"] : [tcpPortsOf(service).join(" "), key])],
    ...(isShort ? { restart: "no" } : {}),
    stop_grace_period: "5s",
    ...(others === undefined
      ? {}
      : {
          depends_on: Object.fromEntries(
            conditionsIn(service).map(([name, condition]) => [name, { condition: conditionOf(name, condition, services) }]),
          ),
        }),
    ...(volumes === undefined
      ? {}
      : { volumes: listOf(volumes).flatMap((one, index) => mountOf(fieldsOf(one), `${directory}/bound-${index}`)) }),
    ...(healthcheck === undefined ? {} : { healthcheck: { test: ["CMD", "true"], interval: "1s" } }),
    ...(deploy === undefined
      ? {}
      : { deploy: { resources: { limits: { ...limits, ...(limits["cpus"] === undefined ? {} : { cpus: CPUS }) } } } }),
    ...(cpus === undefined ? {} : { cpus: CPUS }),
    ...(security === undefined ? {} : { security_opt: textsOf(security).filter((one) => !/^(?:seccomp|apparmor)/.test(one)) }),
  };
}

/** A path of the host is a directory of the test. */
function mountOf(mount: Fields, path: string): Fields[] {
  if (mount["type"] === "image") return [];
  if (mount["type"] !== "bind") return [mount];
  mkdirSync(path, { recursive: true });
  return [{ type: "bind", source: path, target: mount["target"], ...(mount["read_only"] === true ? { read_only: true } : {}) }];
}

function written(directory: string, file: string, text: string): string {
  writeFileSync(join(directory, file), text);
  return join(directory, file);
}

const escaped = (text: string) => text.replaceAll("$", "$$$$");

/** What the script has printed. undefined: not all of it yet. */
export interface Facts {
  readonly environment: Readonly<Record<string, string>>;
  readonly arguments: readonly string[];
  readonly one: Readonly<Record<string, string>>;
  readonly mounts: Readonly<Record<string, readonly string[]>>;
}

export function factsIn(log: string): Facts | undefined {
  const [, text] = /^facts begin\n(.*?)^facts end$/ms.exec(log) ?? [];
  if (text === undefined) return undefined;
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" "));
  const decoded = (word: string) =>
    Buffer.from(lines.find(([first]) => first === word)?.[1] ?? "", "base64")
      .toString()
      .split("\0")
      .slice(0, -1);
  return {
    environment: Object.fromEntries(decoded("environment").map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)])),
    arguments: decoded("arguments"),
    one: Object.fromEntries(
      lines.map(([first = "", ...rest]) =>
        first === "status" || first === "cgroup" ? [rest[0]!, rest.slice(1).join(" ")] : [first, rest.join(" ")],
      ),
    ),
    mounts: Object.fromEntries(
      lines.filter(([first]) => first === "mount").map(([, place = "", options = ""]) => [place, options.split(",")]),
    ),
  };
}
