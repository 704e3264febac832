/** The Compose file format: fields that are supported, fields that are refused by name, and fields without an effect (`told`). */
import { z } from "zod";
import { RUNTIME_NAME } from "../../engine/spec/index.ts";
import { refused, text } from "../schema/field.ts";
import { localOptions } from "./local-volume.ts";
import { bridgeOptions, linkProblems } from "./network-options.ts";
import { count, flag } from "./scalars.ts";
import {
  build,
  bytes,
  cpus,
  dependency,
  deploy,
  develop,
  device,
  deviceRequest,
  distinct,
  duration,
  extraHosts,
  file,
  healthcheck,
  hook,
  logging,
  memoryLimit,
  mount,
  pairs,
  pids,
  port,
  strings,
  told,
  ulimits,
  variables,
} from "./schema-parts.ts";

/** Source: compose-spec.json, "services", "volumes", "networks". */
const KEY = z.string().regex(/^[a-zA-Z0-9._-]+$/, "use A-Z a-z 0-9 . _ -");
const command = z
  .union([z.string(), z.array(text)])
  .nullish()
  .transform((given) => given ?? undefined);
/** Only IPv4 is supported. Whether the text is an address is checked with the task. */
const v4 = z.string().refine((text) => !text.includes(":"), "is of IPv6, which networks do not have");

/** The map is the form of older versions of the format. */
const external = z.union([flag, z.strictObject({ name: KEY.optional() })], { error: "write true or false" }).optional();

const IFNAME = "com.docker.network.endpoint.ifname";

/** Options of a service's interface. All others cause a warning. Source: Docker, "docker network connect --driver-opt". */
const endpointOptions = z
  .record(z.string(), z.union([z.string(), z.number()]))
  .superRefine((given, { addIssue }) => {
    const sysctls = "com.docker.network.endpoint.sysctls";
    if (sysctls in given) addIssue({ code: "custom", path: [sysctls], message: "is not supported: write sysctls at the service" });
  })
  .transform((given) => ({
    ...(given[IFNAME] === undefined ? {} : { interface: String(given[IFNAME]) }),
    others: Object.keys(given).filter((one) => one !== IFNAME),
  }));

const attachment = z
  .strictObject({
    aliases: z.array(z.string()).optional(),
    ipv4_address: z.string().optional(),
    ipv6_address: refused("networks have IPv4: services find each other by their names"),
    link_local_ips: refused("addresses are chosen by runt"),
    mac_address: z.string().optional(),
    interface_name: z.string().optional(),
    driver_opts: endpointOptions.optional(),
    gw_priority: z.number().transform(Math.trunc).optional(),
    priority: z.number().optional(),
  })
  .nullable();

const network = z
  .strictObject({
    driver: z
      .enum(["bridge", "default", "overlay", "macvlan", "ipvlan"], { error: "only bridge, macvlan, ipvlan and overlay are supported" })
      .optional(),
    driver_opts: bridgeOptions.optional(),
    name: KEY.optional(),
    external,
    internal: flag.optional(),
    attachable: told.flag,
    enable_ipv4: flag.pipe(z.literal(true, { error: "only true is supported: networks have IPv4" })).optional(),
    enable_ipv6: flag.pipe(z.literal(false, { error: "only false is supported: networks have IPv4" })).optional(),
    ipam: z
      .strictObject({
        driver: z.literal("default", { error: "only default is supported" }).optional(),
        config: z
          .array(
            z.strictObject({
              subnet: v4.optional(),
              gateway: v4.optional(),
              ip_range: v4.optional(),
              aux_addresses: z.record(z.string(), v4).optional(),
            }),
          )
          .max(1, { error: "only one subnet is supported: a network has one range of IPv4" })
          .optional(),
        options: z.record(z.string(), z.string()).optional(),
      })
      .optional(),
    labels: told.labels,
  })
  .superRefine(({ driver = "bridge", driver_opts: options = {} }, { addIssue }) => {
    for (const { option, message } of linkProblems(driver, options))
      addIssue({ code: "custom", path: ["driver_opts", ...option], message });
  })
  .nullable();
const volume = z
  .strictObject({
    driver: z.enum(["local", "default"], { error: "only local is supported: a volume is a directory of this host" }).optional(),
    driver_opts: localOptions.optional(),
    external,
    name: z.string().optional(),
    labels: told.ownLabels,
  })
  .superRefine(({ external: given, name, ...others }, { addIssue }) => {
    if (given === undefined || given === false) return;
    if (Object.values(others).some((one) => one !== undefined))
      addIssue({ code: "custom", path: ["external"], message: "is made by others: only its name can be said here" });
    if (typeof given === "object" && given.name !== undefined && name !== undefined)
      addIssue({ code: "custom", path: ["name"], message: "is said by external, too: write external: true" });
  })
  .nullable();
const contents = {
  file: z.string().optional(),
  environment: z.string().min(1, "is empty").optional(),
  external,
  template_driver: refused("templates are of a cluster"),
  name: told.text,
  labels: told.ownLabels,
};
const STORE = "there is no store of others that it could come from: name a file";
/** Whether exactly one of `file`, `environment` and `content` is given, or the entry is external. */
const hasOne = ({ external: given, ...one }: Readonly<Record<string, unknown>>) =>
  (given !== undefined && given !== false) ||
  [one["file"], one["environment"], one["content"]].filter((part) => part !== undefined).length === 1;
const secret = z
  .strictObject({
    ...contents,
    content: refused("the text of a secret is not in the file: name a file or a variable, or make it a config"),
    driver: refused(STORE),
    driver_opts: refused(STORE),
  })
  .refine(hasOne, "needs one of file and environment");
const config = z.strictObject({ ...contents, content: z.string().optional() }).refine(hasOne, "needs one of file, environment and content");

const model = z.strictObject({
  model: z.string(),
  name: told.text,
  context_size: z.int().optional(),
  runtime_flags: told.texts,
});

const whole = z.int({ error: "write a number without quotes" });
const blockLimits = z.array(z.strictObject({ path: z.string(), rate: bytes })).optional();

/** 0 means no limit. Source: compose-spec.json, "blkio_config". */
const blockIo = z.strictObject({
  weight: whole.optional(),
  weight_device: z.array(z.strictObject({ path: z.string(), weight: whole })).optional(),
  device_read_bps: blockLimits,
  device_write_bps: blockLimits,
  device_read_iops: blockLimits,
  device_write_iops: blockLimits,
});

/** A number, or a name in capital letters. Source: moby, signal.ParseSignal. */
function signalOf(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text.toUpperCase();
}

const WINDOWS = "it is of Windows";
const KERNEL_TIME = "real-time scheduling is not given to services";

export const service = z.strictObject({
  "x-runt-rootfs": z.string().optional(),
  image: z.string().optional(),
  build: build.optional(),
  pull_refresh_after: told.text,
  pull_policy: z
    .string()
    .regex(
      /^(?:always|missing|if_not_present|never|build|daily|weekly|every_(?:\d+[wdhms])+)$/,
      "only always, missing, if_not_present, never, build, daily, weekly and every_DURATION are supported",
    )
    .optional(),
  platform: z.string().optional(),
  command,
  entrypoint: command,
  environment: variables,
  env_file: z
    .union([
      z.string(),
      z.array(
        z.union([
          z.string(),
          z.strictObject({
            path: z.string(),
            required: flag.optional(),
            format: z.literal("raw", { error: "only raw is supported" }).optional(),
          }),
        ]),
      ),
    ])
    .optional(),
  working_dir: z.string().optional(),
  user: z.string().optional(),
  group_add: z
    .array(z.union([z.int(), z.string()]))
    .refine((all) => new Set(all).size === all.length, "has an entry twice")
    .optional(),
  hostname: z.string().optional(),
  domainname: z.string().optional(),
  container_name: z
    .string()
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/, "use at least two of A-Z a-z 0-9 _ . -, with a letter or digit first")
    .optional(),
  cap_add: z.array(z.string()).optional(),
  cap_drop: z.array(z.string()).optional(),
  privileged: flag.optional(),
  security_opt: distinct.optional(),
  read_only: flag.optional(),
  init: flag.optional(),
  restart: z
    .string()
    .regex(/^(?:no|always|unless-stopped|on-failure(?::\d+)?)$/, "is no, always, unless-stopped or on-failure[:N]")
    .optional(),
  depends_on: z.union([distinct, z.record(z.string(), dependency)]).optional(),
  links: z.array(z.string()).optional(),
  external_links: z
    .array(z.string().regex(/^[^:]+(?::[^:]+)?$/, "write CONTAINER or CONTAINER:ALIAS"))
    .refine((all) => new Set(all).size === all.length, "has an entry twice")
    .optional(),
  healthcheck: healthcheck.optional(),
  pre_start: refused("make it a service that this one depends on with service_completed_successfully"),
  post_start: z.array(hook).optional(),
  pre_stop: z.array(hook).optional(),
  stop_signal: z.string().transform(signalOf).optional(),
  stop_grace_period: duration.optional(),
  volumes: z.array(mount).optional(),
  volumes_from: distinct.optional(),
  tmpfs: strings,
  shm_size: bytes.optional(),
  secrets: z.array(file).optional(),
  configs: z.array(file).optional(),
  ports: z.array(port).optional(),
  // `expose` only documents ports: services of a network can reach all ports of each other.
  expose: z.array(z.union([z.string(), z.int()])).optional(),
  network_mode: z
    .string()
    .regex(
      /^(?:[a-zA-Z0-9][a-zA-Z0-9_.-]*|(?:service|container):.+)$/s,
      "only none, host, bridge, the name of a network, service:NAME and container:NAME are supported",
    )
    .transform((mode) => (mode === "default" ? "bridge" : mode))
    .optional(),
  networks: z.union([z.array(z.string()), z.record(z.string(), attachment)]).optional(),
  mac_address: z.string().optional(),
  dns: strings,
  dns_search: strings,
  dns_opt: z.array(z.string()).optional(),
  extra_hosts: extraHosts.optional(),
  pid: z
    .string()
    .regex(/^(?:host|(?:service|container):.+)$/s, "only host, service:NAME and container:NAME are supported")
    .optional(),
  ipc: z
    .string()
    .regex(
      /^(?:host|private|shareable|none|(?:service|container):.+)$/s,
      "only host, private, shareable, none, service:NAME and container:NAME are supported",
    )
    .optional(),
  uts: z.literal("host", { error: "only host is supported" }).optional(),
  userns_mode: z.literal("host", { error: "only host is supported: services have the users of the host" }).optional(),
  cgroup: z.enum(["host", "private"], { error: "is host or private" }).optional(),
  cgroup_parent: z.string().optional(),
  runtime: z.string().regex(RUNTIME_NAME, "is no name of a runtime").optional(),
  sysctls: pairs,
  ulimits: ulimits.optional(),
  profiles: z.array(z.string()).optional(),
  labels: pairs,
  label_file: strings,
  annotations: pairs,
  attach: told.flag,
  develop: develop.optional(),
  logging: logging.optional(),
  deploy: deploy.optional(),
  scale: count(0).optional(),
  cpus: cpus.optional(),
  cpu_shares: count(0).optional(),
  cpu_quota: count(0).optional(),
  cpu_period: count(0).optional(),
  cpuset: z
    .string()
    .regex(/^\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/, 'write CPUs like "0-3,7"')
    .optional(),
  cpu_rt_period: refused(KERNEL_TIME),
  cpu_rt_runtime: refused(KERNEL_TIME),
  cpu_count: count(0).optional(),
  cpu_percent: count(0, 100).optional(),
  mem_limit: memoryLimit.optional(),
  mem_reservation: memoryLimit.optional(),
  memswap_limit: z.union([bytes, z.literal([-1, "-1"])]).optional(),
  mem_swappiness: count(-1, 100).optional(),
  oom_kill_disable: flag.optional(),
  oom_score_adj: count(-1000, 1000).optional(),
  pids_limit: pids.optional(),
  blkio_config: blockIo.optional(),
  credential_spec: refused(WINDOWS),
  isolation: z
    .string()
    .transform((one) => (one === "default" ? undefined : one))
    .optional(),
  device_cgroup_rules: z
    .array(z.string().regex(/^[abc] (?:\d{1,9}|\*):(?:\d{1,9}|\*) [rwm]{1,3}$/, 'write a rule like "c 1:3 rwm"'))
    .refine((all) => new Set(all).size === all.length, "has an entry twice")
    .optional(),
  devices: z.array(device).optional(),
  gpus: z.union([z.literal("all", { error: "is all, or a list of requests" }), z.array(deviceRequest)]).optional(),
  storage_opt: z.strictObject({ size: bytes.optional() }).optional(),
  use_api_socket: refused("there is no socket of Docker"),
  provider: refused("programs of others do not run services: name an image"),
  models: refused("models are not served: name an image that serves one"),
  stdin_open: flag.optional(),
  tty: flag.optional(),
});

export const composeFile = z.strictObject({
  name: z.string().optional(),
  version: told.text,
  services: z.record(KEY, service).default({}),
  networks: z.record(KEY, network).optional(),
  volumes: z.record(KEY, volume).optional(),
  secrets: z.record(KEY, secret).optional(),
  configs: z.record(KEY, config).optional(),
  models: z.record(KEY, model).optional(),
  // Included files have been read already (load.ts).
  include: z.unknown().optional(),
});

export type ComposeInput = z.output<typeof composeFile>;
export type ServiceInput = z.output<typeof service>;
