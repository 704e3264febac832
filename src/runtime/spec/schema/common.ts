/**
 * Building blocks of the schemas. Only structure is described here: the build turns these into a standalone validator,
 * and refinements or transforms would vanish on the way (tools/gen-schema.ts refuses them).
 */
import { z } from "zod";

/** Names of the integer types the validator's `int` keyword checks. */
export type IntegerType = "int64" | "uint64" | "int32" | "uint32" | "uint16";

/** An absent field: Go's encoders write null for nil slices, maps and pointers, so null means the same as leaving it out. */
export const optional = <T extends z.ZodType>(schema: T): z.ZodOptional<z.ZodNullable<T>> => schema.nullish();

export const text = z.string();
export const flag = z.boolean();
export const texts = z.array(text);
export const textMap = z.record(text, text);

// A JSON number is a double; integers of 64 bits are bigint where the double would not be exact.
const exactInteger = (int: IntegerType) => z.union([z.number(), z.bigint()]).meta({ int });
const smallInteger = (int: IntegerType) => z.number().meta({ int });

export const int64 = exactInteger("int64");
export const uint64 = exactInteger("uint64");
export const int32 = smallInteger("int32");
export const uint32 = smallInteger("uint32");
export const uint16 = smallInteger("uint16");

/** An entry of uidMappings or gidMappings (config-linux, user namespace mappings). */
export const idMapping = z.object({ containerID: uint32, hostID: uint32, size: uint32 }).meta({ id: "idMapping" });
