/** Texts of images, hooks and configurations in messages and tables: one line each, without control characters. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { call } from "../support/call.ts";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

/** Clears the screen, forges a line of a log, is CSI in eight bits, turns the direction of writing. */
const EVIL = "\u001b[2J\rx\nlevel=error msg=forged\n\u009b31m\u202eend\u0007";
const SEEN = "\\u001b[2J\\rx\\nlevel=error msg=forged\\n\\u009b31m\\u202eend\\u0007";
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

describe.skipIf(!isRoot || !isRunt)("texts of others (needs root)", () => {
  const { bundle, directory, id, ok, root, rootfs, runtime } = useHarness();
  let image: string;
  beforeAll(() => {
    image = join(directory, "image");
    execFileSync("cp", ["-a", rootfs(), image]);
    const script = (name: string, first: string | Buffer) => {
      writeFileSync(join(image, "bin", name), first);
      chmodSync(join(image, "bin", name), 0o755);
    };
    script("shebang", `#!/no/${EVIL.replaceAll("\n", "")}\n`);
    script("bytes", Buffer.concat([Buffer.from("#!/no/\u001b"), Buffer.from([0x9b, 0xff]), Buffer.from("x\n")]));
    symlinkSync(`/no/${EVIL}`, join(image, "bin/evil-link"));
    script(`evil${EVIL.replaceAll("/", "")}`, "#!/bin/true\n");
  });

  const oneLine = (text: string) => {
    expect(text.endsWith("\n")).toBe(true);
    expect(text.split("\n")).toHaveLength(2);
    expect(text).not.toMatch(UNSAFE);
    return text;
  };
  const evil = (config: Config, program: string) => {
    config.root.path = image;
    config.process.args = [program];
  };
  const CASES: readonly (readonly [string, (config: Config) => void, string])[] = [
    ["the output of a hook", (config) => hookSays(config, "createRuntime"), SEEN],
    ["the output of a hook in the container", (config) => hookSays(config, "startContainer"), SEEN],
    ["an interpreter", (config) => evil(config, "/bin/shebang"), "\\u001b[2J"],
    ["bytes that are no UTF-8", (config) => evil(config, "/bin/bytes"), "/no/\\u001b"],
    ["the target of a link", (config) => evil(config, "/bin/evil-link"), "/bin/evil-link"],
    ["the name of a program", (config) => evil(config, `/bin/${EVIL}`), SEEN],
    ["a mount", (config) => void config.mounts.push({ destination: "/mnt", type: `x${EVIL}`, source: "x" }), SEEN],
    ["a megabyte", (config) => evil(config, `/bin/${EVIL}${"\u001b".repeat(1 << 20)}`), "characters left out"],
  ];
  function hookSays(config: Config, kind: string): void {
    config.hooks = { [kind]: [{ path: "/bin/sh", args: ["sh", "-c", 'printf %s "$1" >&2; exit 1', "sh", EVIL] }] };
  }

  test.each(CASES)("%s", async (_, change, seen) => {
    const path = bundle((config) => {
      shell(config, "true");
      change(config);
    });
    expect(oneLine((await runtime(["run", "-b", path, id()])).stderr)).toContain(seen);
    const log = join(directory, "log");
    for (const format of ["text", "json"]) {
      rmSync(log, { force: true });
      const { stderr } = await runtime(["--log", log, "--log-format", format, "run", "-b", path, id()]);
      oneLine(stderr);
      const line = oneLine(readFileSync(log, "utf8"));
      if (format === "json") expect(JSON.parse(line)).toMatchObject({ level: "error", msg: expect.any(String) });
      else expect(line).toMatch(/^time="[^"]+" level=error msg="([^"\\]|\\.)*"\n$/);
    }
  });

  test("a program that is gone when it is started: what init itself says", async () => {
    const name = id();
    const file = join(image, `bin/evil${EVIL.replaceAll("/", "")}`);
    const output = join(directory, "output");
    const path = bundle((config) => evil(config, `/bin/evil${EVIL.replaceAll("/", "")}`));
    // The container's own stderr.
    await ok(["create", "-b", path, name], {});
    rmSync(file);
    const { status, stderr } = await runtime(["start", name]);
    expect(status).toBe(1);
    expect(oneLine(stderr)).toContain(SEEN);
    writeFileSync(file, "#!/bin/true\n");
    chmodSync(file, 0o755);
    const other = id();
    const quoted = [RUNTIME, "--root", root, "create", "-b", path, other];
    expect((await call(directory, ["sh", "-c", `exec "$@" 2> ${output}`, "sh", ...quoted])).status).toBe(0);
    rmSync(file);
    expect((await runtime(["start", other])).status).toBe(1);
    expect(oneLine(readFileSync(output, "utf8"))).toContain(SEEN);
  });

  test("a warning", async () => {
    const name = id();
    const path = bundle((config) => {
      shell(config, "true");
      hookSays(config, "poststop");
    });
    await ok(["create", "-b", path, name]);
    const { status, stderr } = await runtime(["delete", "--force", name]);
    expect(status).toBe(0);
    expect(oneLine(stderr)).toContain(SEEN);
  });

  test("tables and texts about a container", async () => {
    const name = id();
    const path = join(directory, `b${EVIL.replaceAll("/", "")}`);
    renameSync(
      bundle((config) => {
        config.annotations = { [EVIL]: EVIL };
        config.hostname = "h";
        shell(config, "exec sleep 60");
        config.process.args.push(EVIL);
        config.process.env = [`A=${EVIL}`];
      }),
      path,
    );
    mkdirSync(join(directory, "other"), { recursive: true });
    await ok(["run", "-d", "-b", path, name]);
    const list = await ok(["list"]);
    expect(list).toContain(`b${SEEN}`);
    expect(list.trim().split("\n")).toHaveLength(2);
    const texts: readonly (readonly string[])[] = [
      ["ps", name],
      ["inspect", "-f", "text", name],
      ["plan", "-b", path],
      ["plan", "--explain", "-b", path],
      ["diff", name, path],
      ["gc", "--dry-run"],
      ["validate", path],
    ];
    for (const args of [["list"], ...texts]) {
      const { stdout, stderr } = await runtime(args);
      expect(stdout, args.join(" ")).not.toMatch(UNSAFE);
      expect(stdout, args.join(" ")).not.toMatch(/^level=error/m);
      expect(stderr, args.join(" ")).not.toMatch(UNSAFE);
    }
  });
});
