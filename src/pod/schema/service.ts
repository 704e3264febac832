/** Services, and documents that a host takes without doing anything for them. */
import type { Namespace, Service, ServiceAccount, ServicePort, ServiceSpec } from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { ignored, LEFT_OUT, ofCluster, only, refused, stringMap } from "./field.ts";
import { objectMetadata } from "./metadata.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const port = z.int().min(1).max(65_535);

const servicePort = z.strictObject({
  name: z.string().optional(),
  port,
  protocol: z.enum(["TCP", "UDP"], { error: "only TCP and UDP are supported: the network leads nothing else on" }).default("TCP"),
  targetPort: z.union([port, z.string().min(1)]).optional(),
  nodePort: z.int().min(0).max(65_535).default(0),
  appProtocol: ignored,
} satisfies Fields<ServicePort>);

const FIXED = `the name leads to the addresses of the pods, which the engine chooses; ${LEFT_OUT}`;

export const service = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("Service"),
  metadata: objectMetadata,
  spec: z.strictObject({
    selector: stringMap.default({}),
    ports: z.array(servicePort).default([]),
    type: z
      .enum(["ClusterIP", "NodePort", "LoadBalancer"], { error: "only ClusterIP, NodePort and LoadBalancer are supported" })
      .default("ClusterIP"),
    clusterIP: z.enum(["None", ""], { error: `only "None" is supported: ${FIXED}` }).default(""),
    clusterIPs: z.array(z.literal("None", { error: `only "None" is supported: ${FIXED}` })).optional(),
    publishNotReadyAddresses: ignored,
    sessionAffinity: z.enum(["None", "ClientIP"]).optional(),
    sessionAffinityConfig: ignored,
    ipFamilies: z.array(z.literal("IPv4", { error: "only IPv4 is supported" })).optional(),
    ipFamilyPolicy: z.enum(["SingleStack", "PreferDualStack"], { error: "only IPv4 is supported" }).optional(),
    internalTrafficPolicy: ignored,
    externalTrafficPolicy: ignored,
    trafficDistribution: ignored,
    allocateLoadBalancerNodePorts: ignored,
    healthCheckNodePort: ofCluster("there is no load balancer that would ask it"),
    loadBalancerClass: ofCluster("there is no other load balancer"),
    loadBalancerIP: ofCluster("it is the address of this host"),
    loadBalancerSourceRanges: refused("who may connect is not checked"),
    externalIPs: refused("the addresses are those of this host"),
    externalName: refused("names lead to pods"),
  } satisfies Fields<ServiceSpec>),
  status: ignored,
} satisfies Fields<Service>);

export const namespace = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("Namespace"),
  metadata: objectMetadata,
  spec: ignored,
  status: ignored,
} satisfies Fields<Namespace>);

export const serviceAccount = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("ServiceAccount"),
  metadata: objectMetadata,
  automountServiceAccountToken: only(false, `there is no account whose token could be mounted; ${LEFT_OUT}`),
  imagePullSecrets: ofCluster("there are no accounts, and images are pulled with credentials of the host"),
  secrets: ignored,
} satisfies Fields<ServiceAccount>);

export type ServiceInput = z.output<typeof service>;
