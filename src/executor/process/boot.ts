/** Which boot of the host this is: a pid and its start ticks are of one boot (random(4)). */
import { readFileSync } from "node:fs";

let known: string | undefined;

export function thisBoot(): string {
  known ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return known;
}

/** Records of an older library do not say it: they are taken to be of this boot. */
export function isOfAnotherBoot(bootId: string | undefined): boolean {
  return bootId !== undefined && bootId !== thisBoot();
}
