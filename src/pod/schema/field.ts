/** Building blocks of the schemas: fields that are refused by name, and strings in formats of Kubernetes. */
import type { LabelSelector, LabelSelectorRequirement } from "kubernetes-types/meta/v1.js";
import { z } from "zod";
import { isQuantity } from "../quantity.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

/** A Kubernetes field that this engine does not support. The finding says why. */
export const refused = (why: string) => z.never({ error: `is not supported: ${why}` }).optional();

export const LEFT_OUT = "--ignore-cluster-fields leaves it out";

/** A field that has a meaning only in a cluster. It is refused, or left out with `--ignore-cluster-fields` (manifest/cluster-fields.ts). */
export const ofCluster = (why: string) => refused(`${why}; ${LEFT_OUT}`);

/** Like `refused`, for a field whose empty value counts as absent, as in Kubernetes: programs write empty values. */
const refusedUnless = <T>(isEmpty: (value: unknown) => boolean, why: string) =>
  z.custom<T>(isEmpty, { error: `is not supported: ${why}` }).optional();

export const refusedUnlessEmpty = (why: string) =>
  refusedUnless<Readonly<Record<string, never>>>(
    (value) => typeof value === "object" && value !== null && Object.keys(value).length === 0,
    why,
  );
export const refusedList = (why: string) => refusedUnless<readonly never[]>((value) => Array.isArray(value) && value.length === 0, why);
export const refusedText = (why: string) => refusedUnless<"">((value) => value === "", why);
export const refusedNumber = (why: string) => refusedUnless<0>((value) => value === 0, why);

/** A field that is accepted only with the value that describes what the engine does in any case. */
export const only = <const T extends string | number | boolean>(value: T, why: string) =>
  z.literal(value, { error: `only ${JSON.stringify(value)} is supported: ${why}` }).optional();

/** One of these words. An empty string counts as absent, as in Kubernetes. @param error message for other values */
export const wordOf = <const T extends readonly [string, ...string[]]>(words: T, error?: string) =>
  z.preprocess(withoutEmpty, z.enum(words, error).optional()).optional();

/** Like wordOf, with a default. */
export const wordOr = <const T extends readonly [string, ...string[]]>(words: T, otherwise: T[number], error?: string) =>
  z
    .preprocess(
      withoutEmpty,
      z
        .enum(words, error)
        .optional()
        .transform((word) => word ?? otherwise),
    )
    .prefault("");

/** A value that counts as absent if it is an empty string, as in Kubernetes. */
export const unlessEmpty = <T extends z.ZodType>(schema: T) => z.preprocess(withoutEmpty, schema.optional()).optional();

function withoutEmpty(given: unknown): unknown {
  return given === "" ? undefined : given;
}

/** A field that has no effect on a single host. */
export const ignored = z.unknown().optional();

export const text = z.string().refine((value) => !value.includes("\0"), "has a NUL character in it");

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
/** RFC 1123 label: names of pods, containers and volumes. */
export const dnsLabel = z.string().regex(LABEL, "use 1 to 63 of a-z 0-9 -, with a letter or digit at both ends");

export const quantity = z
  .union([z.string().refine(isQuantity, 'write a quantity like "500m", "64Mi" or "1e3"'), z.number()])
  .refine((value) => !String(value).startsWith("-"), "is negative");

export const stringMap = z.record(z.string(), text);

export const SUBDOMAIN = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/;
/** RFC 1123 subdomain: names of most objects. */
export const subdomain = z.string().regex(SUBDOMAIN, "use 1 to 253 of a-z 0-9 - ., with a letter or digit at both ends");
const WORD = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Source: apimachinery, IsQualifiedName. */
function isLabelKey(key: string): boolean {
  const [name = "", prefix, ...more] = key.split("/").toReversed();
  return WORD.test(name) && more.length === 0 && (prefix === undefined || SUBDOMAIN.test(prefix));
}

/** Source: apimachinery, IsValidLabelValue. */
const labelValue = z
  .string()
  .refine(
    (value) => value === "" || WORD.test(value),
    "is no value of a label: use at most 63 of A-Z a-z 0-9 - _ ., with a letter or digit at both ends",
  );
export const labels = z.record(z.string().refine(isLabelKey, "is no key of a label, such as app or example.org/app"), labelValue);

export const labelSelector = z.strictObject({
  matchLabels: labels.optional(),
  matchExpressions: z
    .array(
      z.strictObject({
        key: z.string().min(1),
        operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]),
        values: z.array(z.string()).default([]),
      } satisfies Fields<LabelSelectorRequirement>),
    )
    .optional(),
} satisfies Fields<LabelSelector>);

const MOST_SECONDS = 315_360_000;
export const seconds = (least: number) => z.int().min(least).max(MOST_SECONDS);
/** Seconds of which 0 means the default. Source: Kubernetes, SetDefaults_Probe. */
export const secondsOr = (otherwise: number) => numberOr(otherwise, MOST_SECONDS);
/** A number of which 0 means the default. */
export const numberOr = (otherwise: number, most: number) =>
  z
    .int()
    .min(0)
    .max(most)
    .default(otherwise)
    .transform((given) => given || otherwise);
