/** `make install`, `make uninstall` and the Debian package. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRunt } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { REPOSITORY, reachableRootfs } from "../support/programs.ts";

const has = (program: string) => existsSync(join("/usr/bin", program));
/** Installs the existing build: a test does not build again. */
const BUILT = ["runt", "runt-pause", "runtctl"].every((name) => existsSync(join(REPOSITORY, "bin", name)));
const isRoot = process.geteuid?.() === 0;
const EPOCH = "1700000000";
const ENVIRONMENT = { SOURCE_DATE_EPOCH: EPOCH, MAKEFLAGS: "", DEB_MAINTAINER: "A Tester <tester@runt.invalid>" };

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

const PAGES = readdirSync(join(REPOSITORY, "man"));
const THIRD_PARTY = ["commander", "libgcc", "libseccomp", "musl", "quickjs", "yaml", "zod"].map((name) => `${name}.txt`);
const pages = (suffix: string) => PAGES.map((name) => `share/man/man${name.slice(-1)}/${name}${suffix}`);
const SCRIPTS = ["postinst", "postrm", "prerm"];
/** The daemon is many files, which come with their npm packages. */
const LIBRARY = "lib/runt/";

describe.skipIf(!isRunt || !BUILT || !has("make"))("installation", () => {
  let directory = "";
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "runt-install-"));
    chmodSync(directory, 0o755);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const make = (...words: string[]) =>
    execa("make", ["-o", "bin/runt", "-o", "bin/runt-pause", "-o", "bin/runtctl", ...words], { cwd: REPOSITORY, env: ENVIRONMENT });

  test("make install puts program, manual and completion below PREFIX, make uninstall takes them away", async () => {
    const prefix = join(directory, "stage/opt/runt");
    const words = [`DESTDIR=${directory}/stage`, "PREFIX=/opt/runt"];
    await make("install", ...words);
    const files = filesBelow(prefix);
    expect(files.filter((name) => !name.startsWith(LIBRARY))).toEqual(
      [
        "bin/runt",
        "bin/runtctl",
        "bin/runtd",
        "lib/systemd/system/runtd.service",
        "libexec/runt/runt-pause",
        "share/bash-completion/completions/runt",
        "share/bash-completion/completions/runtctl",
        "share/doc/runt/LICENSE",
        "share/doc/runt/NOTICE",
        "share/doc/runt/runt.spdx.json",
        ...THIRD_PARTY.map((name) => `share/doc/runt/third-party/${name}`),
        "share/fish/vendor_completions.d/runt.fish",
        "share/fish/vendor_completions.d/runtctl.fish",
        "share/zsh/site-functions/_runt",
        "share/zsh/site-functions/_runtctl",
        ...pages(""),
      ].sort(),
    );
    expect(statSync(join(prefix, "bin/runt")).mode & 0o7777).toBe(0o755);
    expect(statSync(join(prefix, "share/man/man8/runt.8")).mode & 0o7777).toBe(0o644);
    expect((await execa(join(prefix, "bin/runt"), ["--version"])).stdout).toMatch(/^runt version /);
    expect(readFileSync(join(prefix, "share/zsh/site-functions/_runt"), "utf8")).toMatch(/^#compdef runt\n/);
    expect(files.filter((name) => name.includes("/prebuilds/")).every((name) => name.includes(`/linux-${process.arch}/`))).toBe(true);
    // The daemon is bundled: nothing else of the library is installed with it, and the licences of what is in its files are.
    const ofPackage = files.filter((name) => name.startsWith(`${LIBRARY}dist/`)).map((name) => name.slice(LIBRARY.length));
    expect(ofPackage).toEqual(expect.arrayContaining(["dist/runtd/main.js", "dist/runtd/worker.js"]));
    expect(ofPackage.filter((name) => !name.startsWith("dist/runtd/"))).toEqual([]);
    const licences = readFileSync(join(prefix, LIBRARY, "dist/runtd/LICENSE.txt"), "utf8");
    for (const name of ["@hono/node-server", "croner", "hono", "yaml", "zod", "zod-openapi"])
      expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\nLicence: (MIT|ISC)\n\n[^]*Copyright`, "m"));
    expect((await execa(join(prefix, "bin/runtctl"), ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+/);
    expect((await execa(join(prefix, "bin/runtd"), ["--help"])).stdout).toMatch(/^Usage: runtd /);
    // It finds the runt that is installed beside it.
    const told = await execa(join(prefix, "bin/runtd"), ["--once", "-f", "-"], { input: "name: x\n", reject: false });
    expect([told.exitCode, told.stderr]).toEqual([1, expect.stringMatching(/containers/)]);
    const client = join(prefix, "bin/runtctl");
    expect(JSON.parse((await execa(client, ["schema"])).stdout)).toHaveProperty("$schema");
    const without = (...args: string[]) => execa(client, args, { env: { PATH: "/nonexistent" }, extendEnv: false, reject: false });
    const get = await without("-s", "/nonexistent/socket", "get");
    expect([get.exitCode, get.stderr]).toEqual([3, expect.stringMatching(/^runtctl: .nonexistent.socket: no daemon answers\n/)]);
    const daemon = await execa("/bin/sh", [join(prefix, "bin/runtd")], { env: { PATH: "/nonexistent" }, extendEnv: false, reject: false });
    expect([daemon.exitCode, daemon.stderr]).toEqual([69, "runtd: Node.js 20 or newer is needed, and there is no node in PATH"]);
    expect(readFileSync(join(prefix, "lib/systemd/system/runtd.service"), "utf8")).toContain("ExecStart=/opt/runt/bin/runtd\n");
    await make("uninstall", ...words);
    expect(filesBelow(prefix)).toEqual([]);
  });

  test.skipIf(!isRoot)("what is installed runs a task that shares namespaces: its runtd finds runt-pause", async () => {
    const words = [`DESTDIR=${directory}/moved`, "PREFIX=/opt/runt"];
    await make("install", ...words);
    expect(await firstProcess(join(directory, "moved/opt/runt/bin/runtd"))).toBe("/pause\0");
    // Where the package has no program of its own, beside the runt that is named.
    rmSync(join(directory, "moved/opt/runt/lib/runt/bin/runt-pause"));
    const runtime = join(directory, "moved/opt/runt/bin/runt");
    expect(await firstProcess(join(directory, "moved/opt/runt/bin/runtd"), "--runtime", runtime)).toBe("/pause\0");
  });

  /** The command line of the first process of the pid namespace that a task shares, read inside. */
  async function firstProcess(runtd: string, ...args: string[]): Promise<string> {
    const reader = { name: "reader", rootfs: reachableRootfs(directory), command: "/bin/cat", args: ["/proc/1/cmdline"] };
    const input = JSON.stringify({ name: "t", namespaces: { pid: "shared" }, containers: [reader] });
    const { stdout } = await execa(runtd, ["--once", "-f", "-", "--cgroup-parent", CGROUP_PARENT, ...args], { input });
    return stdout.replace(/^reader \| /, "");
  }

  describe.skipIf(!has("dpkg-deb"))("the Debian package", () => {
    let file = "";
    const build = async (name: string) => {
      const { stdout } = await execa("packaging/deb.sh", [join(directory, name)], { cwd: REPOSITORY, env: ENVIRONMENT });
      return stdout.trim();
    };
    const field = async (name: string) => (await execa("dpkg-deb", ["--field", file, name])).stdout;
    beforeAll(async () => {
      file = await build("first");
    });

    test("is named after version and architecture, and depends on nothing", async () => {
      const release = (JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as { version: string }).version;
      const version = await field("Version");
      expect(version === release || version.startsWith(`${release}~git20231114`)).toBe(true);
      expect(basename(file)).toBe(`runt_${version}_${await field("Architecture")}.deb`);
      expect(await field("Package")).toBe("runt");
      expect(await field("Maintainer")).toBe(ENVIRONMENT.DEB_MAINTAINER);
      expect(await field("Depends")).toBe("");
      expect(await field("Pre-Depends")).toBe("");
      expect(Number(await field("Installed-Size"))).toBeGreaterThan(1000);
      expect((await field("Description")).split("\n").length).toBeGreaterThan(3);
    });

    test("a version between releases is older than the release", async () => {
      await execa("dpkg", ["--validate-version", await field("Version")]);
      await execa("dpkg", ["--compare-versions", "0.1.0~git20231114.0123abcd", "lt", "0.1.0"]);
    });

    test("has program, manual, completion and documents, of root, and the program runs", async () => {
      const tree = join(directory, "unpacked");
      await execa("dpkg-deb", ["-x", file, tree]);
      const files = filesBelow(tree);
      const wanted = [
        "usr/bin/runt",
        "usr/bin/runtctl",
        "usr/bin/runtd",
        "usr/libexec/runt/runt-pause",
        "usr/lib/systemd/system/runtd.service",
        "usr/share/bash-completion/completions/runtctl",
        "usr/share/fish/vendor_completions.d/runtctl.fish",
        "usr/share/zsh/vendor-completions/_runtctl",
        "usr/share/bash-completion/completions/runt",
        "usr/share/fish/vendor_completions.d/runt.fish",
        "usr/share/zsh/vendor-completions/_runt",
        "usr/share/doc/runt/copyright",
        "usr/share/doc/runt/NOTICE",
        "usr/share/doc/runt/runt.spdx.json",
        ...THIRD_PARTY.map((name) => `usr/share/doc/runt/third-party/${name}`),
        "usr/share/doc/runt/changelog.gz",
        "usr/share/doc/runt/switching.md",
        "usr/share/doc/runt/troubleshooting.md",
        ...pages(".gz").map((page) => `usr/${page}`),
      ];
      expect(files).toEqual(expect.arrayContaining(wanted));
      expect(
        files.filter((name) => !name.startsWith("usr/share/doc/runt/") && !name.startsWith(`usr/${LIBRARY}`) && !wanted.includes(name)),
      ).toEqual(["usr/share/lintian/overrides/runt"]);
      const { stdout } = await execa("dpkg-deb", ["-c", file]);
      expect(stdout.split("\n").filter((line) => !line.includes(" root/root "))).toEqual([]);
      expect((await execa(join(tree, "usr/bin/runt"), ["features"])).stdout).toContain("ociVersionMax");
      expect(readFileSync(join(tree, "usr/lib/runt/bin/runt-pause"))).toEqual(readFileSync(join(REPOSITORY, "bin/runt-pause")));
      await execa("md5sum", ["--check", "--quiet", join(await control(), "md5sums")], { cwd: tree });
    });

    async function control(): Promise<string> {
      const target = join(directory, "control");
      await execa("dpkg-deb", ["-e", file, target]);
      // Where no systemd runs, the scripts do nothing.
      expect(readdirSync(target).sort()).toEqual(["control", "md5sums", ...SCRIPTS]);
      for (const script of SCRIPTS) await execa(join(target, script), ["remove"], { env: { PATH: "/nonexistent" }, extendEnv: false });
      return target;
    }

    test("is the same bytes when built again", async () => {
      const again = await build("second");
      expect(readFileSync(again).equals(readFileSync(file))).toBe(true);
    });

    test.skipIf(!has("lintian"))("has nothing that lintian objects to", async () => {
      const { stdout } = await execa("lintian", ["--allow-root", "--suppress-tags", "bad-distribution-in-changes-file", file], {
        reject: false,
      });
      expect(stdout).toBe("");
    });
  });
});
