/**
 * What comes out of a verb does not hang on which of its processes is given a processor: one of them is late at one of its points, and everything
 * is as without. A sample of the points, drawn by RUNT_DELAYS_SEED; RUNT_DELAYS=all for each (make test-delays).
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Point, readPoints } from "../faults/point.ts";
import { hasControllers } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, isSwitchedOff, type Result, shell, useHarness } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";
import { random } from "../support/random.ts";

const TESTING = join(REPOSITORY, "build/testing/runt");
const ALL = process.env["RUNT_DELAYS"] === "all";
const SAMPLE = 24;
const SEED = Number(process.env["RUNT_DELAYS_SEED"] ?? 1);
/** They sleep, nearly all of the time. */
const AT_ONCE = 12;

const LOOK = `id; pwd; umask; hostname; ls -lan /dev | sed 's/ [A-Z][a-z][a-z] .*:[0-9]* / /'
grep -E '^(Cap|Uid|Gid|Groups|NoNewPrivs|Seccomp:)' /proc/self/status
cut -d ' ' -f 5- /proc/self/mountinfo | sed 's/ master:[0-9]*//'`;
const CGROUPS = { destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "noexec", "nodev", "ro"] };
const TMP = { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["nosuid"] };
const HOOK = { path: "/bin/sh", args: ["sh", "-c", "cat > /dev/null; exit 0"] };

/** Configurations whose plans the schedule orders in another way, and the status of `run`. */
const CONFIGS: readonly (readonly [string, number, (config: Config) => void])[] = [
  ["without cgroup mounts", 0, () => {}],
  ["with cgroup mounts at the end", 0, ({ mounts }) => mounts.push(CGROUPS)],
  ["with a mount behind those of cgroups", 0, ({ mounts }) => mounts.push(CGROUPS, TMP)],
  [
    "with a cgroup namespace",
    0,
    ({ mounts, linux }) => {
      mounts.push(CGROUPS, TMP);
      linux.namespaces.push({ type: "cgroup" });
    },
  ],
  [
    "with a user namespace",
    0,
    ({ linux }) => {
      linux.namespaces.push({ type: "user" });
      linux.uidMappings = [{ containerID: 0, hostID: 0, size: 65_536 }];
      linux.gidMappings = linux.uidMappings;
    },
  ],
  [
    "with hooks",
    0,
    (config) => {
      const kinds = ["prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"];
      config["hooks"] = Object.fromEntries(kinds.map((kind) => [kind, [HOOK]]));
    },
  ],
  [
    "with a filter and limits",
    0,
    ({ linux, process }) => {
      linux["seccomp"] = { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO" }] };
      if (hasControllers) linux.resources = { ...linux.resources, memory: { limit: 1 << 27 }, pids: { limit: 50 } };
      process["oomScoreAdj"] = 100;
      process.user = { uid: 1000, gid: 1000 };
    },
  ],
  [
    "of a program that may not be executed, which only init has",
    1,
    ({ process }) => {
      process.args = ["/proc/version"];
    },
  ],
  ["whose mount fails", 1, ({ mounts }) => mounts.push({ ...TMP, type: "bind", source: "/nonexistent/of/the/test", options: ["bind"] })],
];

describe.skipIf(!isRoot || !isRunt || !existsSync(TESTING) || isSwitchedOff("schedule"))("a process that is late (needs root)", () => {
  const { bundle, directory, id, ok, root, until } = useHarness();
  const draw = random(SEED);

  function chosen(points: readonly Point[]): readonly Point[] {
    if (ALL) return points;
    return Array.from({ length: SAMPLE }, () => points[draw(points.length)]!);
  }

  /** The command line behind --root, for a container of this name, and what is to be there before. */
  type Command = (name: string) => Promise<readonly string[]>;

  async function observe(command: Command, fault: string, log?: string): Promise<Result> {
    const name = id();
    const args = await command(name);
    const env = { ...process.env, RUNT_FAULT: fault, ...(log && { RUNT_FAULT_LOG: log }) };
    const { stdout, stderr, ...rest } = await call(directory, [TESTING, "--root", root, ...args], { env });
    await ok(["delete", "--force", name]);
    const plain = (text: string) => text.replaceAll(name, "ID").replace(/bundle-\d+/g, "BUNDLE");
    return { ...rest, stdout: plain(stdout), stderr: plain(stderr) };
  }

  async function isTheSame(command: Command, status = 0): Promise<void> {
    const log = join(directory, "points");
    rmSync(log, { force: true });
    const expected = await observe(command, "none:1:delay", log);
    expect(expected).toMatchObject({ status });
    const points = readPoints(log);
    expect(points.length).toBeGreaterThan(5);
    const left = [...chosen(points)];
    const different: unknown[] = [];
    const work = async () => {
      for (let point = left.pop(); point !== undefined; point = left.pop()) {
        const fault = `${point.process}:${point.number}:delay`;
        const got = await observe(command, fault);
        if (JSON.stringify(got) !== JSON.stringify(expected)) different.push({ fault, at: point.name, ...got });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    expect(different).toEqual([]);
  }

  const TIMEOUT_MS = 600_000;

  test.each(CONFIGS)(
    "run %s",
    (_, status, change) => {
      const path = () =>
        bundle((config) => {
          config.mounts = config.mounts.filter(({ type }) => type !== "cgroup" && type !== "cgroup2");
          config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
          shell(config, LOOK);
          change(config);
        });
      return isTheSame(async (name) => ["run", "-b", path(), name], status);
    },
    TIMEOUT_MS,
  );

  const waiting = () => bundle((config) => shell(config, "while :; do sleep 0.1; done"));
  const created = async (name: string) => ok(["create", "-b", waiting(), name]);
  const running = async (name: string) => ok(["run", "-d", "-b", waiting(), name]);
  test.each<[string, number, (name: string) => Promise<unknown>, (name: string) => string[]]>([
    ["start", 0, created, (name) => ["start", name]],
    ["exec", 3, running, (name) => ["exec", name, "sh", "-c", "id; cat /proc/self/cgroup | wc -l; exit 3"]],
    ["exec of another user", 0, running, (name) => ["exec", "--user", "7:8", "--cwd", "/tmp", name, "sh", "-c", "id; pwd"]],
    ["exec of a program that is missing", 255, running, (name) => ["exec", name, "/bin/sleeep"]],
    ["pause", 0, running, (name) => ["pause", name]],
    ["kill", 0, running, (name) => ["kill", name, "KILL"]],
    ["delete by force", 0, running, (name) => ["delete", "--force", name]],
  ])(
    "%s",
    (_, status, before, args) =>
      isTheSame(async (name) => {
        await before(name);
        return args(name);
      }, status),
    TIMEOUT_MS,
  );

  test(
    "start of a program that cannot be executed: what it says of the reason is true, or it says none",
    async () => {
      const app = join(directory, "app");
      mkdirSync(app);
      writeFileSync(join(app, "start"), "#!/usr/bin/python3\n", { mode: 0o755 });
      const change = (config: Config) => {
        config.mounts.push({ destination: "/app", type: "bind", source: app, options: ["rbind", "ro"] });
        config.process.args = ["/app/start"];
      };
      const command = async (name: string) => {
        await ok(["create", "-b", bundle(change), name]);
        return ["start", name];
      };
      const log = join(directory, "points");
      rmSync(log, { force: true });
      const first = await observe(command, "none:1:delay", log);
      const points = readPoints(log);
      const others = await Promise.all(points.map(({ process, number }) => observe(command, `${process}:${number}:delay`)));
      const unexplained = "runt: unable to start container process: exec /app/start: no such file or directory\n";
      expect(first.stderr).toMatch(/: \/app\/start is a script for \/usr\/bin\/python3, which is missing/);
      expect(others.filter(({ stderr }) => stderr !== first.stderr && stderr !== unexplained)).toEqual([]);
      expect(others.some(({ stderr }) => stderr === unexplained)).toBe(true);
    },
    TIMEOUT_MS,
  );

  test(
    "delete",
    () =>
      isTheSame(async (name) => {
        await running(name);
        await ok(["kill", name, "KILL"]);
        await until(name, "stopped");
        return ["delete", name];
      }),
    TIMEOUT_MS,
  );
});
