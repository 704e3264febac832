/** What is known of virtual machines on this host: of the last one that it has booted (src/runtime/isolation/boot/accelerator.ts writes it). */
import type { HostFacts } from "../../check/index.ts";
import { KNOWN } from "../../isolation/index.ts";
import { readText } from "./read.ts";

export function recordMachines(): Pick<HostFacts, "machines"> {
  try {
    const { accelerator, bootMilliseconds } = JSON.parse(readText(`${KNOWN.directory}/${KNOWN.file}`) ?? "{}") as Record<string, unknown>;
    if ((accelerator !== "kvm" && accelerator !== "tcg") || !Number.isSafeInteger(bootMilliseconds)) return {};
    return { machines: { accelerator, bootMilliseconds: bootMilliseconds as number } };
  } catch (error) {
    // Others may have written it.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
