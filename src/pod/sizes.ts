/** Sizes of pods that a host offers, like those of cloud providers. A pod gets the smallest size that fits. */
import { z } from "zod";
import { quantityIn } from "./quantity.ts";
import { quantity } from "./schema/field.ts";

export interface PodSize {
  /** In thousandths of a CPU. */
  readonly cpu: number;
  /** In bytes: the amounts that can be combined with this CPU size. */
  readonly memory: readonly number[];
}

export interface PodNeed {
  /** In thousandths of a CPU. */
  readonly cpu: number;
  readonly memory: number;
}

/** The smallest size that fits; undefined: none fits. @param sizes in any order */
export function sizeFor({ cpu, memory }: PodNeed, sizes: readonly PodSize[]): PodNeed | undefined {
  for (const size of [...sizes].sort((a, b) => a.cpu - b.cpu)) {
    if (size.cpu < cpu) continue;
    const enough = [...size.memory].sort((a, b) => a - b).find((one) => one >= memory);
    if (enough !== undefined) return { cpu: size.cpu, memory: enough };
  }
  return undefined;
}

const schema = z.array(z.strictObject({ cpu: quantity, memory: z.array(quantity).min(1) })).min(1);

/** @param text JSON such as [{ "cpu": "250m", "memory": ["512Mi", "1Gi"] }]. @throws SyntaxError, z.ZodError */
export function parseSizes(text: string): PodSize[] {
  return schema
    .parse(JSON.parse(text))
    .map(({ cpu, memory }) => ({ cpu: quantityIn(cpu, 1000), memory: memory.map((one) => quantityIn(one)) }));
}
