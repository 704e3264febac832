/** Removes fields from a pod that the cluster has added or already acted on, so that the pod can be translated on this host. */

type Fields = Readonly<Record<string, unknown>>;

/** Fields about identity and scheduling, which the cluster has already acted on. */
const DECIDED = new Set([
  ...["affinity", "nodeName", "nodeSelector", "preemptionPolicy", "priority", "priorityClassName", "schedulerName", "schedulingGates"],
  ...["serviceAccount", "serviceAccountName", "automountServiceAccountToken", "tolerations", "topologySpreadConstraints"],
]);
const METADATA = ["name", "namespace", "uid", "labels", "annotations"];
/** The API server's default for terminationMessagePath. Source: Kubernetes API reference, Container. */
const MESSAGE_PATH = "/dev/termination-log";

/** Prefix of the names of projected volumes, whose contents were sent as ConfigMaps. */
export const PROJECTED = "projected.";

/** @param projected names of volumes whose contents were sent along */
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

/** Replaces a service account token by the contents that were sent along. */
function withFiles(volume: Fields, projected: ReadonlySet<string>): Fields {
  const { name, projected: source } = volume;
  if (source === undefined || typeof name !== "string" || !projected.has(name)) return volume;
  const { defaultMode } = fieldsOf(source);
  return { name, configMap: { name: `${PROJECTED}${name}`, ...(defaultMode === undefined ? {} : { defaultMode }) } };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
