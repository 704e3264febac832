/** The runtimes that are attacked. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../support/programs.ts";
import type { Attack } from "./attack.ts";

export const SUBJECTS = ["runt", "undefended", "crun", "runc"] as const;
export type SubjectName = (typeof SUBJECTS)[number];

export interface Runtime {
  readonly name: SubjectName;
  readonly path: string;
  readonly isRunt: boolean;
  /** Goes to every process of the runtime. */
  readonly env: Readonly<Record<string, string>>;
}

const PATHS: Readonly<Record<SubjectName, string>> = {
  runt: join(REPOSITORY, "bin/runt"),
  undefended: join(REPOSITORY, "build/testing/runt"),
  crun: "/usr/bin/crun",
  runc: "/usr/sbin/runc",
};

/** The runtime as it is for this attack, or why there is none. */
export function runtimeFor(name: SubjectName, attack: Attack): Runtime | { readonly skipped: string } {
  const path = PATHS[name];
  if (name === "undefended" && attack.defences === undefined) return { skipped: attack.why };
  if (!existsSync(path)) return { skipped: `no ${path}` };
  const env = name === "undefended" && attack.defences !== undefined ? { RUNT_DISABLE_DEFENCES: attack.defences } : {};
  return { name, path, isRunt: name === "runt" || name === "undefended", env };
}
