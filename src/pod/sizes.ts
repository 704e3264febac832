/** Sizes of pods that a host offers, as clouds do: a pod has the smallest one that holds it. */
import { z } from "zod";
import { quantityIn } from "./quantity.ts";
import { quantity } from "./schema/field.ts";

export interface PodSize {
  /** Thousandths. */
  readonly cpu: number;
  /** Bytes: from the least to the most that go with it. */
  readonly memory: readonly number[];
}

export interface PodNeed {
  /** Thousandths. */
  readonly cpu: number;
  readonly memory: number;
}

/** undefined: none holds it. @param sizes in any order */
export function sizeFor({ cpu, memory }: PodNeed, sizes: readonly PodSize[]): PodNeed | undefined {
  for (const size of [...sizes].sort((a, b) => a.cpu - b.cpu)) {
    if (size.cpu < cpu) continue;
    const enough = [...size.memory].sort((a, b) => a - b).find((one) => one >= memory);
    if (enough !== undefined) return { cpu: size.cpu, memory: enough };
  }
  return undefined;
}

const schema = z.array(z.strictObject({ cpu: quantity, memory: z.array(quantity).min(1) })).min(1);

/** JSON like [{ "cpu": "250m", "memory": ["512Mi", "1Gi"] }]. @throws SyntaxError, z.ZodError */
export function parseSizes(text: string): PodSize[] {
  return schema
    .parse(JSON.parse(text))
    .map(({ cpu, memory }) => ({ cpu: quantityIn(cpu, 1000), memory: memory.map((one) => quantityIn(one)) }));
}
