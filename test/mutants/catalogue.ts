/** The mutants: runt with one kind of operation, or one row of a table, taken away. Each is a change of one source file. */
import { MOUNT_OPTIONS } from "../../src/runtime/config/mount-options.ts";
import { HOOK_KINDS, NAMESPACE_TYPES, RLIMIT_TYPES } from "../../src/runtime/spec/names.ts";
import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES, SECCOMP_FLAGS, SECCOMP_OPERATORS } from "../../src/runtime/spec/seccomp.ts";
import { CAPABILITIES } from "../../src/shared/linux/capabilities.ts";
import {
  IO_PRIORITY_CLASSES,
  MEMORY_POLICY_FLAGS,
  MEMORY_POLICY_MODES,
  PERSONALITY_DOMAINS,
  SCHEDULER_FLAGS,
  SCHEDULER_POLICIES,
} from "../../src/shared/linux/policies.ts";
import { OPS } from "../../src/shared/protocol/index.ts";

export interface Mutant {
  /** "op/mount.bind", "mount option/noexec": unique. */
  readonly id: string;
  readonly table: string;
  /** The row: tests whose configuration has this word are tried first. */
  readonly row: string;
  /** Source file below the repository. */
  readonly file: string;
  readonly change: (source: string) => string;
}

function replaceOnce(source: string, from: string, to: string): string {
  const parts = source.split(from);
  if (parts.length < 2) throw new Error(`${JSON.stringify(from)} is not in the source`);
  return [parts[0], parts.slice(1).join(from)].join(to);
}

/** Operations of this kind are never put into a plan. */
const operations = Object.keys(OPS).map(
  (row): Mutant => ({
    id: `op/${row}`,
    table: "op",
    row,
    file: "src/runtime/plan/compile/builder.ts",
    change: (source) => replaceOnce(source, "ops[ops.length] =", `if (op !== ${JSON.stringify(row)}) ops[ops.length] =`),
  }),
);

const mountOptions = [...MOUNT_OPTIONS.keys()].map(
  (row): Mutant => ({
    id: `mount option/${row}`,
    table: "mount option",
    row,
    file: "src/runtime/config/mount-options.ts",
    change: (source) => `${source}\n(MOUNT_OPTIONS as Map<string, unknown>).delete(${JSON.stringify(row)});\n`,
  }),
);

/** Rows that are found by name: under another name nobody finds them. */
function renamed(table: string, file: string, constant: string, rows: readonly string[], quoted: boolean): Mutant[] {
  return rows.map((row) => ({
    id: `${table}/${row}`,
    table,
    row,
    file,
    change: (source) => {
      const at = source.indexOf(`export const ${constant} `);
      if (at < 0) throw new Error(`${constant} is not in ${file}`);
      const [from, to] = quoted ? [`"${row}"`, `"(none) ${row}"`] : [`${row}:`, `"(none) ${row}":`];
      return source.slice(0, at) + replaceOnce(source.slice(at), from, to);
    },
  }));
}

const NAMES = "src/runtime/spec/names.ts";
const SECCOMP = "src/runtime/spec/seccomp.ts";
const POLICIES = "src/shared/linux/policies.ts";

export const MUTANTS: readonly Mutant[] = [
  ...operations,
  ...mountOptions,
  ...renamed("capability", "src/shared/linux/capabilities.ts", "CAPABILITIES", CAPABILITIES, true),
  ...renamed("namespace", NAMES, "NAMESPACE_TYPES", NAMESPACE_TYPES, true),
  ...renamed("rlimit", NAMES, "RLIMIT_TYPES", RLIMIT_TYPES, true),
  ...renamed("hook", NAMES, "HOOK_KINDS", HOOK_KINDS, true),
  ...renamed("seccomp action", SECCOMP, "SECCOMP_ACTIONS", Object.keys(SECCOMP_ACTIONS), false),
  ...renamed("seccomp operator", SECCOMP, "SECCOMP_OPERATORS", Object.keys(SECCOMP_OPERATORS), false),
  ...renamed("seccomp architecture", SECCOMP, "SECCOMP_ARCHITECTURES", Object.keys(SECCOMP_ARCHITECTURES), false),
  ...renamed("seccomp flag", SECCOMP, "SECCOMP_FLAGS", Object.keys(SECCOMP_FLAGS), false),
  ...renamed("scheduler policy", POLICIES, "SCHEDULER_POLICIES", Object.keys(SCHEDULER_POLICIES), false),
  ...renamed("scheduler flag", POLICIES, "SCHEDULER_FLAGS", Object.keys(SCHEDULER_FLAGS), false),
  ...renamed("I/O priority class", POLICIES, "IO_PRIORITY_CLASSES", Object.keys(IO_PRIORITY_CLASSES), false),
  ...renamed("memory policy mode", POLICIES, "MEMORY_POLICY_MODES", Object.keys(MEMORY_POLICY_MODES), false),
  ...renamed("memory policy flag", POLICIES, "MEMORY_POLICY_FLAGS", Object.keys(MEMORY_POLICY_FLAGS), false),
  ...renamed("personality domain", POLICIES, "PERSONALITY_DOMAINS", Object.keys(PERSONALITY_DOMAINS), false),
];
