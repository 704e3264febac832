/** ConfigMaps, Secrets and claims of a manifest, and those that its pods name and it lacks. */
import { type Fields, fieldsOf, listOf } from "../compose-model/view.ts";

type Kind = "ConfigMap" | "Secret";

/** Kind and name -> the keys that somebody names. */
type Wanted = Map<string, Set<string>>;

/** @param specs of pods, as they are played */
export function objectsFor(objects: readonly Fields[], specs: readonly Fields[]): Fields[] {
  const wanted: Wanted = new Map();
  for (const spec of specs) collect(spec, wanted);
  const own = objects.map(keptOf).filter((one) => one !== undefined);
  const made = [...wanted].flatMap(([id, keys]): Fields[] => {
    const [kind, name] = id.split(" ") as [Kind, string];
    const there = own.find((one) => one["kind"] === kind && fieldsOf(one["metadata"])["name"] === name);
    const missing = [...keys].filter((key) => !keysOf(there).includes(key));
    if (there === undefined) return [contents(kind, name, missing.length > 0 ? missing : ["key"])];
    const field = kind === "Secret" ? "stringData" : "data";
    if (missing.length > 0) Object.assign(there, { [field]: { ...fieldsOf(there[field]), ...textsFor(missing) } });
    return [];
  });
  return [...own, ...made];
}

const keysOf = (object: Fields = {}) => ["data", "stringData", "binaryData"].flatMap((field) => Object.keys(fieldsOf(object[field])));
const textsFor = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, `value of ${key}`]));

function contents(kind: Kind, name: string, keys: readonly string[]): Fields {
  return { apiVersion: "v1", kind, metadata: { name }, [kind === "Secret" ? "stringData" : "data"]: textsFor(keys) };
}

/** Without the namespace: Podman has none. */
function keptOf({ kind, metadata, apiVersion, spec, ...rest }: Fields): Fields | undefined {
  const own = { apiVersion, kind, metadata: { name: fieldsOf(metadata)["name"] } };
  if (kind === "ConfigMap" || kind === "Secret") {
    const { data, stringData, binaryData } = rest;
    const parts = Object.entries({ data, stringData, binaryData }).filter(([, value]) => value !== undefined && value !== null);
    return { ...own, ...Object.fromEntries(parts) };
  }
  if (kind !== "PersistentVolumeClaim") return undefined;
  const { accessModes = ["ReadWriteOnce"], resources = { requests: { storage: "1Gi" } } } = fieldsOf(spec);
  return { ...own, spec: { accessModes, resources } };
}

function collect(spec: Fields, wanted: Wanted): void {
  const add = (kind: Kind, { name, optional, key, items }: Fields) => {
    if (name === undefined || optional === true) return;
    const id = `${kind} ${String(name)}`;
    const keys = [...(key === undefined ? [] : [key]), ...listOf(items).map((one) => fieldsOf(one)["key"])].map(String);
    wanted.set(id, new Set([...(wanted.get(id) ?? []), ...keys]));
  };
  for (const { configMap, secret } of listOf(spec["volumes"]).map(fieldsOf)) {
    add("ConfigMap", fieldsOf(configMap));
    const { secretName, ...rest } = fieldsOf(secret);
    add("Secret", { ...rest, name: secretName });
  }
  for (const container of ["initContainers", "containers"].flatMap((field) => listOf(spec[field]).map(fieldsOf))) {
    for (const { valueFrom } of listOf(container["env"]).map(fieldsOf)) {
      add("ConfigMap", fieldsOf(fieldsOf(valueFrom)["configMapKeyRef"]));
      add("Secret", fieldsOf(fieldsOf(valueFrom)["secretKeyRef"]));
    }
    for (const { configMapRef, secretRef } of listOf(container["envFrom"]).map(fieldsOf)) {
      add("ConfigMap", fieldsOf(configMapRef));
      add("Secret", fieldsOf(secretRef));
    }
  }
}
