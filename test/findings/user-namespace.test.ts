/** The root of a user namespace has every capability in it, and none on the host, where limits of processes are looked at. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY, sharedRootfs } from "../support/programs.ts";

const RUNT = join(REPOSITORY, "bin/runt");
const OWN_LIMIT = 200;

const directory = mkdtempSync(join(tmpdir(), "runt-user-namespace-"));
chmodSync(directory, 0o755);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function asItsRoot(...words: string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  const around = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const script = `ulimit -n ${OWN_LIMIT}; exec "$@"`;
  const command = [...around, "sh", "-c", script, "sh", RUNT, "--root", join(directory, "state"), ...words];
  return spawnSync("unshare", command, { encoding: "utf8", timeout: PATIENCE_MS, killSignal: "SIGKILL" });
}

test.each([
  ["the own limit", OWN_LIMIT, []],
  ["a higher limit", OWN_LIMIT + 1, ["rlimit-raise"]],
])("%s", (_, hard, codes) => {
  const config = {
    ociVersion: "1.0.2",
    root: { path: sharedRootfs() },
    process: {
      user: { uid: 0, gid: 0 },
      args: ["/bin/true"],
      env: ["PATH=/bin"],
      cwd: "/",
      rlimits: [{ type: "RLIMIT_NOFILE", soft: 100, hard }],
    },
    mounts: [
      { destination: "/proc", type: "proc", source: "proc" },
      { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["mode=755"] },
    ],
    linux: { namespaces: ["mount", "pid", "ipc", "uts"].map((type) => ({ type })) },
  };
  writeFileSync(join(directory, "config.json"), JSON.stringify(config));
  const { stdout, stderr } = asItsRoot("validate", "-f", "json", "--host", "live", "-b", directory);
  const { findings } = JSON.parse(stdout || JSON.stringify({ findings: [{ code: stderr, severity: "error" }] })) as {
    findings: { code: string; severity: string }[];
  };
  expect(findings.filter(({ severity }) => severity === "error").map(({ code }) => code)).toEqual(codes);
  const run = asItsRoot("run", "-b", directory, `runt-user-namespace-${process.pid}`);
  expect(run.stderr).toContain(codes.length > 0 ? "operation not permitted" : "");
  expect(run.status === 0, run.stderr).toBe(codes.length === 0);
});
