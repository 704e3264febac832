/** What tests of containers in machines need. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./programs.ts";

/** Of `make guest-image`. */
export const VM_CONFIG = join(REPOSITORY, "build/vm/vm.json");

const NEEDS: readonly (readonly [file: string, what: string])[] = [
  ["/usr/bin/qemu-system-x86_64", "the package qemu-system-x86 is not installed"],
  ["/usr/lib/qemu/virtiofsd", "the package qemu-system-common is not installed"],
  [VM_CONFIG, "there is no guest image: make guest-image"],
];

/** Why no machine can be tested here; undefined: it can. */
export function machineMissing(): string | undefined {
  if (process.env["RUNT_TEST_VM"] !== "yes") return "only by make test-vm";
  return NEEDS.find(([file]) => !existsSync(file))?.[1];
}
