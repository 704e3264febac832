/** The part of the Compose file format that the engine supports. */
import { z } from "zod";
import { RUNTIME_NAME } from "../../engine/spec/index.ts";
import { refused, text } from "../schema/field.ts";
import { count, flag } from "./scalars.ts";

const NAME = /^[a-zA-Z0-9](?:[a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?$/;
const command = z.union([z.string(), z.array(text)]).optional();
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const environment = z.union([z.record(z.string().min(1), scalar.nullable()), z.array(z.string())]).optional();
const duration = z.string().regex(/^(?:\d+(?:\.\d+)?(?:us|ms|s|m|h))+$/, 'write a duration like "1m30s"');
const bytes = z.union([z.int().positive(), z.string().regex(/^\d+(?:\.\d+)?(?:[bkmg]|kb|mb|gb)?$/i, 'write a size like "64m"')]);
const cpus = z.union([
  z.number().positive(),
  z
    .string()
    .regex(/^\d+(?:\.\d+)?$/, "is no number of CPUs")
    .transform(Number),
]);

const mode = z.union([
  z.int().min(0).max(0o777),
  z
    .string()
    .regex(/^0?[0-7]{3}$/, "is no mode like 0400")
    .transform((text) => Number.parseInt(text, 8)),
]);
const ROOTS = "only root's files are made";
const isRoots = z.literal(["0", 0], { error: ROOTS }).optional();
/** A string is short for { source }. */
const file = z.preprocess(
  (given) => (typeof given === "string" ? { source: given } : given),
  z.strictObject({ source: z.string(), target: z.string().optional(), uid: isRoots, gid: isRoots, mode: mode.optional() }),
);
const strings = z.union([z.string(), z.array(z.string())]).optional();

const ELSEWHERE = "only bridges of this host are made";
const network = z
  .strictObject({
    driver: z.literal("bridge", { error: `only bridge is supported: ${ELSEWHERE}` }).optional(),
    name: refused("a network has the name that services call it by"),
    external: z.literal(false, { error: "only false is supported: networks of others are not joined" }).optional(),
  })
  .nullable();
const volume = z
  .strictObject({
    driver: z.literal("local", { error: "only local is supported: a volume is a directory of this host" }).optional(),
    external: z.literal(false, { error: "only false is supported: volumes of others are not found" }).optional(),
    name: refused("a volume has the name that services call it by"),
    labels: z.unknown().optional(),
  })
  .nullable();
/** Exactly one of them must be given. */
const content = z
  .strictObject({
    file: z.string().optional(),
    environment: z.string().optional(),
    content: z.string().optional(),
    external: refused("there is no store of others that it could come from"),
    name: refused("it has the name that services call it by"),
  })
  .refine(
    (one) => [one.file, one.environment, one.content].filter((given) => given !== undefined).length === 1,
    "needs one of file, environment and content",
  );
const LIMITS = { cpus: cpus.optional(), memory: bytes.optional() };

const dependency = z.strictObject({
  condition: z.enum(["service_started", "service_healthy", "service_completed_successfully"]).default("service_started"),
  restart: flag.default(false),
  required: flag.default(true),
});

const healthcheck = z.strictObject({
  test: z.union([z.string(), z.array(text).min(1)]).optional(),
  interval: duration.optional(),
  timeout: duration.optional(),
  retries: count(1, 100).optional(),
  start_period: duration.optional(),
  start_interval: refused("checks have one interval"),
  disable: flag.optional(),
});

const mount = z.union([
  z.string(),
  z.strictObject({
    type: z.enum(["bind", "volume", "tmpfs"], { error: "only bind, tmpfs and volume are supported" }),
    source: z.string().optional(),
    target: z.string(),
    read_only: flag.optional(),
    tmpfs: z.strictObject({ size: bytes.optional() }).optional(),
    volume: z.strictObject({ nocopy: flag.optional() }).optional(),
  }),
]);

const port = z.union([
  z.string(),
  z.int(),
  z.strictObject({
    target: count(1, 65_535),
    published: z.union([z.string(), z.int()]).optional(),
    protocol: z.enum(["tcp", "udp"]).optional(),
    host_ip: z.string().optional(),
    mode: z.enum(["host", "ingress"]).optional(),
    name: z.string().optional(),
  }),
]);

export const service = z.strictObject({
  "x-runt-rootfs": z.string().optional(),
  image: z.string().optional(),
  pull_policy: z
    .enum(["always", "missing", "if_not_present", "never"], { error: "only always, missing, if_not_present and never are supported" })
    .optional(),
  command,
  entrypoint: command,
  environment,
  working_dir: z.string().optional(),
  user: z.union([z.string(), z.int()]).optional(),
  hostname: z.string().optional(),
  cap_add: z.array(z.string()).optional(),
  cap_drop: z.array(z.string()).optional(),
  read_only: flag.optional(),
  restart: z
    .string()
    .regex(/^(?:no|always|unless-stopped|on-failure(?::\d+)?)$/, "is no, always, unless-stopped or on-failure[:N]")
    .optional(),
  depends_on: z.union([z.array(z.string()), z.record(z.string(), dependency)]).optional(),
  healthcheck: healthcheck.optional(),
  stop_signal: z.string().optional(),
  stop_grace_period: duration.optional(),
  volumes: z.array(mount).optional(),
  ports: z.array(port).optional(),
  network_mode: z.enum(["none", "host"], { error: "only none and host are supported" }).optional(),
  pid: z.literal("host", { error: "only host is supported" }).optional(),
  ipc: z.enum(["host", "private"], { error: "only host and private are supported" }).optional(),
  profiles: z.array(z.string()).optional(),
  labels: environment,
  deploy: z
    .strictObject({
      replicas: count(0)
        .pipe(z.literal(1, { error: "only 1 is supported: a service is one task" }))
        .optional(),
      resources: z
        .strictObject({
          limits: z.strictObject({ ...LIMITS, pids: count(1).optional() }).optional(),
          reservations: z.strictObject(LIMITS).optional(),
        })
        .optional(),
    })
    .optional(),
  mem_limit: bytes.optional(),
  mem_reservation: bytes.optional(),
  cpus: cpus.optional(),
  pids_limit: count(1).optional(),
  env_file: z
    .union([z.string(), z.array(z.union([z.string(), z.strictObject({ path: z.string(), required: flag.optional() })]))])
    .optional(),
  networks: z
    .union([z.array(z.string()), z.record(z.string(), z.strictObject({ aliases: z.array(z.string()).min(1).optional() }).nullable())])
    .optional(),
  secrets: z.array(file).optional(),
  configs: z.array(file).optional(),
  tmpfs: strings,
  dns: strings,
  dns_search: strings,
  dns_opt: z.array(z.string()).optional(),
  stdin_open: flag.optional(),
  tty: flag.optional(),
  group_add: z.array(z.union([z.int(), z.string().regex(/^\d+$/, "only numbers of groups are supported")])).optional(),
  annotations: environment,
  // `expose` only documents ports: services of a network can reach all ports of each other.
  expose: z.array(z.union([z.string(), z.int()])).optional(),
  scale: count(0)
    .pipe(z.literal(1, { error: "only 1 is supported: a service is one task" }))
    .optional(),
  container_name: z.string().regex(NAME, "use 1 to 63 of A-Z a-z 0-9 _ -, with a letter or digit at both ends").optional(),
  sysctls: environment,
  links: refused("services of a network find each other by their names"),
  init: flag.pipe(z.literal(false, { error: "only false is supported: the program of the image is the first process" })).optional(),
  build: refused("images are not built"),
  privileged: flag.optional(),
  runtime: z.string().regex(RUNTIME_NAME, "is no name of a runtime").optional(),
});

export const composeFile = z.strictObject({
  name: z.string().regex(NAME, "use 1 to 63 of A-Z a-z 0-9 _ -").optional(),
  version: z.unknown().optional(),
  services: z.record(z.string().regex(NAME, "use 1 to 63 of A-Z a-z 0-9 _ -, with a letter or digit at both ends"), service),
  networks: z.record(z.string().regex(NAME, "use 1 to 63 of A-Z a-z 0-9 _ -"), network).optional(),
  volumes: z.record(z.string().regex(NAME, "use 1 to 63 of A-Z a-z 0-9 _ -, with a letter or digit at both ends"), volume).optional(),
  secrets: z.record(z.string(), content).optional(),
  configs: z.record(z.string(), content).optional(),
  include: refused("write one file"),
});

export type ComposeInput = z.output<typeof composeFile>;
export type ServiceInput = z.output<typeof service>;
