/** Whether an image is for this host. */
import { signalNumber } from "../../shared/linux/index.ts";
import { ImageError } from "./errors.ts";
import type { Loaded } from "./load.ts";

/** Names of processors: of Node, and of Go. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x64: "amd64",
  arm64: "arm64",
  ia32: "386",
  arm: "arm",
  riscv64: "riscv64",
  s390x: "s390x",
};

/** @throws ImageError image-unsupported, image-invalid */
export function assertFits({ config: { os, architecture, stopSignal } }: Loaded, reference: string): void {
  const own = ARCHITECTURES[process.arch] ?? process.arch;
  if (os !== "linux" || architecture !== own)
    throw new ImageError("image-unsupported", `${reference}: it is for ${os}/${architecture}, and this host is linux/${own}`);
  if (stopSignal !== null && !/^\d+$/.test(stopSignal) && signalNumber(stopSignal.replace(/^SIG/, "")) === undefined)
    throw new ImageError("image-invalid", `${reference}: its stop signal ${JSON.stringify(stopSignal.slice(0, 50))} is none`);
}
