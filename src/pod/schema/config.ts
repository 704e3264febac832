/** Documents of kind ConfigMap and Secret, which pods of the same file may refer to. */
import type { ConfigMap, Secret } from "kubernetes-types/core/v1.js";
import { z } from "zod";
import { ignored } from "./field.ts";
import { objectMetadata } from "./metadata.ts";

type Fields<T> = Record<keyof T, z.ZodType>;

const KEY = /^[-._a-zA-Z0-9]{1,253}$/;
const key = z
  .string()
  .regex(KEY, "a key has letters, digits, - _ and .")
  // Source: apimachinery, IsConfigMapKey.
  .refine((value) => value !== "." && !value.startsWith(".."), 'is not "." and does not begin with ".."');
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const base64 = z
  .string()
  .transform((value) => value.replace(/\s/g, ""))
  .refine((value) => BASE64.test(value), "is no base64");

export const configMap = z
  .strictObject({
    apiVersion: z.literal("v1"),
    kind: z.literal("ConfigMap"),
    metadata: objectMetadata,
    immutable: ignored,
    data: z.record(key, z.string()).default({}),
    binaryData: z.record(key, base64).default({}),
  } satisfies Fields<ConfigMap>)
  // Source: ValidateConfigMap of Kubernetes.
  .refine(({ data, binaryData }) => Object.keys(binaryData).every((one) => !Object.hasOwn(data, one)), {
    error: "a key is in data or in binaryData, not in both",
    path: ["binaryData"],
  });

export const secret = z.strictObject({
  apiVersion: z.literal("v1"),
  kind: z.literal("Secret"),
  metadata: objectMetadata,
  immutable: ignored,
  type: ignored,
  data: z.record(key, base64).default({}),
  stringData: z.record(key, z.string()).default({}),
} satisfies Fields<Secret>);
