/** Containers that are dumped to a directory of a test's, or restored from it, by a criu that only speaks its protocol. */
import { beforeEach } from "vitest";
import type { Config } from "./config.ts";
import { type FakeCriu, useFakeCriu } from "./fake-criu.ts";
import { type Harness, shell } from "./harness.ts";

export interface Dumps extends FakeCriu {
  /** Of this test among those of its file: for names. */
  count(): number;
  stateOf(name: string): Promise<{ readonly pid: number; readonly status: string }>;
  running(change?: (config: Config) => void): Promise<{ readonly name: string; readonly path: string }>;
  /** A bundle, and the arguments that restore it. */
  restoring(change?: (config: Config) => void): { readonly name: string; readonly path: string; readonly args: readonly string[] };
}

/** Registers hooks: to be called inside `describe`, after useHarness. */
export function useDumps({ bundle, id, ...harness }: Harness): Dumps {
  const fake = useFakeCriu({ bundle, id, ...harness });
  let count = 0;
  beforeEach(() => {
    count++;
  });

  return {
    ...fake,
    count: () => count,
    stateOf: async (name) => JSON.parse(await fake.ok(["state", name])),
    async running(change = () => {}) {
      const name = id();
      const path = bundle((config) => {
        shell(config, "sleep 1000");
        change(config);
      });
      await fake.ok(["run", "-d", "-b", path, name]);
      return { name, path };
    },
    restoring(change = () => {}) {
      const [name, path] = [id(), bundle(change)];
      return { name, path, args: ["restore", "-d", "--image-path", fake.images(), "-b", path, name] };
    },
  };
}
