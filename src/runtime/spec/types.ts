/** TypeScript types of config.json, inferred from the schemas. Type-only: zod is never loaded at run time. */
import type { z } from "zod";
import type { hostFacts } from "./schema/host-facts.ts";
import type { process, resources, spec } from "./schema/index.ts";

export type Spec = z.infer<typeof spec>;
export type SpecProcess = z.infer<typeof process>;
export type SpecResources = z.infer<typeof resources>;
export type SpecLinux = NonNullable<Spec["linux"]>;
export type SpecSeccomp = NonNullable<SpecLinux["seccomp"]>;
export type SpecMount = NonNullable<Spec["mounts"]>[number];
export type SpecNamespace = NonNullable<SpecLinux["namespaces"]>[number];
export type SpecDevice = NonNullable<SpecLinux["devices"]>[number];
export type SpecIdMapping = NonNullable<SpecLinux["uidMappings"]>[number];
/** An integer of 64 bits: bigint where a double would not hold it exactly. */
export type Integer = number | bigint;
/** The document of `runt check -f json` and `--host FILE`. */
export type HostFacts = z.infer<typeof hostFacts>;
