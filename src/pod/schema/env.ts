/** Environment variables: values, and references to values. */
import type {
  ConfigMapEnvSource,
  ConfigMapKeySelector,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  ObjectFieldSelector,
  ResourceFieldSelector,
} from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { only, quantity, refused, text } from "./field.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

/** Source: apimachinery, IsRelaxedEnvVarName: every printable character of ASCII except "=". */
const VARIABLE = /^[ -<>-~]+$/;
export const variableName = z.string().regex(VARIABLE, "a variable has printable characters of ASCII, and no =");

const optional = z.boolean().default(false);
const keyRef = z.strictObject({ name: z.string().min(1), key: z.string().min(1), optional } satisfies Fields<ConfigMapKeySelector>);
const objectRef = z.strictObject({ name: z.string().min(1), optional } satisfies Fields<ConfigMapEnvSource>);

export const fieldRef = z.strictObject({
  apiVersion: only("v1", "the fields are those of v1"),
  fieldPath: z.string().min(1),
} satisfies Fields<ObjectFieldSelector>);

export const resourceFieldRef = z.strictObject({
  containerName: z.string().optional(),
  resource: z.enum(["limits.cpu", "limits.memory", "requests.cpu", "requests.memory"], {
    error: "only limits and requests of cpu and memory are known here",
  }),
  divisor: quantity.optional(),
} satisfies Fields<ResourceFieldSelector>);

const valueFrom = z
  .strictObject({
    configMapKeyRef: keyRef.optional(),
    secretKeyRef: keyRef.optional(),
    fieldRef: fieldRef.optional(),
    resourceFieldRef: resourceFieldRef.optional(),
    fileKeyRef: refused("variables are known before a container writes a file"),
  } satisfies Fields<EnvVarSource & { fileKeyRef?: unknown }>)
  .refine((source) => Object.values(source).filter((one) => one !== undefined).length === 1, "has to name exactly one source");

export const envVar = z
  .strictObject({ name: variableName, value: text.optional(), valueFrom: valueFrom.optional() } satisfies Fields<EnvVar>)
  .refine(({ value, valueFrom: from }) => !value || from === undefined, "has a value and a source: give one");

export const envFrom = z
  .strictObject({
    prefix: z.string().default(""),
    configMapRef: objectRef.optional(),
    secretRef: objectRef.optional(),
  } satisfies Fields<EnvFromSource>)
  .refine(({ configMapRef, secretRef }) => (configMapRef === undefined) !== (secretRef === undefined), "has to name exactly one source");

export type EnvVarInput = z.output<typeof envVar>;
export type EnvFromInput = z.output<typeof envFrom>;
export type FieldRef = z.output<typeof fieldRef>;
export type ResourceFieldRef = z.output<typeof resourceFieldRef>;
