/** Translates a pod that a cluster sends, together with its ConfigMaps and Secrets, into a task. The pod must satisfy the profile `restricted`. */

import type { ParsedFile } from "../../engine/spec/index.ts";
import { fieldsOf } from "../../shared/text/index.ts";
import type { ClusterRules, PodHost } from "../manifest/translation.ts";
import { parseFile } from "../parse-file.ts";
import { PROJECTED, withoutCluster } from "./strip.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface ClusterPod {
  readonly pod: Fields;
  readonly configMaps: readonly Fields[];
  readonly secrets: readonly Fields[];
  /** Contents of projected volumes by volume name, such as service account tokens and certificates. */
  readonly projected: readonly Fields[];
}

/** Findings have JSON pointers into the pod. Their line numbers are meaningless. */
export function parseClusterPod(given: ClusterPod, host: PodHost, rules: ClusterRules): ParsedFile {
  const projected = new Map(given.projected.map((one) => [nameOf(one), one]));
  const documents = [
    ...distinct(given.configMaps).map((one) => ({ ...one, apiVersion: "v1", kind: "ConfigMap" })),
    ...distinct(given.secrets).map((one) => ({ ...one, apiVersion: "v1", kind: "Secret" })),
    ...[...projected].map(([name, one]) => ({
      ...one,
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { ...fieldsOf(one["metadata"]), name: `${PROJECTED}${name}`, namespace: namespaceOf(given.pod) },
    })),
    withoutCluster(given.pod, new Set(projected.keys())),
  ];
  return parseFile(documents.map(withPlainMetadata).join("\n---\n"), { ...host, cluster: rules });
}

/** Removes duplicates: each container comes with all its objects, so that an object to which two containers refer is sent twice. */
function distinct(objects: readonly Fields[]): Fields[] {
  return [...new Map(objects.map((one) => [`${namespaceOf(one)}/${nameOf(one)}`, one])).values()];
}

function withPlainMetadata(document: Fields): string {
  const { name, namespace, uid, labels, annotations } = fieldsOf(document["metadata"]);
  return JSON.stringify({ ...document, metadata: { name, namespace, uid, labels, annotations } });
}

function nameOf(object: Fields): string {
  return String(fieldsOf(object["metadata"])["name"] ?? "");
}

function namespaceOf(object: Fields): string {
  return String(fieldsOf(object["metadata"])["namespace"] ?? "default");
}
