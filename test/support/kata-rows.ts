/** Containers for the rows of Kata Containers' conversion of config.json (docs/kata-annotations.md). */
import type { Config } from "./config.ts";
import { type Harness, shell } from "./harness.ts";

export const CRI = "io.kubernetes.cri";

export const annotated = (annotations: Record<string, string>) => (config: Config) => void Object.assign(config, { annotations });

/** To be called inside `describe`, after useHarness. */
export function useKataRows({ bundle, id, ok, runtime }: Harness) {
  /** A bundle whose container prints what the command does, and ends. */
  const printing = (command: string, change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, command);
      change(config);
    });
  const staying = (change?: (config: Config) => void) => printing("exec sleep 60", change);
  const output = (path: string): Promise<string> => ok(["run", "-b", path, id()]);
  const stateOf = async (name: string) => JSON.parse(await ok(["state", name]));

  async function started(path: string, flags: readonly string[] = []): Promise<{ readonly name: string; readonly pid: number }> {
    const name = id();
    await ok([...flags, "run", "-d", "-b", path, name]);
    return { name, pid: (await stateOf(name)).pid };
  }

  /** Findings of `validate`: "code pointer". */
  async function findings(path: string): Promise<string[]> {
    const { stdout } = await runtime(["validate", "-f", "json", "-b", path]);
    return JSON.parse(stdout).findings.map(({ code, pointer }: { code: string; pointer: string }) => `${code} ${pointer}`);
  }

  return { findings, output, printing, started, stateOf, staying };
}
