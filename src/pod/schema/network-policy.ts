/** Policies that permit every connection. Others are refused, because nothing here would keep connections away (manifest/cluster-fields.ts). */
import type {
  NetworkPolicy,
  NetworkPolicyEgressRule,
  NetworkPolicyIngressRule,
  NetworkPolicySpec,
} from "kubernetes-types/networking/v1.js";
import { z } from "zod";
import { ignored, labelSelector } from "./field.ts";
import { objectMetadata } from "./metadata.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const parts = z.array(z.unknown()).default([]);

const policy = z.strictObject({
  apiVersion: z.literal("networking.k8s.io/v1"),
  kind: z.literal("NetworkPolicy"),
  metadata: objectMetadata,
  spec: z.strictObject({
    podSelector: labelSelector.optional(),
    policyTypes: z.array(z.enum(["Ingress", "Egress"])).default([]),
    ingress: z.array(z.strictObject({ from: parts, ports: parts } satisfies Fields<NetworkPolicyIngressRule>)).default([]),
    egress: z.array(z.strictObject({ to: parts, ports: parts } satisfies Fields<NetworkPolicyEgressRule>)).default([]),
  } satisfies Fields<NetworkPolicySpec>),
  status: ignored,
} satisfies Fields<NetworkPolicy & { status?: unknown }>);

/** A rule without peers and ports permits all of them. Source: Kubernetes, NetworkPolicySpec. */
export function permitsEverything(document: unknown): boolean {
  const { data } = policy.safeParse(document);
  if (data === undefined) return false;
  const { policyTypes, ingress, egress } = data.spec;
  const types = policyTypes.length > 0 ? policyTypes : ["Ingress", ...(egress.length > 0 ? ["Egress"] : [])];
  const opens = {
    Ingress: ingress.some(({ from, ports }) => from.length + ports.length === 0),
    Egress: egress.some(({ to, ports }) => to.length + ports.length === 0),
  };
  return types.every((type) => opens[type as keyof typeof opens]);
}
