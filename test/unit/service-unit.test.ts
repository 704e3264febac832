/** packaging/runtd.service, as systemd reads it, and what the removal of the package says. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";

const ANALYZE = "/usr/bin/systemd-analyze";
const UNITS = ["runtd.service", "runtd.socket"] as const;

describe.skipIf(!existsSync(ANALYZE))("the units (needs systemd-analyze)", () => {
  /** What the program prints with the units in a directory of their own. `%` is the path of the service. */
  function analyze(...words: readonly string[]): string {
    const directory = mkdtempSync(join(tmpdir(), "runt-units-"));
    try {
      for (const name of UNITS) {
        const text = readFileSync(join(REPOSITORY, "packaging", name), "utf8").replaceAll("@BINDIR@/runtd", process.execPath);
        writeFileSync(join(directory, name), text);
      }
      const args = words.map((word) => word.replace("%", directory));
      return execFileSync(ANALYZE, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    } finally {
      rmSync(directory, { recursive: true });
    }
  }

  test("docs/engine/service.md has the reason for each setting that systemd-analyze security misses, and its figure", () => {
    const page = readFileSync(join(REPOSITORY, "docs/engine/service.md"), "utf8");
    const words = ["security", "--offline=yes", "--threshold=100", "%/runtd.service"];
    const found = JSON.parse(analyze(...words, "--json=short")) as { set: boolean | null; name: string; exposure: string | null }[];
    const missing = found.filter(({ set }) => set === false).flatMap(({ name }) => name.split("=")[0]!);
    expect(missing.length).toBeGreaterThan(20);
    const row = (name: string) => new RegExp(`^\\|[^|]*\`${name}\`[^|]*\\|`, "m");
    expect([...new Set(missing)].filter((name) => !row(name).test(page))).toEqual([]);
    const [, figure] = /Overall exposure level for runtd\.service: ([\d.]+)/.exec(analyze(...words))!;
    expect(page).toContain(`\n${figure}, about the same`);
  });

  test("both units are valid for systemd", () => {
    expect(analyze("verify", "--man=no", "--recursive-errors=no", "%/runtd.service", "%/runtd.socket")).toBe("");
  });
});

test("removing the package warns of running containers, and stops socket and daemon", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-prerm-"));
  try {
    const stub = (name: string, text: string) => writeFileSync(join(directory, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const list = "ID PID STATUS BUNDLE CREATED OWNER\na 1 running /b now root\nb 2 stopped /b now root\nc 3 running /b now root";
    stub("runt", `echo "$@" >>${directory}/asked\ncat <<'END'\n${list}\nEND`);
    stub("deb-systemd-invoke", `echo "$@" >>${directory}/asked`);
    const run = (verb: string) =>
      spawnSync("sh", [join(REPOSITORY, "packaging/debian/prerm"), verb], {
        encoding: "utf8",
        env: { PATH: `${directory}:${process.env["PATH"]}` },
      });
    expect(run("upgrade")).toMatchObject({ status: 0, stderr: "" });
    expect(existsSync(join(directory, "asked"))).toBe(false);
    const removed = run("remove");
    expect([removed.status, removed.stderr]).toEqual([0, expect.stringContaining("go on running without their daemon: 2.")]);
    expect(readFileSync(join(directory, "asked"), "utf8")).toContain("--root /var/lib/runtd/executors/@runtime list\n");
  } finally {
    rmSync(directory, { recursive: true });
  }
});
