/**
 * `make demo`, as README.md has a newcomer type it, in a fresh clone on a fresh Debian 12 and 13: with the compiler of each (GCC 12 and 14) and its
 * musl (1.2.3 and 1.2.5), with Node 20, 22 and 24, and with the clone where clones land. The trees are made once, below build/hosts; each test has a
 * copy of its own, of which nothing stays.
 */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandsOf, nameOf } from "../readme/commands.ts";
import { isRoot } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const HOSTS = join(REPOSITORY, "build/hosts");
const SUITES = ["bookworm", "trixie"] as const;
type Suite = (typeof SUITES)[number];
/** What README.md asks for, and the program that asks npm. */
const PACKAGES = ["gcc", "make", "nodejs", "npm"];
/** It gets and builds everything, on a machine that has other things to do. */
const LONGEST_MS = 7_200_000;

/** [Debian, Node, where the clone is]. Debian 13 has its own Node 20. */
const CASES: readonly (readonly [suite: Suite, node: number, place: string])[] = [
  ["bookworm", 20, "/root/runt"],
  ["bookworm", 22, "/tmp/runt"],
  ["bookworm", 24, "/srv/a clone/of runt"],
  ["trixie", 20, "/root/runt"],
  ["trixie", 22, "/srv/a clone/of runt"],
  ["trixie", 24, "/tmp/runt"],
];
const GCC: Readonly<Record<Suite, string>> = { bookworm: "12.", trixie: "14." };

/** The line of README.md that gets a Node where Debian's is too old. */
const NODE_LINE = commandsOf(readFileSync(join(REPOSITORY, "README.md"), "utf8"))
  .map(nameOf)
  .find((name) => name.startsWith("npm install -g node@"));

describe.skipIf(!isRoot)("on a fresh Debian (needs root)", () => {
  const tree = join(HOSTS, `copy-${process.pid}`);
  const log = join(HOSTS, "log");

  beforeAll(() => {
    mkdirSync(HOSTS, { recursive: true });
    for (const suite of SUITES)
      execFileSync(join(REPOSITORY, "tools/debian-host.sh"), [suite, join(HOSTS, suite), ...PACKAGES], { stdio: "inherit" });
  }, LONGEST_MS);
  afterAll(() => rmSync(tree, { recursive: true, force: true }));

  function fresh(suite: Suite, place: string): void {
    rmSync(tree, { recursive: true, force: true });
    execFileSync("cp", ["-a", "--reflink=auto", join(HOSTS, suite), tree]);
    mkdirSync(join(tree, dirname(place)), { recursive: true });
    execFileSync("git", ["clone", "--quiet", "--no-hardlinks", REPOSITORY, join(tree, place)]);
  }
  /** Everything that a command prints in there. Its end is what a failure shows. */
  async function type(place: string, command: string): Promise<Readonly<{ status: number | null; output: string }>> {
    const fd = openSync(log, "w");
    const child = spawn(join(REPOSITORY, "tools/in-debian-host.sh"), [tree, "sh", "-c", `cd "$0" && ${command}`, place], {
      stdio: ["ignore", fd, fd],
    });
    closeSync(fd);
    const status = await new Promise<number | null>((done, failed) => {
      child.once("error", failed);
      child.once("exit", done);
    });
    return { status, output: readFileSync(log, "utf8").slice(-20_000) };
  }
  const nodeOf = (version: number) => NODE_LINE?.replace(/@\d+/, `@${version}`) ?? "false";

  test(
    "Debian 12's own Node 18 is refused before anything is installed, and where another one comes from is said",
    async () => {
      fresh("bookworm", "/root/runt");
      const packages = () => readFileSync(join(tree, "var/lib/dpkg/status"), "utf8");
      const before = packages();
      const { status, output } = await type("/root/runt", "make demo");
      expect(status).not.toBe(0);
      expect(output).toMatch(/node 18 is too old, 20 or newer is needed: README\.md says how to get it/);
      expect(packages()).toBe(before);
      expect(existsSync(join(tree, "root/runt/node_modules"))).toBe(false);
    },
    LONGEST_MS,
  );

  test.each(CASES)(
    "make demo on %s with Node %i and the clone in %s",
    async (suite, version, place) => {
      fresh(suite, place);
      const isItsOwn = suite === "trixie" && version === 20;
      if (!isItsOwn) expect(await type("/root", nodeOf(version))).toMatchObject({ status: 0 });
      const versions = await type("/root", "node --version && gcc -dumpfullversion");
      expect(versions.output).toMatch(new RegExp(`^v${version}\\.[^]*\\n${GCC[suite].replace(".", "\\.")}`));
      expect(await type(place, "make demo")).toMatchObject({
        status: 0,
        output: expect.stringMatching(/No process, mount, cgroup or state is left\.\n$/),
      });
    },
    LONGEST_MS,
  );

  // Once for each compiler: it compiles more than the demo does.
  test.each(SUITES)(
    "make on %s, in a path with blanks, and the programs that it makes",
    async (suite) => {
      const place = "/srv/a clone/of runt";
      fresh(suite, place);
      if (suite === "bookworm") expect(await type("/root", nodeOf(20))).toMatchObject({ status: 0 });
      expect(await type(place, "make")).toMatchObject({ status: 0 });
      const tried = await type(place, "bin/runtctl schema > /tmp/schema.json && bin/runtd --help > /tmp/help && bin/runt --version");
      expect(tried).toMatchObject({ status: 0, output: expect.stringMatching(/^runt version /) });
    },
    LONGEST_MS,
  );
});
