/** What a service has to be, by the model that Docker Compose makes of it. Source: compose-go, types; compose, pkg/compose/create.go. */
import { resolve } from "node:path";
import { type Context, contentOf, filesOf, mountsOf, tmpfsOf } from "./expected-files.ts";
import { type Fields, fieldsOf, imageName, listOf, milliseconds, numberIn, plainName, sorted, textsOf, type View, view } from "./view.ts";

/** Fields that are no part of the view: what they say is in others, or in the number of tasks. */
const ELSEWHERE = new Set(["profiles", "container_name", "expose", "volumes_from", "platform", "extends"]);

export function expectedOf(key: string, service: Fields, context: Context): View {
  const seen = new Set<string>(ELSEWHERE);
  const of = (field: string) => {
    seen.add(field);
    return service[field];
  };
  const deploy = fieldsOf(of("deploy"));
  const { limits, reservations } = fieldsOf(deploy["resources"]) as { limits?: Fields; reservations?: Fields };
  const fields = {
    image: imageOf(key, of("image"), service, context),
    pull: pullOf(of("pull_policy"), service),
    build: buildOf(of("build"), context),
    ...programOf(of("entrypoint"), of("command")),
    environment: withoutNulls(of("environment")),
    annotations: { ...withoutNulls(of("labels")), ...withoutNulls(of("annotations")) },
    user: of("user"),
    working_dir: of("working_dir"),
    hostname: of("hostname"),
    domainname: of("domainname"),
    cap_add: sorted([...new Set(textsOf(of("cap_add")).map(capability))]),
    cap_drop: sorted([...new Set(textsOf(of("cap_drop")).map(capability))]),
    privileged: of("privileged"),
    read_only: of("read_only"),
    stdin_open: of("stdin_open"),
    tty: of("tty"),
    init: of("init"),
    group_add: textsOf(of("group_add")),
    stop_signal: of("stop_signal"),
    stop_grace_period: milliseconds(of("stop_grace_period") ?? "10s"),
    restart: restartOf(of("restart"), deploy),
    healthcheck: checkOf(fieldsOf(of("healthcheck"))),
    depends_on: dependenciesOf(fieldsOf(of("depends_on")), textsOf(of("links")), context),
    ports: sorted(listOf(of("ports")).map((one) => portOf(fieldsOf(one)))),
    volumes: sorted([...mountsOf(service, context), ...textsOf(of("tmpfs")).map(tmpfsOf)]),
    secrets: filesOf("secrets", of("secrets"), context),
    configs: filesOf("configs", of("configs"), context),
    network_mode: of("network_mode"),
    networks: networksOf(of("networks"), service, context),
    mac_address: macsOf(of("mac_address"), of("networks")),
    dns: textsOf(of("dns")),
    dns_search: textsOf(of("dns_search")),
    dns_opt: textsOf(of("dns_opt")),
    extra_hosts: sorted(textsOf(of("extra_hosts")).map((one) => one.replace(/=\[(.*)\]$/, "=$1"))),
    pid: of("pid"),
    ipc: of("ipc"),
    uts: of("uts"),
    sysctls: Object.fromEntries(Object.entries(fieldsOf(of("sysctls"))).map(([name, one]) => [name, String(one)])),
    cpus: numberIn(limits?.["cpus"] ?? of("cpus")) ?? quotaOf(of("cpu_quota"), of("cpu_period")),
    cpu_shares: numberIn(of("cpu_shares")),
    cpuset: of("cpuset"),
    mem_limit: numberIn(limits?.["memory"] ?? of("mem_limit")),
    mem_reservation: numberIn(reservations?.["memory"] ?? of("mem_reservation")),
    memswap_limit: swapOf(of("memswap_limit"), limits?.["memory"] ?? of("mem_limit")),
    pids_limit: Math.max(0, numberIn(limits?.["pids"] ?? of("pids_limit")) ?? 0) || undefined,
    shm_size: numberIn(of("shm_size")),
    oom_score_adj: of("oom_score_adj"),
    ulimits: limitsOf(fieldsOf(of("ulimits"))),
    devices: sorted(listOf(of("devices")).map((one) => deviceOf(fieldsOf(one)))),
    device_cgroup_rules: textsOf(of("device_cgroup_rules")),
    logging: logOf(fieldsOf(of("logging"))),
    runtime: of("runtime"),
    count: Number(of("scale") ?? deploy["replicas"] ?? 1),
    order: fieldsOf(deploy["update_config"])["order"] === "start-first" ? "start-first" : undefined,
    post_start: hooksOf(of("post_start")),
    pre_stop: hooksOf(of("pre_stop")),
    requests: requestsOf([...listOf(of("gpus")), ...listOf(reservations?.["devices"])]),
    security_opt: sorted(
      textsOf(of("security_opt"))
        .map((one) => securityOf(one, context))
        .filter(Boolean),
    ),
  };
  for (const field of ["cpu_period", "links", "volumes"]) of(field);
  const unseen = Object.keys(service).filter((field) => !seen.has(field) && !field.startsWith("x-"));
  return view({ ...fields, ...Object.fromEntries(unseen.map((field) => [`other ${field}`, service[field]])) });
}

const withoutNulls = (value: unknown) =>
  Object.fromEntries(Object.entries(fieldsOf(value)).flatMap(([name, one]) => (one === null ? [] : [[name, String(one)]])));

function capability(written: string): string {
  const name = written.toUpperCase();
  return name === "ALL" || name.startsWith("CAP_") ? name : `CAP_${name}`;
}

/** Source: compose, pkg/api/api.go, GetImageNameOrDefault. */
function imageOf(key: string, image: unknown, { build }: Fields, { model }: Context): string | undefined {
  if (image) return imageName(String(image));
  return build === undefined ? undefined : imageName(`${model.name}-${key}`.toLowerCase());
}

function pullOf(policy: unknown, { build, image }: Fields): unknown {
  if (build !== undefined && build !== null) return undefined;
  if (policy === "always" || policy === "never") return policy;
  if (/^(?:daily|weekly|every_)/.test(String(policy ?? ""))) return "always";
  // Documented: `latest` is asked for each time.
  return /:latest$/.test(imageName(String(image))) ? "always" : undefined;
}

function buildOf(given: unknown, context: Context): unknown {
  if (given === undefined) return undefined;
  const {
    context: directory,
    dockerfile,
    dockerfile_inline: inline,
    target,
    args,
    labels,
    tags,
    network,
    shm_size: shm,
    ...others
  } = fieldsOf(given);
  const { additional_contexts: contexts, extra_hosts: hosts, secrets, no_cache: noCache, pull, ulimits } = others;
  return view({
    context: directory,
    dockerfile: inline === undefined && dockerfile === "Dockerfile" ? undefined : dockerfile,
    inline,
    target,
    args: Object.fromEntries(
      Object.entries(fieldsOf(args)).flatMap(([name, value]) => {
        const known = value ?? context.environment[name];
        return known === undefined ? [] : [[name, String(known)]];
      }),
    ),
    labels: withoutNulls(labels),
    tags: textsOf(tags).map(imageName),
    network: network === "default" ? undefined : network,
    shm_size: numberIn(shm),
    contexts: Object.fromEntries(
      Object.entries(fieldsOf(contexts)).map(([name, one]) => {
        const [, other] = /^service:(.*)$/.exec(String(one)) ?? [];
        const image = other === undefined ? undefined : imageOf(other, context.model.services?.[other]?.["image"], { build: {} }, context);
        return [name, image === undefined ? one : `docker-image://${image}`];
      }),
    ),
    hosts: sorted(textsOf(hosts)),
    secrets: sorted(
      listOf(secrets).flatMap((one) => {
        const { source, target = source } = fieldsOf(one);
        return contentOf("secrets", source, context) === undefined ? [] : [target];
      }),
    ),
    no_cache: noCache,
    pull,
    ulimits: limitsOf(fieldsOf(ulimits)),
  });
}

/** An entrypoint takes the place of entrypoint and arguments of the image. */
function programOf(entrypoint: unknown, command: unknown): Fields {
  const words = textsOf(command);
  return Array.isArray(entrypoint) ? { entrypoint: [...textsOf(entrypoint), ...words] } : { command: words };
}

/** In milliseconds. Source: moby, restartmanager, defaultTimeout. */
const FIRST_DELAY = 100;

/** Source: compose, pkg/compose/create.go, getRestartPolicy. */
function restartOf(policy: unknown, deploy: Fields): unknown {
  const given = deploy["restart_policy"];
  if (given !== undefined) {
    const { condition = "any", max_attempts: most, delay } = fieldsOf(given);
    if (condition === "none" || condition === "no") return undefined;
    const boots = condition === "always" || condition === "unless-stopped";
    return view({ failure: condition === "on-failure", most: numberIn(most), boots, delay: milliseconds(delay) ?? FIRST_DELAY });
  }
  if (policy === undefined || policy === "no" || policy === "") return undefined;
  const [condition, most] = String(policy).split(":");
  if (condition === "on-failure") return view({ failure: true, most: numberIn(most), delay: FIRST_DELAY });
  return view({ boots: true, delay: FIRST_DELAY });
}

function checkOf({ test, disable, interval, timeout, retries, start_period: period, start_interval: often }: Fields): unknown {
  const words = textsOf(test);
  if (words.length === 0 || words[0] === "NONE" || disable === true) return undefined;
  return view({
    command: words[0] === "CMD" ? words.slice(1) : ["/bin/sh", "-c", words.slice(1).join(" ")],
    interval: milliseconds(interval ?? "30s"),
    timeout: milliseconds(timeout ?? "30s"),
    retries: retries || 3,
    start_period: milliseconds(period ?? "0s"),
    start_interval: milliseconds(often),
  });
}

/** Compose has made dependencies of links, volumes_from and joined namespaces. Those of services that are not switched on are left out. */
function dependenciesOf(given: Fields, _links: readonly string[], { model }: Context): readonly string[] {
  return sorted(
    Object.entries(given).flatMap(([name, one]) => {
      const { condition, restart } = fieldsOf(one);
      return model.services?.[name] === undefined ? [] : [`${name} ${String(condition)}${restart === true ? " restart" : ""}`];
    }),
  );
}

function portOf({ host_ip: address, published, target, protocol }: Fields): string {
  return `${address ? `${String(address)} ` : ""}${String(published ?? "any")}>${String(target)}/${String(protocol)}`;
}

function networksOf(given: unknown, service: Fields, { model }: Context): unknown {
  if (service["network_mode"] !== undefined) return undefined;
  return sorted(
    Object.entries(fieldsOf(given)).map(([key, one]) => {
      const { aliases, ipv4_address: address } = fieldsOf(one);
      const network = fieldsOf(model.networks?.[key]);
      const isOwn = network["name"] === `${model.name}_${key}` && network["external"] !== true;
      const { subnet, gateway, ip_range: range } = fieldsOf(listOf(fieldsOf(network["ipam"])["config"])[0]);
      return view({
        name: plainName(String(isOwn ? key : network["name"])),
        shared: !isOwn,
        internal: network["internal"],
        aliases: sorted([...new Set(textsOf(aliases))]),
        address,
        subnet,
        gateway,
        range,
      });
    }),
  );
}

/** That of a service is of its first network. */
function macsOf(own: unknown, networks: unknown): readonly string[] {
  const all = Object.values(fieldsOf(networks)).flatMap((one) => fieldsOf(one)["mac_address"] ?? []);
  return sorted([...all, ...(own === undefined ? [] : [own])].map((one) => String(one).replaceAll("-", ":")));
}

function quotaOf(quota: unknown, period: unknown): number | undefined {
  return numberIn(quota) === undefined ? undefined : Number(quota) / (numberIn(period) ?? 100_000);
}

function swapOf(given: unknown, memory: unknown): unknown {
  const swap = numberIn(given);
  if (swap === undefined || swap === numberIn(memory)) return undefined;
  return swap === -1 ? "unlimited" : swap;
}

function limitsOf(given: Fields): unknown {
  const limit = (one: unknown) => (Number(one ?? 0) < 0 ? "unlimited" : Number(one ?? 0));
  return Object.fromEntries(
    Object.entries(given).map(([name, one]) => {
      const { soft, hard } = typeof one === "object" ? fieldsOf(one) : { soft: one, hard: one };
      return [name.toLowerCase(), `${limit(soft)} ${limit(hard)}`];
    }),
  );
}

function deviceOf({ source, target, permissions }: Fields): string {
  const path = String(source);
  if (!path.startsWith("/") && path.includes("=")) return path;
  return `${path} ${String(target)} ${permissions === undefined ? "rwm" : String(permissions)}`;
}

function logOf({ driver, options }: Fields): unknown {
  if (driver === "none" || driver === "journald") return { driver };
  const { "max-size": size, "max-file": files } = fieldsOf(options);
  const [, count, unit = ""] = /^(\d+(?:\.\d+)?) ?([kmgt]?)i?b?$/i.exec(String(size ?? "")) ?? [];
  const bytes = count === undefined ? undefined : Math.round(Number(count) * 1024 ** ["", "k", "m", "g", "t"].indexOf(unit.toLowerCase()));
  return view({
    size: bytes === undefined ? undefined : Math.max(65_536, bytes),
    files: numberIn(files) === 1 ? undefined : numberIn(files),
  });
}

function hooksOf(given: unknown): unknown {
  return listOf(given).map((one) => {
    const { command, user, working_dir: cwd, environment } = fieldsOf(one);
    return view({ command, user: user || undefined, cwd, env: view(fieldsOf(environment)) });
  });
}

/** Each is a name of CDI here. */
function requestsOf(given: readonly unknown[]): unknown {
  return sorted([
    ...new Set(
      given.flatMap((one) => {
        const { driver = "", device_ids: ids, count } = fieldsOf(one);
        const kind = driver === "amd" ? "amd.com/gpu" : "nvidia.com/gpu";
        if (driver === "cdi") return textsOf(ids);
        if (ids !== undefined && listOf(ids).length > 0) return textsOf(ids).map((id) => `${kind}=${id}`);
        if (count === undefined || Number(count) === -1) return [`${kind}=all`];
        return Array.from({ length: Number(count) }, (_, at) => `${kind}=${at}`);
      }),
    ),
  ]);
}

/** Whatever switches off what services have not says nothing. */
function securityOf(written: string, { directory }: Context): string {
  const [, name = "", value = ""] = /^([a-z-]+)(?:[=:](.*))?$/s.exec(written.trim()) ?? [];
  if (name === "no-new-privileges") return value === "false" ? "" : "no-new-privileges";
  if (name === "label" || written === "apparmor=unconfined" || written === "apparmor:unconfined" || value === "builtin") return "";
  // Compose leaves the path as it is, and reads the file itself.
  return name === "seccomp" && value !== "unconfined" ? `seccomp=${resolve(directory, value)}` : `${name}=${value}`;
}
