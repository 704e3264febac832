/** The relink kit (LGPL-2.1, section 6): somebody else's libseccomp gets into the program, with what is in the kit and nothing of the repository. */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { call, isRoot, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const BUILD = join(REPOSITORY, "build");
const KIT = existsSync(BUILD) ? readdirSync(BUILD).find((name) => name.endsWith("_relink.tar.gz")) : undefined;
const SOURCE = join(BUILD, "libseccomp/work/source");
const sum = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** An environment in which nothing points at the repository. */
const clean = { extendEnv: false, env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent" } } as const;

describe.skipIf(KIT === undefined || !isRoot)("the relink kit (make relink-kit)", () => {
  const { bundle, directory, id, root } = useHarness();
  const kit = join(directory, (KIT ?? "").replace(/\.tar\.gz$/, ""));

  const runWithFilter = (runt: string) => {
    const path = bundle((config) => {
      shell(config, "echo filtered");
      config.linux.seccomp = { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names: ["getcwd"], action: "SCMP_ACT_ERRNO", errnoRet: 99 }] };
    });
    return call(directory, [runt, "--root", root, "run", "-b", path, id()]);
  };

  test("with the library it came with: the very same program", async () => {
    await execa("tar", ["-xf", join(BUILD, KIT!), "-C", directory]);
    await execa(join(kit, "relink.sh"), { cwd: "/", ...clean });
    expect(sum(join(kit, "runt"))).toBe(sum(RUNTIME));
  });

  test.skipIf(!existsSync(SOURCE))("with a changed library: the program has the change", async () => {
    const source = join(directory, "libseccomp");
    cpSync(SOURCE, source, { recursive: true });
    const api = join(source, "src/api.c");
    const text = readFileSync(api, "utf8");
    const changed = text.replace(/(scmp_filter_ctx seccomp_init\(uint32_t def_action\)\n\{)/, "$1 return NULL;");
    expect(changed).not.toBe(text);
    writeFileSync(api, changed);
    await execa(join(kit, "libseccomp-compile.sh"), [source, join(directory, "compiled")], { cwd: "/", ...clean });
    await execa(join(kit, "relink.sh"), [join(directory, "compiled/libseccomp.a")], { cwd: "/", ...clean });
    const relinked = join(kit, "runt");
    expect((await execa(relinked, ["--version"])).stdout).toMatch(/^runt version /);
    expect(sum(relinked)).not.toBe(sum(RUNTIME));
    expect((await runWithFilter(relinked)).status).not.toBe(0);
    expect(await runWithFilter(RUNTIME)).toMatchObject({ status: 0, stdout: "filtered\n" });
  });
});
