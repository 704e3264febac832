/** Probes and hooks of a container. */
import type { ExecAction, Lifecycle, LifecycleHandler, Probe } from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { only, refused, seconds, text } from "./field.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const exec = z.strictObject({ command: z.array(text).min(1) } satisfies Fields<ExecAction>);
const KIND = "probes run a command in the container: write exec";

export const readinessProbe = z.strictObject({
  exec,
  httpGet: refused(KIND),
  tcpSocket: refused(KIND),
  grpc: refused(KIND),
  initialDelaySeconds: seconds(0).default(0),
  periodSeconds: seconds(1).default(10),
  timeoutSeconds: seconds(1).default(1),
  failureThreshold: z.int().min(1).max(100).default(3),
  successThreshold: only(1, "one success makes a container ready"),
  terminationGracePeriodSeconds: refused("a probe for readiness ends nothing"),
} satisfies Fields<Probe>);

const HOOK = "a hook runs a command in the container: write exec";

export const lifecycle = z.strictObject({
  postStart: refused("nothing is run in a container right after its start"),
  preStop: z
    .strictObject({ exec, httpGet: refused(HOOK), sleep: refused(HOOK), tcpSocket: refused(HOOK) } satisfies Fields<LifecycleHandler>)
    .optional(),
} satisfies Fields<Lifecycle>);
