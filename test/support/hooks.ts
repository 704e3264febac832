/** Hooks that write down when they ran, where, and what they were told. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { Config } from "./config.ts";
import { shell, type useHarness } from "./harness.ts";

export const KINDS = ["prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"] as const;
export type Kind = (typeof KINDS)[number];
export interface Hook {
  path: string;
  args?: string[];
  env?: string[];
  timeout?: number;
}
export type Hooks = Partial<Record<Kind, Hook[]>>;

export const script = (text: string, more: Partial<Hook> = {}): Hook => ({ path: "/bin/sh", args: ["sh", "-c", text], ...more });

/** Inside a `describe`: a directory for each test, which the container sees as /log. */
export function useHooks({ bundle, directory }: ReturnType<typeof useHarness>) {
  let log = "";
  let count = 0;
  beforeEach(() => {
    log = join(directory, `log-${++count}`);
    mkdirSync(log);
    chmodSync(log, 0o777);
  });
  afterEach(() => rmSync(log, { recursive: true, force: true }));

  const read = (name: string) => (existsSync(join(log, name)) ? readFileSync(join(log, name), "utf8") : "");
  const order = () => read("order").trim().split("\n");
  /** Hooks see the log directory at its own path, the container (and startContainer) at /log. */
  const note = (kind: Kind, text = ":") => {
    const place = kind === "startContainer" ? "/log" : log;
    return script(`cat > ${place}/${kind}; echo ${kind} >> ${place}/order; { ${text}; } > ${place}/${kind}.out 2>&1; true`);
  };
  const withHooks = (
    hooks: Hooks,
    change: (config: Config) => void = (config) => shell(config, "echo program >> /log/order; exec sleep 60"),
  ) =>
    bundle((config) => {
      config.mounts.push({ destination: "/log", type: "bind", source: log, options: ["rbind"] });
      change(config);
      config.hooks = hooks;
    });
  const all = (text?: string): Hooks => Object.fromEntries(KINDS.map((kind) => [kind, [note(kind, text)]]));
  const state = (kind: Kind) => JSON.parse(read(kind));
  return { all, log: () => log, note, order, read, state, withHooks };
}
