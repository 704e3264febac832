/** Parts of a service in the Compose file format. */
import { z } from "zod";
import { text } from "../schema/field.ts";
import { SIZE } from "./quantity.ts";
import { count, durationText, flag } from "./scalars.ts";

const scalar = z.union([z.string(), z.number(), z.boolean()]);
export const pairs = z.union([z.record(z.string().min(1), scalar.nullable()), z.array(z.string())]).optional();
/** A list without duplicates. */
export const distinct = z.array(z.string()).refine((all) => new Set(all).size === all.length, "has an entry twice");
/** Variables. In a list of NAME=VALUE a space behind the name is refused, because it would be part of the name. */
export const variables = pairs.superRefine((given, { addIssue }) => {
  for (const [at, one] of (Array.isArray(given) ? given : []).entries())
    if (/^[^=]*\s(?:=|$)/.test(one)) addIssue({ code: "custom", path: [at], message: "has a space behind the name" });
});
/** A map, or a list in which each entry has a value. */
const defined = (isDefined: (one: string) => boolean, message: string) =>
  z.union([z.record(z.string().min(1), scalar.nullable()), distinct.refine((all) => all.every(isDefined), message)]).optional();
export const duration = durationText;
export const bytes = z.union([z.int().min(0), z.string().regex(SIZE, 'write a size like "64m"')]);
/** -1 means no limit. */
export const memoryLimit = z.union([bytes, z.literal(-1)]);
export const strings = z.union([z.string(), z.array(z.string())]).optional();
/** Types of fields that are accepted but have no effect (ignored.ts). Their values are checked all the same. */
export const told = {
  text: z.string().optional(),
  texts: z.array(z.string()).optional(),
  number: z.union([z.number(), z.string().regex(/^-?\d+(?:\.\d+)?$/, "is not a number")]).optional(),
  flag: flag.optional(),
  flagOrText: z.union([z.boolean(), z.string()]).optional(),
  duration: duration.optional(),
  labels: pairs,
  ownLabels: defined(() => true, ""),
};

export const cpus = z.union([
  z.number().min(0),
  z
    .string()
    .regex(/^\d*\.?\d+$/, "is not a number of CPUs")
    .transform(Number),
]);
/** 0 and -1 mean unlimited. */
export const pids = count(-1);

const mode = z.union([
  z.int().min(0).max(0o7777),
  z
    .string()
    .regex(/^0?[0-7]{3,4}$/, "is no mode like 0400")
    .regex(/^0*[0-7]{3}$/, "has more than the bits of reading, writing and running: write three digits")
    .transform((digits) => Number.parseInt(digits, 8)),
]);
/** Compose takes it only as text. */
const id = z
  .string({ error: 'write it in quotes, as in "1000"' })
  .regex(/^\d{1,9}$/, "is not a number of a user or group")
  .transform(Number);
/** A string is short for { source }. */
export const file = z.preprocess(
  (given) => (typeof given === "string" ? { source: given } : given),
  z.strictObject({ source: z.string(), target: z.string().optional(), uid: id.optional(), gid: id.optional(), mode: mode.optional() }),
);

export const dependency = z.strictObject({
  condition: z.enum(["service_started", "service_healthy", "service_completed_successfully"]),
  restart: flag.default(false),
  required: flag.default(true),
});

const TESTS = ["NONE", "CMD", "CMD-SHELL"];

export const healthcheck = z.strictObject({
  test: z
    .union([
      z.string(),
      z
        .array(text)
        .refine((words) => TESTS.includes(words[0] ?? "NONE"), `begins with ${TESTS.join(", ")}`)
        .refine((words) => words.length !== 1 || words[0] === "NONE", "names no command"),
    ])
    .optional(),
  interval: duration.optional(),
  timeout: duration.optional(),
  retries: count(0, 100_000).optional(),
  start_period: duration.optional(),
  start_interval: duration.optional(),
  disable: flag.optional(),
});

export const PROPAGATIONS = ["private", "rprivate", "shared", "rshared", "slave", "rslave"] as const;

export const mount = z.union([
  z.string(),
  z.strictObject({
    type: z.enum(["bind", "volume", "tmpfs", "image"], { error: "only bind, image, tmpfs and volume are supported" }),
    source: z.string().optional(),
    target: z.string(),
    read_only: flag.optional(),
    consistency: told.text,
    bind: z
      .strictObject({
        create_host_path: flag.optional(),
        propagation: z.enum(PROPAGATIONS, { error: `only ${PROPAGATIONS.join(", ")} are supported` }).optional(),
        recursive: z
          .enum(["enabled", "readonly"], { error: "only enabled and readonly are supported: mounts below the source are there, too" })
          .optional(),
        selinux: z.enum(["z", "Z"]).optional(),
      })
      .optional(),
    tmpfs: z.strictObject({ size: bytes.optional(), mode: z.int({ error: "write a number without quotes" }).min(0).optional() }).optional(),
    image: z.strictObject({ subpath: z.string().optional() }).optional(),
    volume: z.strictObject({ nocopy: flag.optional(), subpath: z.string().optional(), labels: told.ownLabels }).optional(),
  }),
]);

export const port = z.union([
  z.string(),
  z.int(),
  z.strictObject({
    target: count(1, 65_535),
    published: z.union([z.string(), z.int()]).optional(),
    protocol: z.enum(["tcp", "udp"], { error: "only tcp and udp are supported" }).optional(),
    app_protocol: told.text,
    host_ip: z
      .string()
      .refine((text) => [z.ipv4(), z.ipv6()].some((one) => one.safeParse(text).success), "is no IP address")
      .optional(),
    mode: z.enum(["host", "ingress"]).optional(),
    name: z.string().optional(),
  }),
]);

export const device = z.union([z.string(), z.strictObject({ source: z.string(), target: z.string(), permissions: z.string().optional() })]);

/** Devices that are requested by their capabilities. Source: compose-spec.json, "devices", "gpus". */
const requested = z.strictObject({
  capabilities: distinct.optional(),
  count: z.union([z.literal("all"), count(-1)], { error: "is all, or a number" }).optional(),
  device_ids: distinct.optional(),
  driver: z.string().optional(),
  options: defined(() => true, ""),
});

const isOneOf = ({ count, device_ids: ids }: z.output<typeof requested>) => count === undefined || ids === undefined;
const EITHER = "count and device_ids say the same in two ways: give one";
export const deviceRequest = requested.refine(isOneOf, EITHER);

const discrete = z.strictObject({ kind: told.text, value: told.number });
/** Compose accepts a size only as text, not as a number of bytes. */
const memory = z.string().regex(SIZE, 'write a size like "64m"').optional();
const LIMITS = { cpus: cpus.optional(), memory };
const ratio = z
  .string()
  .regex(/^\d*\.?\d+$/, "is not a number")
  .transform(Number);
const changes = {
  order: z.enum(["start-first", "stop-first"]).optional(),
  parallelism: count(0).optional(),
  delay: duration.optional(),
  monitor: duration.optional(),
  max_failure_ratio: z.union([z.number(), ratio]).pipe(z.number().min(0).max(1, "is a part of all replicas, from 0 to 1")).optional(),
};
const placement = z
  .strictObject({
    constraints: told.texts,
    preferences: z.array(z.strictObject({ spread: told.text })).optional(),
    max_replicas_per_node: count(0).optional(),
  })
  .optional();

export const deploy = z.strictObject({
  mode: z.enum(["replicated", "global"], { error: "only replicated and global are supported: jobs are of a cluster" }).optional(),
  replicas: count(0).optional(),
  labels: told.labels,
  placement,
  endpoint_mode: told.text,
  rollback_config: z.strictObject({ ...changes, failure_action: z.enum(["continue", "pause"]).optional() }).optional(),
  update_config: z
    .strictObject({ ...changes, failure_action: z.enum(["continue", "rollback", "pause"]).optional(), "x-runt-drain": duration.optional() })
    .optional(),
  restart_policy: z
    .strictObject({
      condition: z.enum(["none", "no", "on-failure", "any", "always", "unless-stopped"]).optional(),
      delay: duration.optional(),
      max_attempts: count(0).optional(),
      window: told.duration,
    })
    .optional(),
  resources: z
    .strictObject({
      limits: z.strictObject({ ...LIMITS, pids: pids.optional() }).optional(),
      reservations: z
        .strictObject({
          ...LIMITS,
          devices: z.array(requested.required({ capabilities: true }).refine(isOneOf, EITHER)).optional(),
          generic_resources: z.array(z.strictObject({ discrete_resource_spec: discrete.optional() })).optional(),
        })
        .optional(),
    })
    .optional(),
});

/** Logging options with an effect. All other options of a driver cause a warning. */
export const logging = z.strictObject({
  driver: z
    .enum(["json-file", "local", "journald", "syslog", "gelf", "fluentd", "none"], {
      error:
        "only json-file, local, journald, syslog, gelf, fluentd and none are supported: send elsewhere what journald or `runtctl logs` has",
    })
    .optional(),
  options: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
});

const limit = count(-1);
export const ulimits = z.record(z.string(), z.union([limit, z.strictObject({ soft: limit, hard: limit })]));

const list = z.union([z.string(), distinct]).optional();
/** `develop` has no effect, but Compose checks its fields. */
export const develop = z.strictObject({
  watch: z
    .array(
      z
        .strictObject({
          path: z.string().min(1, "is empty"),
          action: z.enum(["rebuild", "sync", "restart", "sync+restart", "sync+exec"]),
          ignore: list,
          include: list,
          target: z.string().optional(),
          initial_sync: flag.optional(),
          exec: z
            .strictObject({
              command: z.union([z.string(), z.array(z.string())]).nullable(),
              user: told.text,
              privileged: told.flag,
              working_dir: told.text,
              environment: pairs,
            })
            .optional(),
        })
        .refine(({ action, target }) => !action.startsWith("sync") || (target ?? "") !== "", "needs a target to sync to"),
    )
    .optional(),
});

export const hook = z.strictObject({
  command: z.union([z.string(), z.array(text).min(1)]),
  user: z.string().optional(),
  privileged: z.literal(false, { error: "only false is supported: a hook has the rights of the service" }).optional(),
  working_dir: z.string().startsWith("/", "is no absolute path of the container").optional(),
  environment: pairs,
});

/** A list of NAME=ADDRESS, or a map. */
export const extraHosts = z.union([distinct, z.record(z.string(), z.union([z.string(), z.array(z.string())]))]);

const wholeLimit = z.int({ error: "write a number without quotes" }).min(-1);
const buildParts = z.strictObject({
  context: z.string().optional(),
  dockerfile: z.string().optional(),
  dockerfile_inline: z.string().optional(),
  target: z.string().optional(),
  args: variables,
  labels: pairs,
  tags: z.array(z.string()).optional(),
  platforms: z.array(z.string()).optional(),
  additional_contexts: defined((one) => one.includes("="), "is a list of NAME=VALUE"),
  secrets: z.array(file).optional(),
  ssh: defined((one) => one === "default" || one.includes("="), "is a list of default and ID=PATH"),
  cache_from: told.texts,
  cache_to: told.texts,
  no_cache: flag.optional(),
  pull: flag.optional(),
  network: z.enum(["default", "bridge", "none", "host"], { error: "only default, none and host are supported" }).optional(),
  extra_hosts: extraHosts.optional(),
  shm_size: bytes.optional(),
  ulimits: z.record(z.string(), z.union([wholeLimit, z.strictObject({ soft: wholeLimit, hard: wholeLimit })])).optional(),
  privileged: flag.pipe(z.literal(false, { error: "only false is supported: steps of a build have no rights on the host" })).optional(),
  entitlements: z
    .array(z.literal("network.host", { error: "only network.host is supported: steps of a build have no rights on the host" }))
    .optional(),
  isolation: z.literal("default", { error: "only default is supported: it is of Windows" }).optional(),
  provenance: told.flagOrText,
  sbom: told.flagOrText,
});

/** A string is short for { context }. */
export const build = z.preprocess((given) => (typeof given === "string" ? { context: given } : given), buildParts);
