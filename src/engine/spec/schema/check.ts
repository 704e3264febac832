/** Health checks and hooks of a container. */
import { z } from "zod";
import { absolutePath, duration, text } from "./quantities.ts";

const checkPort = z.int().min(1).max(65_535);
const checkAddress = z
  .union([z.ipv4("is no IP address"), z.ipv6("is no IP address")])
  .default("127.0.0.1")
  .describe("In the container's network.");
const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "is no name of a header");
const headerValue = z.string().regex(/^[\t\x20-\x7e]*$/, "is no value of a header");

const httpCheck = z.strictObject({
  port: checkPort,
  path: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/, "is no path of a URL like /healthy")
    .default("/"),
  address: checkAddress,
  headers: z.record(headerName, headerValue).default({}),
  tls: z.boolean().optional().describe("Whether to use TLS. The certificate is not verified."),
});

const tcpCheck = z.strictObject({ port: checkPort, address: checkAddress });

const grpcCheck = z.strictObject({
  port: checkPort,
  address: checkAddress,
  service: z
    .string()
    .regex(/^[\x20-\x7e]*$/, "is no name of a service")
    .default("")
    .describe("Name of the service to check; empty: the whole server."),
});

export const healthCheck = z.strictObject({
  command: z.array(text).min(1).optional().describe("Program and arguments to run in the container, which is healthy if they exit with 0."),
  http: httpCheck
    .optional()
    .describe("Instead of a command: the container is healthy if a GET request is answered with a status from 200 to 399."),
  tcp: tcpCheck.optional().describe("Instead of a command: the container is healthy if a TCP connection can be made."),
  grpc: grpcCheck
    .optional()
    .describe("Instead of a command: the container is healthy if grpc.health.v1.Health/Check answers SERVING, without TLS."),
  initialDelay: duration.optional().describe("Delay of the first check after the start. Absent: none."),
  interval: duration.default(30_000),
  timeout: duration.default(5000),
  retries: z.int().min(1).max(100_000).default(3).describe("Number of consecutive failures after which the container is unhealthy."),
  successes: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe("Number of consecutive successes after which the container is healthy. Absent: 1."),
  startPeriod: duration.default(0).describe("Time after the start in which failures are not counted."),
  startInterval: duration.optional().describe("Interval within startPeriod, until a check has succeeded. Absent: interval."),
});

export const imageHealthCheck = z
  .union([
    z.literal(false),
    z.strictObject({
      interval: duration.optional(),
      timeout: duration.optional(),
      retries: healthCheck.shape.retries.unwrap().optional(),
      startPeriod: duration.optional(),
      startInterval: duration.optional(),
    }),
  ])
  .optional()
  .describe(
    "The health check of the image, without healthCheck. false: it does not apply. Fields replace those of the image. Absent: it applies.",
  );

/** For a startup or liveness check, after whose failure the container is stopped. */
export const killingCheck = healthCheck.extend({
  stopTimeout: duration
    .optional()
    .describe("Time to end after the stop signal when this check has finally failed. Absent: stopTimeout of the container."),
});

const hookCommand = z.strictObject({
  command: z.array(text).min(1),
  env: z
    .record(z.string().regex(/^[^=\0]+$/, "is no name of a variable"), text)
    .default({})
    .describe("Variables in addition to those of the container."),
  cwd: absolutePath.optional().describe("Absent: that of the container."),
  user: text.min(1).optional().describe("Absent: that of the container."),
});

const hookWays = {
  command: z.array(text).min(1).optional().describe("Program and arguments to run in the container."),
  commands: z
    .array(hookCommand)
    .min(1)
    .max(100)
    .optional()
    .describe("Instead of a command: programs that run one after the other. The hook fails with the first that does not exit with 0."),
  http: httpCheck.optional().describe("Instead of a command: a GET request. Any response is a success, whatever its status."),
  sleep: duration.optional().describe("Instead of a command: a time to wait."),
};

export const postStart = z.strictObject({ ...hookWays, timeout: duration.default(600_000) });

export const preStop = z.strictObject({
  ...hookWays,
  timeout: duration.default(10_000),
  withinStopTimeout: z
    .boolean()
    .optional()
    .describe("Whether its time counts as part of stopTimeout, of which at least two seconds are left. Then stopTimeout is its timeout."),
});

export type HttpCheck = z.output<typeof httpCheck>;
export type TcpCheck = z.output<typeof tcpCheck>;
export type GrpcCheck = z.output<typeof grpcCheck>;
export type HealthCheck = z.output<typeof killingCheck>;
/** A postStart or preStop hook. */
export type Hook = z.output<typeof postStart>;
