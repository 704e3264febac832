/** Removes fields from a pod that the cluster has added or already acted on, so that the pod can be translated on this host. */
import { fieldsOf } from "../../shared/text/index.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Fields about identity and scheduling, which the cluster has already acted on. */
const DECIDED = new Set([
  ...["affinity", "nodeName", "nodeSelector", "preemptionPolicy", "priority", "priorityClassName", "schedulerName", "schedulingGates"],
  ...["serviceAccount", "serviceAccountName", "automountServiceAccountToken", "tolerations", "topologySpreadConstraints"],
]);
const METADATA = ["name", "namespace", "uid", "labels", "annotations"];
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
      ...(Array.isArray(spec["volumes"]) ? { volumes: spec["volumes"].map((volume) => withFiles(fieldsOf(volume), projected)) } : {}),
    },
  };
}

/** Replaces a service account token by the contents that were sent along. */
function withFiles(volume: Fields, projected: ReadonlySet<string>): Fields {
  const { name, projected: source } = volume;
  if (source === undefined || typeof name !== "string" || !projected.has(name)) return volume;
  const { defaultMode } = fieldsOf(source);
  return { name, configMap: { name: `${PROJECTED}${name}`, ...(defaultMode === undefined ? {} : { defaultMode }) } };
}
