/** `make install`, `make uninstall` and the Debian packages. */
import { createHash } from "node:crypto";
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
/** Compressing takes most of the time. */
const ENVIRONMENT = {
  SOURCE_DATE_EPOCH: EPOCH,
  MAKEFLAGS: "",
  DEB_MAINTAINER: "A Tester <tester@runt.invalid>",
  DEB_COMPRESSION: "none",
};

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

const PAGES = readdirSync(join(REPOSITORY, "man"));
/** Bills of materials. */
const billsOf = (name: string) => [`${name}.cdx.json`, `${name}.spdx.json`];
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
        "lib/systemd/system/runtd.socket",
        "libexec/runt/runt-pause",
        "share/bash-completion/completions/runt",
        "share/bash-completion/completions/runtctl",
        "share/doc/runt/LICENSE",
        "share/doc/runt/NOTICE",
        ...["runt", "runtd"].flatMap(billsOf).map((name) => `share/doc/runt/${name}`),
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
    expect(readFileSync(join(prefix, "lib/systemd/system/runtd.service"), "utf8")).toContain("ExecStart=/opt/runt/bin/runtd $RUNTD_OPTS\n");
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

  describe.skipIf(!has("dpkg-deb"))("the Debian packages", () => {
    /** runt and runtd. */
    let built: [file: string, file: string] = ["", ""];
    const build = async (name: string) => {
      const { stdout } = await execa("packaging/deb.sh", [join(directory, name)], { cwd: REPOSITORY, env: ENVIRONMENT });
      return stdout.trim().split("\n") as typeof built;
    };
    const field = async (name: string, file = built[0]) => (await execa("dpkg-deb", ["--field", file, name])).stdout;
    beforeAll(async () => {
      built = await build("first");
    });

    test("are named after version and architecture; the runtime depends on nothing, the daemon on the runtime only", async () => {
      const release = (JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as { version: string }).version;
      const version = await field("Version");
      expect(version === release || version.startsWith(`${release}~git20231114`)).toBe(true);
      for (const [index, name] of ["runt", "runtd"].entries()) {
        const file = built[index]!;
        expect(basename(file)).toBe(`${name}_${version}_${await field("Architecture")}.deb`);
        expect(await field("Package", file)).toBe(name);
        expect(await field("Maintainer", file)).toBe(ENVIRONMENT.DEB_MAINTAINER);
        expect(await field("Depends", file)).toBe(name === "runt" ? "" : `runt (= ${version})`);
        expect(await field("Pre-Depends", file)).toBe("");
        expect(Number(await field("Installed-Size", file))).toBeGreaterThan(1000);
        expect((await field("Description", file)).split("\n").length).toBeGreaterThan(3);
      }
    });

    test("a version between releases is older than the release", async () => {
      await execa("dpkg", ["--validate-version", await field("Version")]);
      await execa("dpkg", ["--compare-versions", "0.1.0~git20231114.0123abcd", "lt", "0.1.0"]);
    });

    /** Of both, below usr, without the documents. */
    const WANTED = [
      [
        "bin/runt",
        "share/bash-completion/completions/runt",
        "share/fish/vendor_completions.d/runt.fish",
        "share/zsh/vendor-completions/_runt",
        "share/lintian/overrides/runt",
        ...pages(".gz").filter((page) => !/\/runt(?:d|ctl)[.-]/.test(page)),
      ],
      [
        "bin/runtctl",
        "bin/runtd",
        "libexec/runt/runt-pause",
        "lib/systemd/system/runtd.service",
        "lib/systemd/system/runtd.socket",
        "share/bash-completion/completions/runtctl",
        "share/fish/vendor_completions.d/runtctl.fish",
        "share/zsh/vendor-completions/_runtctl",
        "share/lintian/overrides/runtd",
        ...pages(".gz").filter((page) => /\/runt(?:d|ctl)[.-]/.test(page)),
      ],
    ];
    const DOCUMENTS = [
      [
        "NEWS.md.gz",
        "NOTICE",
        "switching.md",
        "troubleshooting.md",
        ...billsOf("runt"),
        ...THIRD_PARTY.map((name) => `third-party/${name}`),
      ],
      ["engine.md", ...billsOf("runtd")],
    ];

    test("have programs, manual, completion and documents, of root, and the programs run", async () => {
      const tree = join(directory, "unpacked");
      for (const [index, file] of built.entries()) {
        const name = index === 0 ? "runt" : "runtd";
        const own = join(directory, `own-${name}`);
        for (const target of [own, tree]) await execa("dpkg-deb", ["-x", file, target]);
        const files = filesBelow(join(own, "usr"));
        const documents = `share/doc/${name}/`;
        expect(files.filter((path) => !path.startsWith("share/doc/") && !path.startsWith(LIBRARY))).toEqual(WANTED[index]!.sort());
        const wanted = ["copyright", "changelog.gz", ...DOCUMENTS[index]!].map((path) => `${documents}${path}`);
        expect(files.filter((path) => path.startsWith("share/doc/"))).toEqual(expect.arrayContaining(wanted));
        expect(files.filter((path) => path.startsWith("share/doc/") && !path.startsWith(documents))).toEqual([]);
        expect(files.some((path) => path.startsWith(LIBRARY))).toBe(name === "runtd");
        const { stdout } = await execa("dpkg-deb", ["-c", file]);
        expect(stdout.split("\n").filter((line) => !line.includes(" root/root "))).toEqual([]);
        expect(stdout.split("\n").filter((line) => /^-.{6}(?!r)/.test(line))).toEqual([]);
        await execa("md5sum", ["--check", "--quiet", join(await control(file), "md5sums")], { cwd: own });
      }
      expect((await execa(join(tree, "usr/bin/runt"), ["features"])).stdout).toContain("ociVersionMax");
      expect(readFileSync(join(tree, "usr/lib/runt/bin/runt-pause"))).toEqual(readFileSync(join(REPOSITORY, "bin/runt-pause")));
      expect((await execa(join(tree, "usr/bin/runtd"), ["--help"])).stdout).toMatch(/^Usage: runtd /);
    });

    async function control(file: string): Promise<string> {
      const target = mkdtempSync(join(directory, "control-"));
      await execa("dpkg-deb", ["-e", file, target]);
      const scripts = file === built[0] ? [] : SCRIPTS;
      expect(readdirSync(target).sort()).toEqual(["control", "md5sums", ...scripts]);
      // Where no systemd runs, the scripts do nothing.
      for (const script of scripts) await execa(join(target, script), ["remove"], { env: { PATH: "/nonexistent" }, extendEnv: false });
      return target;
    }

    test("are the same bytes when built again", async () => {
      const again = await build("second");
      const sum = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
      expect(again.map(sum)).toEqual(built.map(sum));
    });

    test.skipIf(!has("lintian"))("have nothing that lintian objects to", async () => {
      const { stdout } = await execa("lintian", ["--allow-root", "--suppress-tags", "bad-distribution-in-changes-file", ...built], {
        reject: false,
      });
      expect(stdout).toBe("");
    });
  });
});
