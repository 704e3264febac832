/** A configuration of 12 MB is looked at in three seconds of processor time on an idle machine, whatever makes it large. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sampleConfig } from "../support/config.ts";
import { REPOSITORY } from "../support/programs.ts";

const BYTES = 12_000_000;
const SECONDS = 3;
/** Two threads of one processor core slow each other down, and so do other guests of the machine that this one is a guest of. */
const SHARED_CORE = 3;

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
const pad = (number: number) => String(number).padEnd(80, "x");

interface Document {
  process: { env: string[] };
  mounts: object[];
  linux: { seccomp?: object };
  annotations?: Record<string, string>;
}

const SHAPES: Readonly<Record<string, (config: Document, units: number) => void>> = {
  annotations: (config, units) => {
    config.annotations = Object.fromEntries(numbers(units).map((number) => [`org.example.${number}`, pad(number)]));
  },
  environment: (config, units) => {
    config.process.env = numbers(units).map((number) => `NAME_${number}=${pad(number)}`);
  },
  "bind mounts": (config, units) => {
    const options = ["rbind", "ro", "nosuid", "nodev", "noexec"];
    config.mounts.push(...numbers(units).map((number) => ({ destination: `/data/${number}`, type: "bind", source: "/etc", options })));
  },
  "rules of seccomp": (config, units) => {
    const rule = (number: number) => ({
      names: [`call_${number}`],
      action: "SCMP_ACT_ERRNO",
      args: [{ index: 0, value: number, op: "SCMP_CMP_EQ" }],
    });
    config.linux.seccomp = { defaultAction: "SCMP_ACT_ALLOW", syscalls: numbers(units).map(rule) };
  },
};

function documentOf(fill: (config: Document, units: number) => void): string {
  const written = (units: number) => {
    const config = structuredClone(sampleConfig("hello")) as unknown as Document;
    fill(config, units);
    return JSON.stringify(config);
  };
  return written(Math.ceil((BYTES * 1000) / written(1000).length));
}

test.each(Object.entries(SHAPES))("12 MB of %s", (_, fill) => {
  const directory = mkdtempSync(join(tmpdir(), "runt-large-"));
  try {
    mkdirSync(join(directory, "rootfs"));
    const text = documentOf(fill);
    expect(text.length).toBeGreaterThan(BYTES * 0.95);
    writeFileSync(join(directory, "config.json"), text);
    // times(1p): the second line is of the children, minutes and seconds of user and system time.
    const script = `"$0" validate -q "$1"; echo "status $?"; times`;
    const { stdout, stderr } = spawnSync("sh", ["-c", script, join(REPOSITORY, "bin/runt"), directory], { encoding: "utf8" });
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^status [01]\n/);
    const [, , children = ""] = stdout.trimEnd().split("\n");
    const seconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
      (sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest),
      0,
    );
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(SECONDS * SHARED_CORE);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
