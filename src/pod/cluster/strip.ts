/** A pod as a cluster sends it -> as this host takes it: without what the cluster has decided already, and what it adds to each pod. */

type Fields = Readonly<Record<string, unknown>>;

/** Who it runs for, and where: decided before it was sent here. */
const DECIDED = new Set([
  ...["affinity", "nodeName", "nodeSelector", "preemptionPolicy", "priority", "priorityClassName", "schedulerName", "schedulingGates"],
  ...["serviceAccount", "serviceAccountName", "automountServiceAccountToken", "tolerations", "topologySpreadConstraints"],
]);
const METADATA = ["name", "namespace", "uid", "labels", "annotations"];
/** What the API server writes where nobody has said anything. Source: Kubernetes API reference, Container. */
const MESSAGE_PATH = "/dev/termination-log";

/** Volumes with these names have become ConfigMaps. */
export const PROJECTED = "projected.";

/** @param projected names of volumes whose files were sent along */
export function withoutCluster(pod: Fields, projected: ReadonlySet<string>): Fields {
  const spec = fieldsOf(pod["spec"]);
  const kept = Object.fromEntries(Object.entries(spec).filter(([key]) => !DECIDED.has(key)));
  const metadata = fieldsOf(pod["metadata"]);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: Object.fromEntries(METADATA.flatMap((key) => (metadata[key] === undefined ? [] : [[key, metadata[key]]]))),
    spec: {
      ...kept,
      ...lists(spec, ["containers", "initContainers"], withoutDefaults),
      ...lists(spec, ["volumes"], (volume) => withFiles(volume, projected)),
    },
  };
}

function lists(spec: Fields, names: readonly string[], change: (one: Fields) => Fields): Fields {
  return Object.fromEntries(
    names.flatMap((name) => (Array.isArray(spec[name]) ? [[name, spec[name].map((one) => change(fieldsOf(one)))]] : [])),
  );
}

function withoutDefaults(container: Fields): Fields {
  const { terminationMessagePath: path, ...rest } = container;
  return path === undefined || path === MESSAGE_PATH ? rest : container;
}

/** The token of a service account is a file that was sent along. */
function withFiles(volume: Fields, projected: ReadonlySet<string>): Fields {
  const { name, projected: source } = volume;
  if (source === undefined || typeof name !== "string" || !projected.has(name)) return volume;
  const { defaultMode } = fieldsOf(source);
  return { name, configMap: { name: `${PROJECTED}${name}`, ...(defaultMode === undefined ? {} : { defaultMode }) } };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
