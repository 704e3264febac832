/** CVE-2021-43784: what is longer than a length field, so that the rest is read as something else. */
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { type Attack, escaped, held, heldIf, type Outcome } from "../attack.ts";
import { withUserNamespace } from "../inside.ts";
import type { Subject } from "../subject.ts";

/** Two 16-bit fields' worth. */
const MANY_MOUNTS = { short: 1_500, long: 10_000 };

/** Maps of thousands of lines: the container has exactly those, or does not exist. */
async function hugeMaps(subject: Subject): Promise<Outcome> {
  const own = readFileSync("/proc/self/uid_map", "utf8");
  const details: string[] = [];
  for (const count of [200, 341, 6_000, 70_000]) {
    const bundle = subject.bundle((config) => {
      withUserNamespace(config);
      config.linux.uidMappings = Array.from({ length: count }, (_, at) => ({ containerID: at, hostID: 100_000 + 2 * at, size: 1 }));
      config.process.args = ["cat", "/proc/self/uid_map"];
    });
    const { status, stdout } = await subject.call(["run", "-b", bundle, subject.id()]);
    const lines = stdout.trim().split("\n").length;
    details.push(`${count}: ${status === 0 ? "exact" : "refused"}`);
    if (status === 0 && (lines !== count || stdout === own)) return escaped(`${count} mappings: the container has ${lines}`);
  }
  return held(details.join(", "));
}

async function manyMounts(subject: Subject): Promise<Outcome> {
  const source = subject.scratch("source");
  const count = subject.isRunt && subject.rounds >= MANY_MOUNTS.long ? MANY_MOUNTS.long : MANY_MOUNTS.short;
  const bundle = subject.bundle((config) => {
    for (let at = 0; at < count; at++)
      config.mounts.push({ destination: `/dev/many/${at}-${"x".repeat(40)}`, type: "bind", source, options: ["bind", "ro"] });
    config.process.args = [
      "/bin/sh",
      "-c",
      "grep -c /dev/many/ /proc/self/mountinfo; grep CapEff /proc/self/status; readlink /proc/self/ns/mnt",
    ];
  });
  const { status, stdout, stderr } = await subject.call(["run", "-b", bundle, subject.id()]);
  if (status !== 0) return held(stderr.trim() || `status ${status} after the time that it has`);
  const [mounts, capabilities = "", namespace] = stdout.trim().split("\n");
  const own = readlinkSync("/proc/self/ns/mnt");
  const isRight = Number(mounts) === count && capabilities.endsWith("20000420") && namespace !== own;
  return heldIf(isRight, `${mounts} of ${count} mounts, ${capabilities.replace("\t", " ")}`);
}

/** A word longer than 64 KiB, which holds what could be read as the next fields. */
async function longWords(subject: Subject): Promise<Outcome> {
  const words = [65_535, 65_536, 65_540, 131_000].map((length) => "\u0001AB".repeat(length).slice(0, length));
  for (const word of words) {
    const bundle = subject.bundle((config) => {
      config.process.env.push(`LONG=${word}`);
      config.process.args = ["/bin/sh", "-c", 'printf %s "$LONG" | md5sum; id -u'];
      config.process.user = { uid: 1000, gid: 1000 };
    });
    const { status, stdout } = await subject.call(["run", "-b", bundle, subject.id()]);
    const expected = `${createHash("md5").update(word).digest("hex")}  -\n1000\n`;
    if (status === 0 && stdout !== expected) return escaped(`${word.length} bytes arrive as something else: ${stdout}`);
  }
  return held(`${words.map(({ length }) => length).join(", ")} bytes arrive as they are`);
}

const WHY = "a length of 32 bits cannot be left out; test/fuzz-init finds a planted bug of this kind";

export const ATTACKS: readonly Attack[] = [
  {
    id: "CVE-2021-43784",
    title: "id mappings of more than 64 KiB: the rest is read as other settings",
    mechanism: "the runtime writes maps as one text, which the kernel accepts as a whole or not at all; no message contains them",
    why: WHY,
    run: hugeMaps,
  },
  {
    id: "CVE-2021-43784 (mounts)",
    title: `${MANY_MOUNTS.long} mounts`,
    mechanism: "the plan has 32-bit lengths, checked against its size, and no fixed counts",
    why: WHY,
    run: manyMounts,
  },
  {
    id: "CVE-2021-43784 (words)",
    title: "variables of just more than 64 KiB, with bytes that could be fields",
    mechanism: "the same",
    why: WHY,
    run: longWords,
  },
];
