/** Files of an image and tables that a container can write into: whatever they hold, reading them ends soon and never fails. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { hierarchiesIn } from "../../src/runtime/cgroup/index.ts";
import { parseSubordinates } from "../../src/runtime/check/namespaces/host-ids.ts";
import { describeOther, findLoader, parseElf, parseFirstLine } from "../../src/runtime/check/process/executable.ts";
import { findResctrl } from "../../src/runtime/resctrl/schemata.ts";
import { parseMountinfo } from "../../src/shared/linux/index.ts";
import { random } from "../support/random.ts";

const ROUNDS = 3000;
const SLOWEST_MS = 1000;
const HEAD = 4096;

const MOUNTINFO = `21 1 0:20 / /proc rw,nosuid - proc proc rw
22 1 0:21 / /sys/fs/cgroup/cpu rw shared:7 master:1 - cgroup cgroup rw,cpu,cpuacct
23 1 0:22 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
24 1 0:23 / /sys/fs/resctrl rw - resctrl resctrl rw
25 1 8:1 /a\\040b /mnt\\134 ro - ext4 /dev/sda1 rw
`;
const SCRIPT = "\u00ef\u00bb\u00bf \t#!  /bin/sh -e\r\n";

/** A copy with some bytes changed, doubled, cut out, or put in the place of a separator. */
function mutate(bytes: Buffer, next: (below: number) => number): Buffer {
  let result = Buffer.from(bytes);
  for (let changes = 1 + next(6); changes > 0; changes--) {
    const at = next(result.length + 1);
    const size = next(9);
    switch (next(4)) {
      case 0:
        result = Buffer.concat([
          result.subarray(0, at),
          Buffer.alloc(size, [0, 0x20, 0x0a, 0x5c, 0xff, 0x2d][next(6)]),
          result.subarray(at + size),
        ]);
        break;
      case 1:
        result = Buffer.concat([result.subarray(0, at), result.subarray(at + size)]);
        break;
      case 2:
        result = Buffer.concat([result.subarray(0, at), result.subarray(next(at + 1), at), result.subarray(at)]).subarray(0, 4 * HEAD);
        break;
      default:
        if (at < result.length) result[at] = next(256);
    }
  }
  return result;
}

/** Runs each reader over mutated input; the slowest reading of all, in milliseconds of processor time. */
function slowestOf(seed: Buffer, read: (bytes: Buffer) => unknown): number {
  const next = random(7);
  let slowest = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = mutate(seed, next);
    const begin = process.cpuUsage();
    read(bytes);
    const { user, system } = process.cpuUsage(begin);
    slowest = Math.max(slowest, (user + system) / 1000);
  }
  return slowest;
}

const texts: Readonly<Record<string, readonly [string, (text: string) => unknown]>> = {
  "cgroups of mountinfo": [MOUNTINFO, hierarchiesIn],
  "all mounts": [MOUNTINFO, parseMountinfo],
  "resctrl of mountinfo": [MOUNTINFO, findResctrl],
  subuid: ["root:100000:65536\n1000:1:1\n", (text) => parseSubordinates(text, ["root", "1000"])],
  "the first line of a script": [SCRIPT, parseFirstLine],
  "what is no program": [SCRIPT, describeOther],
};

describe("hostile content", () => {
  it.each(Object.entries(texts))("does not stop the reader of %s", (_name, [seed, read]) => {
    expect(slowestOf(Buffer.from(seed, "latin1"), (bytes) => read(bytes.toString("latin1")))).toBeLessThan(SLOWEST_MS);
  });

  it("does not stop the reader of ELF headers, who reads no more than the file has", () => {
    const seed = readFileSync("/bin/true").subarray(0, HEAD);
    const slowest = slowestOf(seed, (bytes) => {
      const elf = parseElf(new Uint8Array(bytes).buffer);
      if (elf === undefined) return;
      const { offset, size, count } = elf.headers;
      const table = bytes.subarray(Math.min(offset, bytes.length), Math.min(offset + size * count, bytes.length));
      const loader = findLoader(elf, new Uint8Array(table).buffer);
      if (loader !== undefined) expect(loader.offset).toBeGreaterThanOrEqual(0);
    });
    expect(slowest).toBeLessThan(SLOWEST_MS);
  });
});
