/** Services, and documents that are accepted although nothing is done for them. */
import type { Namespace, Service, ServiceAccount, ServicePort, ServiceSpec } from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { dnsLabel, ignored, LEFT_OUT, labels, ofCluster, refusedList, refusedNumber, refusedText, wordOf, wordOr } from "./field.ts";
import { objectMetadata, ofAllNamespaces } from "./metadata.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const port = z.int().min(1).max(65_535);

/** Host ports for services of type NodePort. Source: Kubernetes, "type: NodePort". */
export const NODE_PORTS: [number, number] = [30_000, 32_767];

const servicePort = z.strictObject({
  name: z.string().optional(),
  port,
  protocol: wordOr(["TCP", "UDP"], "TCP", "only TCP and UDP are supported: the network leads nothing else on"),
  // 0 and "" mean the port itself. Source: Kubernetes, SetDefaults_Service.
  targetPort: z.preprocess((given) => (given === 0 || given === "" ? undefined : given), z.union([port, z.string()]).optional()).optional(),
  nodePort: z
    .int()
    .refine((given) => given === 0 || (given >= NODE_PORTS[0] && given <= NODE_PORTS[1]), `is a port from ${NODE_PORTS.join(" to ")}`)
    .default(0),
  appProtocol: ignored,
} satisfies Fields<ServicePort>);

/** "None" is a headless service. */
const clusterIP = z.union([z.literal(["None", ""]), z.ipv4()], {
  error: "is None or an address of IPv4: the networks of tasks have no other",
});

export const service = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("Service"),
  // Source: Kubernetes 1.37, ValidateServiceCreate: a label of RFC 1123.
  metadata: objectMetadata.extend({ name: dnsLabel }),
  spec: z
    .strictObject({
      selector: labels.default({}),
      ports: z.array(servicePort).default([]),
      type: wordOr(["ClusterIP", "NodePort", "LoadBalancer"], "ClusterIP", "only ClusterIP, NodePort and LoadBalancer are supported"),
      clusterIP: clusterIP.default(""),
      clusterIPs: z.array(clusterIP).max(1, "only IPv4 is supported").optional(),
      publishNotReadyAddresses: z.boolean().default(false),
      sessionAffinity: wordOf(["None", "ClientIP"]),
      sessionAffinityConfig: ignored,
      ipFamilies: z.array(z.literal("IPv4", { error: "only IPv4 is supported" })).optional(),
      ipFamilyPolicy: z.enum(["SingleStack", "PreferDualStack"], { error: "only IPv4 is supported" }).optional(),
      internalTrafficPolicy: ignored,
      externalTrafficPolicy: ignored,
      trafficDistribution: ignored,
      allocateLoadBalancerNodePorts: ignored,
      healthCheckNodePort: refusedNumber(`there is no load balancer that would ask it; ${LEFT_OUT}`),
      loadBalancerClass: ofCluster("there is no other load balancer"),
      loadBalancerIP: refusedText(`it is the address of this host; ${LEFT_OUT}`),
      loadBalancerSourceRanges: refusedList("who may connect is not checked"),
      externalIPs: refusedList("the addresses are those of this host"),
      externalName: refusedText("names lead to pods"),
    } satisfies Fields<ServiceSpec>)
    // Source: Kubernetes, ValidateService.
    .refine(({ ports, ...one }) => ports.length > 0 || isHeadless(one), { error: "a service has at least one port", path: ["ports"] })
    .refine(({ ports }) => ports.length < 2 || new Set(ports.flatMap(({ name }) => name ?? [])).size === ports.length, {
      error: "with several ports each has a name of its own",
      path: ["ports"],
    })
    .refine(({ ports, type }) => type !== "ClusterIP" || ports.every(({ nodePort }) => nodePort === 0), {
      error: "a nodePort needs the type NodePort or LoadBalancer",
      path: ["ports"],
    }),
  status: ignored,
} satisfies Fields<Service>);

export const namespace = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("Namespace"),
  metadata: ofAllNamespaces,
  spec: ignored,
  status: ignored,
} satisfies Fields<Namespace>);

export const serviceAccount = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("ServiceAccount"),
  metadata: objectMetadata,
  automountServiceAccountToken: z.boolean().optional(),
  imagePullSecrets: refusedList(`there are no accounts, and images are pulled with credentials of the host; ${LEFT_OUT}`),
  secrets: ignored,
} satisfies Fields<ServiceAccount>);

export function isHeadless({
  clusterIP,
  clusterIPs = [],
}: Readonly<{ clusterIP: string; clusterIPs?: readonly string[] | undefined }>): boolean {
  return clusterIP === "None" || clusterIPs.includes("None");
}

export type ServiceInput = z.output<typeof service>;
