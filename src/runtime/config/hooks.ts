/** `hooks` -> HooksConfig (config, POSIX-platform hooks). */
import { HOOK_KINDS, type Spec } from "../spec/index.ts";
import type { HookConfig, HookKind, HooksConfig } from "./types.ts";

type SpecHook = NonNullable<NonNullable<NonNullable<Spec["hooks"]>["prestart"]>>[number];

export function deriveHooks(hooks: Spec["hooks"]): HooksConfig {
  const config: { -readonly [K in HookKind]?: readonly HookConfig[] } = {};
  for (const kind of HOOK_KINDS) {
    const list = hooks?.[kind];
    if (list && list.length > 0) config[kind] = list.map(deriveHook);
  }
  return config;
}

function deriveHook({ path, args, env, timeout }: SpecHook): HookConfig {
  return {
    path,
    args: args && args.length > 0 ? args : [path],
    ...(env && { env }),
    timeout: Math.min(Number(timeout ?? 0), LONGEST),
  };
}

/** What the helper's timer counts in seconds; longer is as good as none. */
const LONGEST = 0xffff_ffff;
