import { HOOK_KINDS, type Spec } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

type Hook = NonNullable<NonNullable<NonNullable<Spec["hooks"]>["prestart"]>>[number];

function* eachHook({ hooks }: Spec): Generator<readonly [name: string, pointer: string, hook: Hook]> {
  if (!hooks) return;
  for (const kind of HOOK_KINDS) {
    for (const [index, hook] of (hooks[kind] ?? []).entries()) yield [`hooks.${kind}[${index}]`, `/hooks/${kind}/${index}`, hook];
  }
}

/** config, POSIX-platform hooks: path is absolute, a timeout is greater than zero, and nothing is cut short by a NUL byte. */
export const hooks: Check = (spec, report) => {
  if (!spec.hooks) return;
  for (const [name, pointer, { path, args, env, timeout }] of eachHook(spec)) {
    if (!path.startsWith("/")) report.error("hook-path-relative", `${pointer}/path`, `${name}: "${path}" is not an absolute path`);
    if (timeout !== null && timeout !== undefined && timeout <= 0)
      report.error(
        "hook-timeout",
        `${pointer}/timeout`,
        `${name}: timeout ${timeout} is not greater than zero`,
        "leave it out for no limit",
      );
    for (const text of [path, ...(args ?? []), ...(env ?? [])])
      if (text.includes("\0")) report.error("nul-byte", pointer, `${name}: contains a NUL byte`);
  }
};
