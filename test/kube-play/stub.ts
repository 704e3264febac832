/** A manifest whose images, commands and paths of the host are replaced by ones that print what a container sees, and otherwise as Kubernetes understands it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readDocuments } from "../../src/engine/spec/index.ts";
import { type Fields, fieldsOf, listOf } from "../compose-model/view.ts";
import { objectsFor } from "./objects.ts";

/** Ports of one container that are tried. */
const MOST_PORTS = 4;
/** More containers than this make the comparison long, and show nothing new. */
const MOST_CONTAINERS = 6;
/** Of an image whose manifest demands a user other than root without naming one. */
export const IMAGE_USER = 2000;

const OF_POD = [
  ...["hostname", "hostAliases", "hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "restartPolicy"],
  ...["dnsConfig", "dnsPolicy", "volumes", "containers", "initContainers", "securityContext"],
];
const OF_CONTAINER = ["name", "command", "args", "workingDir", "ports", "env", "envFrom", "volumeMounts", "resources", "securityContext"];
/** Kinds that `podman kube play` knows. Pods of the others are played as pods. */
const PLAYED = ["Pod", "Deployment", "DaemonSet", "Job"];
const TEMPLATES = ["ReplicaSet", "ReplicationController", "StatefulSet", "CronJob"];

/** Of one container: what its image is made of, and what it does. */
export interface StubContainer {
  readonly name: string;
  readonly isInit: boolean;
  /** Its program ends with 0 at once; otherwise a signal ends it. */
  readonly ends: boolean;
  /** TCP ports at which it answers with its name. */
  readonly ports: readonly string[];
  /** Ports of the host that lead to one of these. */
  readonly published: readonly { readonly host: string; readonly address: string }[];
  /** Where it has ConfigMaps and Secrets. */
  readonly files: readonly string[];
  /** The part `config` of the image's configuration. */
  readonly image: Fields;
  /** User ids that have an account in the image. */
  readonly users: readonly number[];
}

export interface StubPod {
  readonly kind: string;
  readonly name: string;
  readonly containers: readonly StubContainer[];
}

export interface Stubbed {
  readonly pods: readonly StubPod[];
  /** @param imageOf reference of an image. @param directory of what the manifest has from the host, made here */
  text(imageOf: (container: StubContainer) => string, directory: string): string;
}

interface Workload {
  readonly kind: string;
  readonly name: string;
  readonly object: Fields;
  readonly metadata: Fields;
  readonly spec: Fields;
}

function workloadOf(object: Fields): Workload | undefined {
  const kind = String(object["kind"]);
  const [metadata, spec] = [fieldsOf(object["metadata"]), fieldsOf(object["spec"])];
  const name = String(metadata["name"] ?? "");
  if (kind === "Pod") return { kind, name, object, metadata, spec };
  if (![...PLAYED, ...TEMPLATES].includes(kind)) return undefined;
  const holder = kind === "CronJob" ? fieldsOf(fieldsOf(spec["jobTemplate"])["spec"]) : spec;
  const template = fieldsOf(holder["template"]);
  return { kind, name, object, metadata: fieldsOf(template["metadata"]), spec: fieldsOf(template["spec"]) };
}

/** undefined: it has no pods that both could run, or too many containers. */
export function stubbed(text: string): Stubbed | undefined {
  const documents = readDocuments(text, "object");
  if (documents.some(({ findings }) => findings.length > 0)) return undefined;
  const objects = documents.flatMap(({ value }) =>
    fieldsOf(value)["kind"] === "List" ? listOf(fieldsOf(value)["items"]).map(fieldsOf) : [fieldsOf(value)],
  );
  const workloads = objects.map(workloadOf).filter((one) => one !== undefined);
  if (workloads.length === 0 || workloads.some(({ name }) => !/^[a-z0-9][a-z0-9-]*$/.test(name))) return undefined;
  const pods = workloads.map(podOf);
  const containers = pods.flatMap((pod) => pod.containers);
  const sidecars = workloads.flatMap(({ spec }) =>
    listOf(spec["initContainers"])
      .map(fieldsOf)
      .filter((one) => one["restartPolicy"] !== undefined),
  );
  // Podman waits for the end of such an init container, which does not come.
  if (sidecars.length > 0 || containers.length === 0 || containers.length > MOST_CONTAINERS) return undefined;
  return {
    pods,
    text(imageOf, directory) {
      const specs = workloads.map((one, index) => specOf(one, pods[index]!, imageOf, directory));
      const made = workloads.map((one, index) => documentOf(one, specs[index]!));
      return [...objectsFor(objects, specs), ...made].map((one) => JSON.stringify(one)).join("\n---\n");
    },
  };
}

function podOf({ kind, name, spec }: Workload): StubPod {
  const taken = new Set<string>();
  const inits = listOf(spec["initContainers"]).map(fieldsOf);
  const all = [...inits, ...listOf(spec["containers"]).map(fieldsOf)];
  const security = fieldsOf(spec["securityContext"]);
  const volumes = listOf(spec["volumes"]).map(fieldsOf);
  const ofFiles = volumes
    .filter(({ configMap, secret }) => configMap !== undefined || secret !== undefined)
    .map((volume) => volume["name"]);
  const containers = all.map((one, index) => {
    const isInit = index < inits.length;
    const ends = isInit || kind === "Job" || kind === "CronJob";
    const own = ends ? [] : portsOf(one).filter(({ port }) => !taken.has(port));
    const ports = [...new Set(own.map(({ port }) => port))].slice(0, MOST_PORTS);
    for (const port of ports) taken.add(port);
    const context = { ...security, ...fieldsOf(one["securityContext"]) };
    const user = context["runAsUser"];
    const isUnnamed = user === undefined && context["runAsNonRoot"] === true;
    const mounts = listOf(one["volumeMounts"]).map(fieldsOf);
    const places = mounts.map(({ mountPath }) => String(mountPath));
    const exposed = portsOf(one).map(({ port }) => [`${port}/tcp`, {}]);
    return {
      name: String(one["name"]),
      isInit,
      ends,
      ports,
      published: own.flatMap(({ port, host, address }) => (host === undefined || !ports.includes(port) ? [] : [{ host, address }])),
      files: mounts.filter(({ name: volume }) => ofFiles.includes(volume)).map(({ mountPath }) => String(mountPath)),
      users: user === undefined ? [IMAGE_USER] : [IMAGE_USER, Number(user)],
      image: {
        Env: ["PATH=/bin:/usr/local/bin", "OF_IMAGE=yes"],
        Entrypoint: ["/bin/of-image"],
        Cmd: ["word-of-image"],
        WorkingDir: "/srv",
        ...(isUnnamed ? { User: `${IMAGE_USER}` } : {}),
        ...(exposed.length > 0 ? { ExposedPorts: Object.fromEntries(exposed) } : {}),
        ...(places.length > 0 ? { Volumes: Object.fromEntries(places.map((place) => [place, {}])) } : {}),
      },
    };
  });
  return { kind, name, containers };
}

function portsOf(container: Fields) {
  return listOf(container["ports"])
    .map(fieldsOf)
    .filter(({ protocol = "TCP" }) => protocol === "TCP")
    .map(({ containerPort, hostPort, hostIP }) => ({
      port: String(containerPort),
      host: hostPort === undefined ? undefined : String(hostPort),
      address: hostIP === undefined || /^[0:.]+$/.test(String(hostIP)) ? "127.0.0.1" : String(hostIP),
    }));
}

const picked = (fields: Fields, names: readonly string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name, value]) => names.includes(name) && value !== null));

function specOf({ spec }: Workload, pod: StubPod, imageOf: (container: StubContainer) => string, directory: string): Fields {
  const kept = picked(spec, OF_POD);
  const volumes = listOf(spec["volumes"]).map((one) => volumeOf(fieldsOf(one), join(directory, pod.name)));
  const containersIn = (field: string) =>
    listOf(spec[field]).map((one) => {
      const stub = pod.containers.find(({ name }) => name === String(fieldsOf(one)["name"]))!;
      return containerOf(fieldsOf(one), stub, imageOf(stub));
    });
  return {
    ...kept,
    ...(kept["securityContext"] === undefined ? {} : { securityContext: rightsOf(fieldsOf(kept["securityContext"])) }),
    ...(volumes.length === 0 ? {} : { volumes }),
    ...(spec["initContainers"] === undefined ? {} : { initContainers: containersIn("initContainers") }),
    containers: containersIn("containers"),
    terminationGracePeriodSeconds: 5,
  };
}

/** Without what needs SELinux, AppArmor or Windows, and without profiles of another host. */
const rightsOf = (context: Fields) => {
  const { seLinuxOptions: _, appArmorProfile: __, windowsOptions: ___, seccompProfile: profile, ...rest } = context;
  return profile === undefined || fieldsOf(profile)["type"] === "Localhost" ? rest : { ...rest, seccompProfile: profile };
};

function containerOf(container: Fields, stub: StubContainer, image: string): Fields {
  const kept = picked(container, OF_CONTAINER);
  const words = stub.ends ? ["", "ends"] : [stub.ports.join(" "), stub.name];
  const resources = fieldsOf(kept["resources"]);
  return {
    ...kept,
    image,
    imagePullPolicy: "IfNotPresent",
    command: ["/bin/sh", "/facts", ...words, ...listOf(kept["command"])],
    ...(kept["env"] === undefined ? {} : { env: listOf(kept["env"]).map((one) => variableOf(fieldsOf(one))) }),
    ...(kept["securityContext"] === undefined ? {} : { securityContext: rightsOf(fieldsOf(kept["securityContext"])) }),
    ...(kept["resources"] === undefined
      ? {}
      : { resources: { limits: amountsOf(fieldsOf(resources["limits"])), requests: amountsOf(fieldsOf(resources["requests"])) } }),
  };
}

/** Amounts that any machine has. */
function amountsOf({ cpu, memory }: Fields): Fields {
  return {
    ...(cpu === undefined ? {} : { cpu: /^\d+m$/.test(String(cpu)) && Number.parseInt(String(cpu), 10) <= 500 ? cpu : "500m" }),
    ...(memory === undefined
      ? {}
      : { memory: /^\d+M/.test(String(memory)) && Number.parseInt(String(memory), 10) <= 512 ? memory : "512Mi" }),
  };
}

/** Podman refuses other fields of a pod as values. */
const NAMED = /^metadata\.(?:name$|labels\[|annotations\[)/;

function variableOf(variable: Fields): Fields {
  const path = fieldsOf(fieldsOf(variable["valueFrom"])["fieldRef"])["fieldPath"];
  return path === undefined || NAMED.test(String(path)) ? variable : { name: variable["name"], value: `left out: ${String(path)}` };
}

const KEPT_VOLUMES = ["configMap", "secret", "persistentVolumeClaim"];

/** A path of the host is one of the test, and a volume that only a cluster has is a scratch directory. */
function volumeOf(volume: Fields, directory: string): Fields {
  const name = String(volume["name"]);
  if (KEPT_VOLUMES.some((kind) => volume[kind] !== undefined)) return volume;
  const { path, type = "" } = fieldsOf(volume["hostPath"]);
  if (path === undefined || /^(?:Socket|CharDevice|BlockDevice)$/.test(String(type))) {
    const { medium } = fieldsOf(volume["emptyDir"]);
    return { name, emptyDir: medium === "Memory" ? { medium } : {} };
  }
  const own = join(directory, name);
  mkdirSync(directory, { recursive: true });
  if (/^File/.test(String(type))) writeFileSync(own, "");
  else mkdirSync(own, { recursive: true });
  return { name, hostPath: { path: own, type } };
}

/** Podman keeps init containers that have ended, with what they have printed. It reads this of the workload, not of its template. */
const KEPT_INITS = { "io.podman.annotations.init.container.type": "always" };

function documentOf({ kind, name, object, metadata }: Workload, spec: Fields): Fields {
  const { labels, annotations } = metadata;
  const described = { ...(labels === undefined ? {} : { labels }), annotations: { ...plain(annotations), ...KEPT_INITS } };
  if (kind === "Pod" || !PLAYED.includes(kind))
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, ...described },
      spec: kind === "Pod" || kind === "CronJob" ? spec : { ...spec, restartPolicy: "Always" },
    };
  const { selector } = fieldsOf(object["spec"]);
  return {
    apiVersion: kind === "Job" ? "batch/v1" : "apps/v1",
    kind,
    metadata: { name, annotations: KEPT_INITS },
    spec: { ...(selector === undefined || kind === "Job" ? {} : { selector }), template: { metadata: described, spec } },
  };
}

/** Those of Podman and of container runtimes ask for something that a stub has not. */
const plain = (annotations: unknown) =>
  Object.fromEntries(Object.entries(fieldsOf(annotations)).filter(([name]) => !/podman|seccomp|apparmor/.test(name)));
