/**
 * Random mounts, links, working directories and users under runt and under Debian's runc: both fail, or the program sees the same and the same
 * has been made in the root file system. RUNT_TEST_BUNDLES: how many (default: the same 20 each time).
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Config, Mount } from "../support/config.ts";
import { call, isRoot, RUNTIME, shell, useHarness } from "../support/harness.ts";

const RUNC = "/usr/sbin/runc";
const BUNDLES = Number(process.env["RUNT_TEST_BUNDLES"] ?? 20);
const SEED = 20_261_127;
const SOURCES = ["directory-1", "directory-2", "directory-3", "directory-4", "file"];
const LOOK = `pwd; umask; grep -E "^(Cap|Uid|Gid|Groups|NoNewPrivs)" /proc/self/status; env | sort
cut -d " " -f 4- /proc/self/mountinfo | sed "s/ master:[0-9]*//; s/ - .*//" | grep " /top"
find /top /made /linked | sort; for place in $(find /top -type d | sort); do stat -c "%n %a %u %g" $place; done`;

/** Names of which one begins with another, and few of them: paths meet. */
const names = (most: number) =>
  fc.array(fc.constantFrom("a", "ab", "b"), { minLength: 1, maxLength: most }).map((parts) => parts.join("/"));
const below = (most: number) => names(most).map((path) => `/top/${path}`);
const destination = fc.oneof(
  { weight: 6, arbitrary: below(5) },
  { weight: 1, arbitrary: below(3).map((path) => `${path}/`) },
  { weight: 1, arbitrary: below(3).map((path) => path.replace("/", "//")) },
  { weight: 1, arbitrary: names(3).map((path) => `/top/./${path}`) },
  { weight: 1, arbitrary: names(2).map((path) => `/../top/${path}`) },
);
const options = fc.subarray(["nosuid", "nodev", "noexec", "ro", "noatime"]);
const mount = (directory: string): fc.Arbitrary<Mount> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        destination,
        type: fc.constantFrom("bind", "none"),
        source: fc.constantFrom(...SOURCES).map((name) => join(directory, "sources", name)),
        options: fc.tuple(fc.constantFrom("bind", "rbind"), options).map(([kind, more]) => [kind, ...more]),
      }),
    },
    // runc makes a tmpfs read-only at the end, by its path, where something else may be mounted by then.
    {
      weight: 1,
      arbitrary: fc.record({
        ...{ destination, type: fc.constant("tmpfs"), source: fc.constant("tmpfs") },
        options: options.map((words) => words.filter((word) => word !== "ro")),
      }),
    },
  );
const CAPABILITIES = ["CAP_CHOWN", "CAP_KILL", "CAP_NET_RAW"];
const rights = fc.tuple(fc.subarray(CAPABILITIES), fc.boolean()).map(([permitted, isAmbient]) => ({
  ...{ bounding: CAPABILITIES, permitted, effective: permitted },
  ...{ inheritable: isAmbient ? permitted : [], ambient: isAmbient ? permitted : [] },
}));
const scenario = (directory: string) =>
  fc.record({
    existing: fc.array(below(4), { maxLength: 4 }),
    links: fc.array(
      fc.tuple(
        below(3),
        fc.oneof(
          below(2),
          names(2),
          names(1).map((path) => `../${path}`),
          fc.constant("/linked"),
        ),
      ),
      {
        maxLength: 3,
      },
    ),
    mounts: fc.array(mount(directory), { minLength: 1, maxLength: 7 }),
    // No link: runc refuses a working directory that is one and leads above the root.
    cwd: fc.oneof(
      names(2).map((path) => `/top/cwd/${path}`),
      fc.constantFrom("/", "/made/new", "/top/"),
    ),
    user: fc.record({ uid: fc.constantFrom(0, 1000), gid: fc.constantFrom(0, 1000), umask: fc.constantFrom(0o22, 0o77, 0) }),
    capabilities: rights,
    noNewPrivileges: fc.boolean(),
    readonly: fc.boolean(),
  });

describe.skipIf(!isRoot || !existsSync(RUNC))("random mounts beside runc (needs root)", () => {
  const { bundle, directory, id } = useHarness({ peers: true });

  /** What is not possible where something else was made before is left out. */
  function attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (!["EEXIST", "ENOTDIR", "ELOOP", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }

  function prepare({ existing, links, ...rest }: { existing: string[]; links: [string, string][] } & Record<string, unknown>): string {
    execFileSync("rm", ["-rf", join(directory, "tree"), join(directory, "sources")]);
    mkdirSync(join(directory, "sources"));
    for (const name of SOURCES) {
      const path = join(directory, "sources", name);
      if (name === "file") writeFileSync(path, "content\n");
      else mkdirSync(join(path, `in-${name}`), { recursive: true });
    }
    const tree = join(directory, "tree");
    const { cwd, user, capabilities, noNewPrivileges, readonly, mounts } = rest;
    return bundle((config: Config) => {
      execFileSync("cp", ["-ax", config.root.path, tree]);
      for (const name of ["linked", "top", "made"]) mkdirSync(join(tree, name));
      for (const path of existing) attempt(() => mkdirSync(join(tree, path), { recursive: true }));
      for (const [path, target] of links)
        attempt(() => {
          mkdirSync(dirname(join(tree, path)), { recursive: true });
          symlinkSync(target, join(tree, path));
        });
      config.root = { path: tree, readonly: readonly as boolean };
      config.mounts = [...config.mounts.filter(({ type }) => type !== "cgroup"), ...(mounts as Mount[])];
      Object.assign(config.process, { cwd, user, capabilities, noNewPrivileges });
      shell(config, LOOK);
    });
  }

  async function observe(runtime: string, given: Parameters<typeof prepare>[0]) {
    const path = prepare(given);
    const { status, stdout, stderr } = await call(directory, [runtime, "--root", join(directory, "peer"), "run", "-b", path, id()]);
    const made = execFileSync("find", ["top", "made", "linked", "-printf", "%p %y %U\\n"], {
      ...{ cwd: join(directory, "tree"), encoding: "utf8" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    return { status, stdout, stderr, made: made.split("\n").sort() };
  }

  test("the program sees the same", async () => {
    await fc.assert(
      fc.asyncProperty(scenario(directory), async (given) => {
        const peer = await observe(RUNC, given);
        const own = await observe(RUNTIME, given);
        if (peer.status === 0) expect(own).toEqual({ ...peer, stderr: "" });
        else expect(own.status, `runc: ${peer.stderr}`).not.toBe(0);
      }),
      process.env["RUNT_TEST_BUNDLES"] === undefined ? { numRuns: BUNDLES, seed: SEED } : { numRuns: BUNDLES },
    );
  });
});
