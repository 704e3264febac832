/** Probes and hooks of a container. */
import type {
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  HTTPHeader,
  Lifecycle,
  LifecycleHandler,
  Probe,
  SleepAction,
  TCPSocketAction,
} from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { signalNumber } from "../../shared/linux/index.ts";
import { numberOr, only, refused, seconds, secondsOr, text, wordOr } from "./field.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const exec = z.strictObject({ command: z.array(text).min(1) } satisfies Fields<ExecAction>);
const number = z.int().min(1).max(65_535);
/** A number, or the name of a port of the container. */
const port = z.union([number, z.string().min(1)]);
const host = z.union([z.ipv4(), z.ipv6()], { error: "is no IP address" }).optional();

const httpGet = z.strictObject({
  port,
  path: z.string().optional(),
  host,
  scheme: wordOr(["HTTP", "HTTPS"], "HTTP"),
  httpHeaders: z.array(z.strictObject({ name: z.string(), value: z.string() } satisfies Fields<HTTPHeader>)).default([]),
  protocol: only("HTTP1", "checks speak HTTP/1.1"),
} satisfies Fields<HTTPGetAction & { protocol?: unknown }>);

const WAYS = ["exec", "httpGet", "tcpSocket", "grpc"] as const;

const fields = {
  exec: exec.optional(),
  httpGet: httpGet.optional(),
  tcpSocket: z.strictObject({ port, host } satisfies Fields<TCPSocketAction>).optional(),
  grpc: z
    .strictObject({
      port: number,
      service: z.string().default(""),
      mode: only("Plaintext", "checks of gRPC have no TLS"),
    } satisfies Fields<GRPCAction & { mode?: unknown }>)
    .optional(),
  initialDelaySeconds: seconds(0).default(0),
  periodSeconds: secondsOr(10),
  timeoutSeconds: secondsOr(1),
  failureThreshold: numberOr(3, 100_000),
};

function oneWay(probe: Readonly<Partial<Record<(typeof WAYS)[number], unknown>>>): boolean {
  return WAYS.filter((way) => probe[way] !== undefined).length === 1;
}
const ONE_WAY = "needs one of exec, httpGet, tcpSocket and grpc";

export const readinessProbe = z
  .strictObject({
    ...fields,
    successThreshold: numberOr(1, 100),
    terminationGracePeriodSeconds: refused("a container that is not ready is not stopped"),
  } satisfies Fields<Probe>)
  .refine(oneWay, ONE_WAY);

/** For startup and liveness probes, which restart the container. */
export const killingProbe = z
  .strictObject({
    ...fields,
    successThreshold: z
      .literal([0, 1], { error: "only 1 is supported: one success ends what failures began" })
      .transform(() => 1)
      .optional(),
    terminationGracePeriodSeconds: seconds(1).optional(),
  } satisfies Fields<Probe>)
  .refine(oneWay, ONE_WAY);

const HOOK_WAYS = ["exec", "httpGet", "sleep"] as const;
const handler = z
  .strictObject({
    exec: exec.optional(),
    httpGet: httpGet.optional(),
    sleep: z.strictObject({ seconds: seconds(0) } satisfies Fields<SleepAction>).optional(),
    tcpSocket: refused("no kubelet runs it: write exec, httpGet or sleep"),
  } satisfies Fields<LifecycleHandler>)
  .refine((hook) => HOOK_WAYS.filter((way) => hook[way] !== undefined).length === 1, "needs one of exec, httpGet and sleep")
  .optional();

export const lifecycle = z.strictObject({
  postStart: handler,
  preStop: handler,
  stopSignal: z
    .string()
    .refine((name) => name.startsWith("SIG") && signalNumber(name.slice(3)) !== undefined, "is no name of a signal, like SIGUSR1")
    .optional(),
} satisfies Fields<Lifecycle & { stopSignal?: unknown }>);

export type HookInput = NonNullable<z.output<typeof handler>>;
export type HttpGetInput = z.output<typeof httpGet>;
export type ProbeInput = z.output<typeof readinessProbe> | z.output<typeof killingProbe>;
