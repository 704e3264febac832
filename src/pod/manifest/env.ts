/** Computes the environment of a container, with all references resolved. */
import type { ContainerInput } from "../schema/container.ts";
import { type EnvFromInput, type EnvVarInput, variableName } from "../schema/env.ts";
import { fieldValue, resourceValue } from "./downward.ts";
import { type ObjectKind, textOf } from "./objects.ts";
import type { Path, Translation } from "./translation.ts";

/**
 * The order is that of Kubernetes: first envFrom, then env. Each variable may use the earlier ones, and those of services, which it may replace.
 * Source: kubelet, makeEnvironmentVariables.
 */
export function environmentOf(at: Translation, container: ContainerInput, path: Path): Record<string, string> {
  const values: Record<string, string> = serviceVariables(at, container);
  for (const [index, source] of container.envFrom.entries()) Object.assign(values, allOf(at, source, [...path, "envFrom", index]));
  for (const [index, variable] of container.env.entries()) {
    const value = variableValue(at, container, variable, values, [...path, "env", index]);
    if (value !== undefined) values[variable.name] = value;
  }
  return values;
}

/**
 * Only those that the container refers to: with all of them each new service would replace every pod of its namespace, which a cluster does not.
 */
function serviceVariables(at: Translation, { command, args, env }: ContainerInput): Record<string, string> {
  const texts = JSON.stringify([command, args, env]);
  return Object.fromEntries(Object.entries(at.services.variablesFor(at.pod)).filter(([name]) => texts.includes(`$(${name})`)));
}

function allOf(at: Translation, { prefix, configMapRef, secretRef }: EnvFromInput, path: Path): Record<string, string> {
  const kind = configMapRef === undefined ? "Secret" : "ConfigMap";
  const field = configMapRef === undefined ? "secretRef" : "configMapRef";
  const ref = configMapRef ?? secretRef!;
  const values: Record<string, string> = {};
  for (const [key, content] of entriesOf(at, kind, ref, [...path, field, "name"]) ?? []) {
    const name = `${prefix}${key}`;
    const text = textOf(content);
    if (!variableName.safeParse(name).success)
      at.refuse(`the key ${key} of ${kind} ${ref.name} is no name of a variable`, [...path, field]);
    else if (text === undefined) at.refuse(`the key ${key} of ${kind} ${ref.name} is no text`, [...path, field]);
    else values[name] = text;
  }
  return values;
}

/** undefined: the variable has no value, or its reference was refused. */
function variableValue(
  at: Translation,
  container: ContainerInput,
  { value, valueFrom }: EnvVarInput,
  before: Readonly<Record<string, string>>,
  path: Path,
): string | undefined {
  if (valueFrom === undefined) return at.expand(value ?? "", before, [...path, "value"]);
  const { configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef } = valueFrom;
  const from: Path = [...path, "valueFrom"];
  if (fieldRef !== undefined) return fieldValue(at, fieldRef, [...from, "fieldRef"], "env");
  if (resourceFieldRef !== undefined) return resourceValue(at, container, resourceFieldRef, [...from, "resourceFieldRef"]);
  const kind = configMapKeyRef === undefined ? "Secret" : "ConfigMap";
  const field = configMapKeyRef === undefined ? "secretKeyRef" : "configMapKeyRef";
  const ref = configMapKeyRef ?? secretKeyRef!;
  const entries = entriesOf(at, kind, ref, [...from, field, "name"]);
  if (entries === undefined) return undefined;
  const content = entries.get(ref.key);
  if (content === undefined) {
    if (!ref.optional) at.refuse(`${kind} ${ref.name} has no key ${ref.key}`, [...from, field, "key"], "unknown-reference");
    return undefined;
  }
  const text = textOf(content);
  if (text === undefined) at.refuse(`the key ${ref.key} of ${kind} ${ref.name} is no text`, [...from, field, "key"]);
  return text;
}

/** undefined: the object is missing. Unless it is optional, this was reported. */
export function entriesOf(at: Translation, kind: ObjectKind, ref: { readonly name: string; readonly optional: boolean }, path: Path) {
  const entries = at.objects.get(kind, at.namespace, ref.name);
  if (entries === undefined && !ref.optional) {
    at.refuse(`the file has no ${kind} ${ref.name} in namespace ${at.namespace}`, path, "unknown-reference");
  }
  return entries;
}
