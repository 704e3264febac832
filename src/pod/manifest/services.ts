/**
 * Services of a file. The name of a service leads to the addresses of the pods that it selects, as that of a headless service does; where the pods
 * listen on other ports, connections to those of the service are redirected in the network of each pod.
 */
import type { Problem, TaskInput } from "../../engine/spec/index.ts";
import type { PodInput } from "../schema/pod.ts";
import type { ServiceInput } from "../schema/service.ts";

type Network = NonNullable<TaskInput["network"]>;
type Published = NonNullable<Network["ports"]>[number];
type Redirect = NonNullable<Network["redirects"]>[number];
type ServicePort = ServiceInput["spec"]["ports"][number];

/** Ports of the host for services of type NodePort that name none. Source: Kubernetes, "type: NodePort". */
const NODE_PORTS: [number, number] = [30_000, 32_767];

/** The domain that Kubernetes gives a cluster, unless it is set up otherwise. */
const DOMAIN = "cluster.local";

/** What the services of a file make of the network of a pod. */
export interface Membership {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly ports: readonly Published[];
  readonly redirects: readonly Redirect[];
}

interface Known {
  readonly service: ServiceInput;
  readonly place: (problem: Problem) => void;
  readonly warn: (problem: Problem) => void;
  /** The pod of the file that has its ports of the host. */
  first: PodInput | undefined;
}

export class Services {
  readonly #known: Known[] = [];

  /** @param refuse and warn: for problems of its document. Returns false if there already is one with its name */
  add(service: ServiceInput, refuse: Known["place"], warn: Known["warn"]): boolean {
    const isTwice = this.#known.some(
      (one) => one.service.metadata.name === service.metadata.name && namespaceOf(one.service) === namespaceOf(service),
    );
    if (!isTwice) this.#known.push({ service, place: refuse, warn, first: undefined });
    return !isTwice;
  }

  /** To be called with all pods of the file before `of`. */
  select(pods: readonly PodInput[]): void {
    for (const one of this.#known) {
      const { service, place, warn } = one;
      const { type, selector, ports } = service.spec;
      if (Object.keys(selector).length === 0) {
        place({
          code: "combination",
          message: "selects no pods: endpoints outside of the host are not supported",
          path: ["spec", "selector"],
        });
        continue;
      }
      const selected = pods.filter((pod) => isSelected(service, pod));
      one.first = selected[0];
      if (selected.length === 0)
        warn({ code: "combination", message: "selects no pod of this file: its name leads nowhere", path: ["spec", "selector"] });
      if (type !== "ClusterIP" && selected.length > 1)
        warn({ code: "combination", message: `the ports of the host lead to ${selected[0]!.metadata.name} only`, path: ["spec", "type"] });
      for (const pod of selected) {
        if (pod.spec.hostNetwork)
          place({
            code: "combination",
            message: `selects ${pod.metadata.name}, which has the network of the host`,
            path: ["spec", "selector"],
          });
        ports.forEach((port, index) => {
          const message = portProblem(port, pod);
          if (message !== undefined) place({ code: "combination", message, path: ["spec", "ports", index] });
        });
      }
    }
  }

  /** undefined: no service of the file is in its namespace. Pods that no service selects are in the network, too, to reach the others. */
  of(pod: PodInput): Membership | undefined {
    const here = this.#known.filter(({ service }) => namespaceOf(service) === namespaceOf(pod));
    if (here.length === 0 || pod.spec.hostNetwork) return undefined;
    const own = here.filter(({ service }) => isSelected(service, pod));
    return {
      name: namespaceOf(pod),
      aliases: own.flatMap(({ service }) => namesOf(service, pod)),
      ports: own.flatMap(({ service, first }) => (first === pod ? publishedBy(service, pod) : [])),
      redirects: redirectsOf(
        own.map(({ service }) => service),
        pod,
      ),
    };
  }
}

function namespaceOf({ metadata: { namespace = "default" } }: { readonly metadata: { readonly namespace?: string | undefined } }): string {
  return namespace;
}

function isSelected({ spec: { selector }, ...service }: ServiceInput, pod: PodInput): boolean {
  const wanted = Object.entries(selector);
  const { labels = {} } = pod.metadata;
  return wanted.length > 0 && namespaceOf(service) === namespaceOf(pod) && wanted.every(([key, value]) => labels[key] === value);
}

/** A pod of a headless service has a name of its own there, too, as pods of a StatefulSet are addressed. */
function namesOf({ metadata: { name }, spec: { clusterIP, clusterIPs = [] } }: ServiceInput, pod: PodInput): string[] {
  const namespace = namespaceOf(pod);
  const withDomain = (host: string) => [host, `${host}.${namespace}`, `${host}.${namespace}.svc`, `${host}.${namespace}.svc.${DOMAIN}`];
  const isHeadless = clusterIP === "None" || clusterIPs.includes("None");
  return [...withDomain(name), ...(isHeadless ? withDomain(`${pod.metadata.name}.${name}`) : [])];
}

function listening(pod: PodInput): PodInput["spec"]["containers"][number]["ports"] {
  return [...pod.spec.containers, ...pod.spec.initContainers].flatMap(({ ports }) => ports);
}

/** The port of the pod; undefined: it has none of that name. */
function targetOf({ port, targetPort = port, protocol }: ServicePort, pod: PodInput): number | undefined {
  if (typeof targetPort === "number") return targetPort;
  return listening(pod).find((one) => one.name === targetPort && one.protocol === protocol)?.containerPort;
}

function portProblem(port: ServicePort, pod: PodInput): string | undefined {
  const target = targetOf(port, pod);
  const { name } = pod.metadata;
  if (target === undefined) return `${name} has no port ${port.targetPort}`;
  const isOther = target !== port.port && listening(pod).some((one) => one.containerPort === port.port && one.protocol === port.protocol);
  return isOther ? `${name} listens on port ${port.port} itself: it cannot lead to ${target} there` : undefined;
}

function protocolOf({ protocol }: ServicePort): "tcp" | "udp" {
  return protocol === "UDP" ? "udp" : "tcp";
}

function publishedBy({ spec: { type, ports } }: ServiceInput, pod: PodInput): Published[] {
  if (type === "ClusterIP") return [];
  return ports.map((one) => {
    const common = { container: targetOf(one, pod) ?? one.port, protocol: protocolOf(one) };
    if (type === "LoadBalancer") return { ...common, host: one.port };
    return one.nodePort === 0 ? { ...common, hostRange: NODE_PORTS } : { ...common, host: one.nodePort };
  });
}

function redirectsOf(services: readonly ServiceInput[], pod: PodInput): Redirect[] {
  const all = services.flatMap(({ spec: { ports } }) =>
    ports.flatMap((one): Redirect[] => {
      const to = targetOf(one, pod);
      return to === undefined || to === one.port ? [] : [{ port: one.port, to, protocol: protocolOf(one) }];
    }),
  );
  return [...new Map(all.map((one) => [`${one.port}/${one.protocol}`, one])).values()];
}
