/**
 * Services of a file. Each pod that a service selects becomes a part of it in the task's network, and the engine forwards connections to the pods
 * that are ready.
 */
import type { Problem, TaskInput } from "../../engine/spec/index.ts";
import type { PodInput } from "../schema/pod.ts";
import { isHeadless, NODE_PORTS, type ServiceInput } from "../schema/service.ts";

type Network = NonNullable<TaskInput["network"]>;
type Published = NonNullable<Network["ports"]>[number];
type Redirect = NonNullable<Network["redirects"]>[number];
type Part = NonNullable<Network["services"]>[number];
type ServicePort = ServiceInput["spec"]["ports"][number];

/** The default domain of a Kubernetes cluster. */
const DOMAIN = "cluster.local";

/** What the network of a pod needs for the services of the file. */
export interface Membership {
  readonly name: string;
  readonly services: readonly Part[];
  readonly ports: readonly Published[];
  readonly redirects: readonly Redirect[];
}

interface Known {
  readonly service: ServiceInput;
  readonly place: (problem: Problem) => void;
  readonly warn: (problem: Problem) => void;
}

export class Services {
  readonly #known: Known[] = [];
  readonly #machines: readonly string[];
  /** Namespaces with a pod in a virtual machine, which cannot reach virtual addresses. */
  #withMachine: ReadonlySet<string> = new Set();

  /** @param machines names of the runtimes that make virtual machines */
  constructor(machines: readonly string[] = []) {
    this.#machines = machines;
  }

  /** Returns false if there already is a service with this name. @param refuse and warn: report problems of its document */
  add(service: ServiceInput, refuse: Known["place"], warn: Known["warn"]): boolean {
    const isTwice = this.#known.some(
      (one) => one.service.metadata.name === service.metadata.name && namespaceOf(one.service) === namespaceOf(service),
    );
    if (!isTwice) this.#known.push({ service, place: refuse, warn });
    return !isTwice;
  }

  /** Must be called with all pods of the file before `of`. */
  select(pods: readonly PodInput[]): void {
    const inMachine = pods.filter(({ spec: { runtimeClassName: name } }) => name !== undefined && this.#machines.includes(name));
    this.#withMachine = new Set(inMachine.map(namespaceOf));
    for (const [index, one] of this.#known.entries()) {
      const { service, place, warn } = one;
      const { ports } = service.spec;
      const address = addressOf(service);
      const other = this.#known.slice(0, index).find(({ service: before }) => address !== undefined && addressOf(before) === address);
      if (address !== undefined && address !== "none" && other !== undefined && namespaceOf(other.service) === namespaceOf(service))
        place({ code: "duplicate-name", message: `is the address of ${other.service.metadata.name}, too`, path: ["spec", "clusterIP"] });
      const selected = pods.filter((pod) => isSelected(service, pod));
      if (selected.length === 0)
        warn({ code: "combination", message: "selects no pod of this file: its name leads nowhere", path: ["spec", "selector"] });
      const ofHost = selected.filter(({ spec }) => spec.hostNetwork);
      if (ofHost.length > 0)
        warn({
          code: "combination",
          message: `does not lead to ${namesOf(ofHost)}, with the network of the host: it leads to pods with addresses of their own`,
          path: ["spec", "selector"],
        });
      const led = selected.filter(({ spec }) => !spec.hostNetwork);
      for (const [at, port] of ports.entries()) {
        const path = ["spec", "ports", at];
        const lacking = led.filter((pod) => targetOf(port, pod) === undefined);
        // Source: Kubernetes, FindPort: such a pod is left out for this port.
        if (lacking.length > 0) {
          const message = `leads to no port of ${namesOf(lacking)}: there is no port ${port.targetPort}`;
          warn({ code: "combination", message, path });
        }
        if (!this.#isRedirected(service)) continue;
        for (const message of led.flatMap((pod) => redirectProblem(port, pod) ?? [])) place({ code: "combination", message, path });
      }
    }
  }

  /**
   * undefined: no service of the file is in the pod's namespace. Pods that no service selects are in the network, too, so that they reach the
   * others.
   */
  of(pod: PodInput): Membership | undefined {
    const here = this.#known.filter(({ service }) => namespaceOf(service) === namespaceOf(pod));
    if (here.length === 0 || pod.spec.hostNetwork) return undefined;
    const own = here.filter(({ service }) => isSelected(service, pod));
    return {
      name: namespaceOf(pod),
      services: own.map(({ service }) => partOf(service, pod)),
      ports: own.flatMap(({ service }) => publishedBy(service, pod)),
      redirects: redirectsOf(
        own.flatMap(({ service }) => (this.#isRedirected(service) ? [service] : [])),
        pod,
      ),
    };
  }

  /**
   * Variables by which the containers of a pod find the services of its namespace. A service whose address the daemon chooses is named.
   * Source: Kubernetes, "Accessing the Service", "Environment Variables".
   */
  variablesFor(pod: PodInput): Record<string, string> {
    if (pod.spec.enableServiceLinks === false || pod.spec.hostNetwork) return {};
    const own = this.#known.filter(({ service }) => namespaceOf(service) === namespaceOf(pod) && !isHeadless(service.spec));
    return Object.fromEntries(
      own.flatMap(({ service }) => {
        const { ports } = service.spec;
        const prefix = `${variableWord(service.metadata.name)}_SERVICE`;
        return [
          [`${prefix}_HOST`, (this.#isRedirected(service) ? undefined : addressOf(service)) ?? service.metadata.name],
          [`${prefix}_PORT`, String(ports[0]?.port ?? "")],
          ...ports.flatMap(({ name, port }) => (name === undefined ? [] : [[`${prefix}_PORT_${variableWord(name)}`, String(port)]])),
        ];
      }),
    );
  }

  /**
   * Whether the name of the service leads to the pods themselves, because a virtual machine cannot reach the virtual address. The pods then answer
   * on the port of the service.
   */
  #isRedirected(service: ServiceInput): boolean {
    return this.#withMachine.has(namespaceOf(service)) && !isHeadless(service.spec);
  }
}

function variableWord(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}

function namespaceOf({ metadata: { namespace = "default" } }: { readonly metadata: { readonly namespace?: string | undefined } }): string {
  return namespace;
}

function isSelected({ spec: { selector }, ...service }: ServiceInput, pod: PodInput): boolean {
  const wanted = Object.entries(selector);
  const { labels = {} } = pod.metadata;
  return wanted.length > 0 && namespaceOf(service) === namespaceOf(pod) && wanted.every(([key, value]) => labels[key] === value);
}

/** The virtual address that a service asks for; "none": it has none; undefined: any address. */
function addressOf({ spec }: ServiceInput): string | undefined {
  if (isHeadless(spec)) return "none";
  return [spec.clusterIP, ...(spec.clusterIPs ?? [])].find((one) => one !== "");
}

/**
 * A pod of a headless service has a name of its own in addition, by which the pods of a StatefulSet are addressed. Source: Kubernetes, "DNS for
 * Services and Pods".
 */
function partOf(service: ServiceInput, pod: PodInput): Part {
  const { name } = service.metadata;
  const namespace = namespaceOf(pod);
  const withDomain = (host: string) => [host, `${host}.${namespace}`, `${host}.${namespace}.svc`, `${host}.${namespace}.svc.${DOMAIN}`];
  const { hostname = pod.metadata.name, subdomain } = pod.spec;
  const own = [...new Set([pod.metadata.name, ...(subdomain === name ? [hostname] : [])])];
  const address = addressOf(service);
  const { ports, sessionAffinity, publishNotReadyAddresses } = service.spec;
  const led = ports.flatMap((one) => {
    const to = targetOf(one, pod);
    return to === undefined ? [] : [{ port: one.port, to, protocol: protocolOf(one) }];
  });
  return {
    names: withDomain(name),
    ...(address === "none" ? { hosts: own.flatMap((host) => withDomain(`${host}.${name}`)) } : { ports: led }),
    ...(address === undefined ? {} : { address }),
    ...(sessionAffinity === "ClientIP" ? { sticky: true as const } : {}),
    ...(publishNotReadyAddresses ? { unready: true as const } : {}),
  };
}

function listening(pod: PodInput): PodInput["spec"]["containers"][number]["ports"] {
  return [...pod.spec.containers, ...pod.spec.initContainers].flatMap(({ ports }) => ports);
}

/** The port of the pod; undefined: no port of the pod has that name. */
function targetOf({ port, targetPort = port, protocol }: ServicePort, pod: PodInput): number | undefined {
  if (typeof targetPort === "number") return targetPort;
  return listening(pod).find((one) => one.name === targetPort && one.protocol === protocol)?.containerPort;
}

/** @returns undefined: the port can lead to another one of the pod */
function redirectProblem(port: ServicePort, pod: PodInput): string | undefined {
  const target = targetOf(port, pod);
  if (target === undefined || target === port.port) return undefined;
  const isOther = listening(pod).some((one) => one.containerPort === port.port && one.protocol === port.protocol);
  return isOther ? `${pod.metadata.name} listens on port ${port.port} itself: it cannot lead to ${target} there` : undefined;
}

function namesOf(pods: readonly PodInput[]): string {
  return pods.map(({ metadata }) => metadata.name).join(", ");
}

function protocolOf({ protocol }: ServicePort): "tcp" | "udp" {
  return protocol === "UDP" ? "udp" : "tcp";
}

/** All pods that it selects share the ports of the host. */
function publishedBy({ metadata, spec }: ServiceInput, pod: PodInput): Published[] {
  const { type, ports, sessionAffinity, publishNotReadyAddresses } = spec;
  if (type === "ClusterIP") return [];
  const service = {
    name: `${metadata.name}.${namespaceOf({ metadata })}`,
    ...(sessionAffinity === "ClientIP" ? { sticky: true as const } : {}),
    ...(publishNotReadyAddresses ? { unready: true as const } : {}),
  };
  const all = ports.flatMap((one): Published[] => {
    const container = targetOf(one, pod);
    if (container === undefined) return [];
    const common = { container, protocol: protocolOf(one), service };
    const named = one.nodePort === 0 ? [] : [{ ...common, host: one.nodePort }];
    if (type === "LoadBalancer") return [{ ...common, host: one.port }, ...named];
    return one.nodePort === 0 ? [{ ...common, hostRange: NODE_PORTS }] : named;
  });
  // A port of a load balancer may be the node port of the same one, or of another one that leads to the same place.
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
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
