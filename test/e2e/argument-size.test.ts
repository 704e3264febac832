/** validate and the kernel agree on the size of arguments and environment: execve(2), E2BIG. */
import { describe, expect, test } from "vitest";
import { call, isRoot, isRunt, RUNTIME, useHarness } from "../support/harness.ts";

const MIB = 1 << 20;
/** Other bytes on the stack of a new program: its path, and HOME where the configuration has none. */
const OTHERS = 128;

describe.skipIf(!isRoot || !isRunt)("arguments and environment (needs root)", () => {
  const { bundle, directory, id, root, runtime } = useHarness();

  /** Environment in pieces, `size` bytes in all with NULs and pointers. @param stack RLIMIT_STACK */
  function sized(size: number, stack: number, piece = 100_000): string {
    return bundle((config) => {
      config.process.args = ["/bin/true"];
      config.process.env = ["HOME=/"];
      let left = size - 9 * 2 - "/bin/true".length - "HOME=/".length;
      for (let index = 0; left > 0; index++) {
        const name = `V${index}=`;
        const length = Math.min(piece, left - 9);
        config.process.env.push(name.padEnd(left - length - 9 < 32 ? left - 9 : length, "x"));
        left -= config.process.env.at(-1)!.length + 9;
      }
      config.process.rlimits = [{ type: "RLIMIT_STACK", soft: stack, hard: stack }];
    });
  }

  test.each([
    ["a quarter of the stack", 4 * MIB, MIB],
    ["at least 128 KiB", 256 << 10, 128 << 10],
    ["at most 6 MiB", 32 * MIB, 6 * MIB],
  ])("%s", async (_, stack, space) => {
    const fits = sized(space - OTHERS, stack);
    expect((await runtime(["validate", "--host", "none", fits])).stdout).not.toContain("arguments-too-large");
    expect(await runtime(["run", "-b", fits, id()])).toMatchObject({ status: 0, stderr: "" });

    const excessive = sized(space + 1, stack);
    expect((await runtime(["validate", "--host", "none", excessive])).stdout).toContain("error[arguments-too-large]");
    const { status, stderr } = await runtime(["run", "-b", excessive, id()]);
    expect(status).not.toBe(0);
    expect(stderr).toContain("argument list too long (process.args and process.env together");
  });

  test("one string takes 128 KiB with its NUL", async () => {
    const long = (length: number) =>
      bundle((config) => {
        config.process.args = ["/bin/true"];
        config.process.env.push("LONG=".padEnd(length, "x"));
      });
    const [fits, excessive] = [long(131_071), long(131_072)];
    expect((await runtime(["validate", "--host", "none", fits])).stdout).not.toContain("argument-too-long");
    expect((await runtime(["run", "-b", fits, id()])).status).toBe(0);
    expect((await runtime(["validate", "--host", "none", excessive])).stdout).toContain("error[argument-too-long]");
    expect((await runtime(["run", "-b", excessive, id()])).stderr).toContain("argument list too long");
  });

  test("the limit of the caller counts where the configuration has none, and start says it too", async () => {
    const path = bundle((config) => {
      config.process.env.push(...Array.from({ length: 36 }, (_, index) => `V${index}=${"x".repeat(100_000)}`));
      config.process.rlimits = [];
    });
    expect((await runtime(["validate", "--host", "none", path])).stdout).not.toContain("arguments-too-large");
    const limited = (...args: string[]) =>
      call(directory, ["sh", "-c", 'ulimit -S -s 8192 && exec "$@"', "sh", RUNTIME, "--root", root, ...args]);
    const { stdout } = await limited("validate", path);
    expect(stdout).toMatch(/error\[arguments-too-large\].*\n.* take at least 36\d{5} bytes.*\n?.* 2097152 /);
    expect(stdout).toContain("set RLIMIT_STACK in process.rlimits to 14 MiB");
    const name = id();
    expect((await limited("create", "-b", path, name)).status).toBe(0);
    expect((await runtime(["start", name])).stderr).toContain("argument list too long (process.args and process.env together");
  });
});
