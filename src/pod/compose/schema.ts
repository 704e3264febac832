/** The part of the Compose file format that the engine supports. */
import { z } from "zod";
import { refused, text } from "../schema/field.ts";

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

const ELSEWHERE = "a service has no networks of its own yet";
const LIMITS = { cpus: cpus.optional(), memory: bytes.optional() };

const dependency = z.strictObject({
  condition: z.enum(["service_started", "service_healthy", "service_completed_successfully"]).default("service_started"),
  restart: z.literal(false, { error: "is not supported: a service is not restarted with what it depends on" }).optional(),
  required: z.literal(true, { error: "only true is supported: what is named has to be there" }).optional(),
});

const healthcheck = z.strictObject({
  test: z.union([z.string(), z.array(text).min(1)]).optional(),
  interval: duration.optional(),
  timeout: duration.optional(),
  retries: z.int().min(1).max(100).optional(),
  start_period: duration.optional(),
  start_interval: refused("checks have one interval"),
  disable: z.boolean().optional(),
});

const mount = z.union([
  z.string(),
  z.strictObject({
    type: z.enum(["bind", "volume"], { error: "only bind and anonymous volumes are supported" }),
    source: z.string().optional(),
    target: z.string(),
    read_only: z.boolean().optional(),
  }),
]);

const port = z.union([
  z.string(),
  z.int(),
  z.strictObject({
    target: z.int().min(1).max(65_535),
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
  command,
  entrypoint: command,
  environment,
  working_dir: z.string().optional(),
  user: z.union([z.string(), z.int()]).optional(),
  hostname: z.string().optional(),
  cap_add: z.array(z.string()).optional(),
  cap_drop: z.array(z.string()).optional(),
  read_only: z.boolean().optional(),
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
      resources: z
        .strictObject({
          limits: z.strictObject({ ...LIMITS, pids: z.int().positive().optional() }).optional(),
          reservations: z.strictObject(LIMITS).optional(),
        })
        .optional(),
    })
    .optional(),
  mem_limit: bytes.optional(),
  mem_reservation: bytes.optional(),
  cpus: cpus.optional(),
  pids_limit: z.int().positive().optional(),
  env_file: refused("write the variables under environment"),
  build: refused("images are not built"),
  networks: refused(ELSEWHERE),
  secrets: refused("write a volume"),
  configs: refused("write a volume"),
  tmpfs: refused("scratch volumes are on the disk"),
  privileged: refused("a container has no more than its capabilities"),
});

export const composeFile = z.strictObject({
  name: z.string().regex(NAME, "use 1 to 63 of A-Z a-z 0-9 _ -").optional(),
  version: z.unknown().optional(),
  services: z.record(z.string().regex(NAME, "use 1 to 63 of A-Z a-z 0-9 _ -, with a letter or digit at both ends"), service),
  networks: refused(ELSEWHERE),
  volumes: refused("named volumes are not kept: write a directory of the host"),
  secrets: refused("write a volume"),
  configs: refused("write a volume"),
  include: refused("write one file"),
});

export type ServiceInput = z.output<typeof service>;
