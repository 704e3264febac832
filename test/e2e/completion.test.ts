/** `runt completion SHELL`, asked by the shells themselves. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRunt, RUNTIME } from "../support/harness.ts";

/** Seconds: an emulated machine is slow to start a shell. */
const TIMEOUT = 25_000;
const ASK_BASH = fileURLToPath(new URL("completion.bash", import.meta.url));
const ASK_ZSH = fileURLToPath(new URL("completion.zsh", import.meta.url));
/** Stands for the state root in the tables below. */
const ROOT = "@ROOT@";
const has = (shell: string) => ["/bin", "/usr/bin", "/usr/local/bin"].some((path) => existsSync(join(path, shell)));

describe.skipIf(!isRunt)("completion", () => {
  let directory = "";
  let root = "";
  const script = (shell: string) => join(directory, shell === "zsh" ? "_runt" : shell);

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "runt-completion-"));
    root = join(directory, "root");
    // Directories of no container are listed too, as unreadable: enough to be found by name.
    for (const id of ["web-1", "web-2", "db", "it's $(odd)"]) mkdirSync(join(root, id), { recursive: true });
    for (const name of ["bundle-a/deep", "bundle-b"]) mkdirSync(join(directory, name), { recursive: true });
    writeFileSync(join(directory, "bundle-file"), "");
    for (const shell of ["bash", "zsh", "fish"]) writeFileSync(script(shell), (await execa(RUNTIME, ["completion", shell])).stdout);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const lines = (text: string) => text.split("\n").filter((line) => line !== "");
  const environment = () => ({
    PATH: `${dirname(RUNTIME)}:${process.env["PATH"]}`,
    HOME: directory,
    XDG_CONFIG_HOME: directory,
    TERM: "dumb",
  });
  const options = () => ({ cwd: directory, env: environment(), timeout: TIMEOUT });

  /** The words behind `runt`; the last one is the one being typed. */
  type Ask = (words: readonly string[]) => Promise<readonly string[]>;

  const askBash: Ask = async (words) => {
    const typed = [RUNTIME, ...words.flatMap((word) => word.split(/(=)/).filter((part, index) => part !== "" || index === 0))];
    return lines((await execa("bash", ["--norc", ASK_BASH, script("bash"), ...typed], options())).stdout);
  };
  const askFish: Ask = async (words) => {
    const command = 'source $argv[1]; complete -C "runt $argv[2]"';
    const { stdout } = await execa("fish", ["--no-config", "-c", command, script("fish"), words.join(" ")], options());
    return lines(stdout).map((line) => line.split("\t")[0]!.replace(/^--[\w-]+=/, ""));
  };
  const askZsh: Ask = async (words) => {
    const answers = join(directory, "answers");
    rmSync(answers, { force: true });
    await execa("zsh", ["-f", ASK_ZSH, directory, `runt ${words.join(" ")}`, answers], options());
    const found = lines(readFileSync(answers, "utf8"));
    expect(found.at(-1)).toBe("end");
    // Directories come once as such and once as files.
    return [...new Set(found.slice(0, -1).map((word) => word.replace(/=$/, "")))];
  };

  describe.each([
    ["bash", askBash],
    ["fish", askFish],
    ["zsh", askZsh],
  ] as const)("%s", (shell, ask) => {
    test.skipIf(!has(shell))(`the script is good ${shell}`, async () => {
      await execa(shell, ["-n", script(shell)], options());
    });

    test.skipIf(!has(shell)).each<[string[], { some?: string[]; none?: string[]; all?: string[] }]>([
      [["cre"], { all: ["create"] }],
      [["help", "pau"], { all: ["pause"] }],
      [["--root", ROOT, "cre"], { all: ["create"] }],
      [["create", "--"], { some: ["--bundle", "--pid-file", "--help"], none: ["--force", "--root"] }],
      [["update", "--kernel"], { all: [] }],
      [["list", "--format", ""], { all: ["table", "json"] }],
      [["list", "-f", "j"], { all: ["json"] }],
      [["list", "--format=j"], { all: ["json"] }],
      [["--cgroup-manager", "s"], { all: ["systemd"] }],
      [["completion", ""], { all: ["bash", "zsh", "fish"] }],
      [["--root", ROOT, "state", "web"], { all: ["web-1", "web-2"] }],
      [["--root", ROOT, "delete", "--force", "d"], { all: ["db"] }],
      [["--root", ROOT, "kill", "db", "WIN"], { all: ["WINCH"] }],
      [["--root", ROOT, "exec", "db", "--f"], { all: [] }],
      [["--root", ROOT, "exec", "-e", "A=1", "web"], { all: ["web-1", "web-2"] }],
    ])("%j", async (words, { some = [], none = [], all }) => {
      const found = await ask(words.map((word) => word.replace(ROOT, root)));
      if (all) expect([...found].sort()).toEqual([...all].sort());
      expect(found).toEqual(expect.arrayContaining(some));
      for (const word of none) expect(found).not.toContain(word);
    });

    test.skipIf(!has(shell))("offers directories and files where the flag takes one", async () => {
      const bare = (found: readonly string[]) => found.map((word) => word.replace(/\/$/, "")).sort();
      expect(bare(await ask(["create", "--bundle", "bundle-"]))).toEqual(["bundle-a", "bundle-b"]);
      expect(bare(await ask(["create", "--pid-file", "bundle-"]))).toEqual(["bundle-a", "bundle-b", "bundle-file"]);
    });

    test.skipIf(!has(shell))("does not offer what no id can be", async () => {
      const found = await ask(["--root", root, "state", ""]);
      expect(found).toContain("db");
      expect(found.join(" ")).not.toContain("odd");
    });
  });

  test("a shell without completion is refused", async () => {
    const result = await execa(RUNTIME, ["completion", "tcsh"], { reject: false });
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain("use bash, zsh or fish");
  });
});
