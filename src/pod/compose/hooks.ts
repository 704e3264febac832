/** Translates post_start and pre_stop of a service, and commands that are written as one text. Source: Compose specification, "Using lifecycle hooks". */
import type { TaskInput } from "../../engine/spec/index.ts";
import { pairsOf } from "./fields.ts";
import type { ServicePlace } from "./place.ts";
import type { ServiceInput } from "./schema.ts";
import { wordsOf } from "./words.ts";

type Container = TaskInput["containers"][number];
type Hooks = NonNullable<ServiceInput["post_start"]>;

/** A hook of Compose is a command, by default with user, directory and variables of the service. A failure of the first kind ends the service. */
export function hooksOf(
  { post_start: after, pre_stop: before }: ServiceInput,
  place: ServicePlace,
): Pick<Container, "postStart" | "preStop"> {
  return {
    ...(after === undefined || after.length === 0 ? {} : { postStart: hookOf(after, "post_start", place) }),
    ...(before === undefined || before.length === 0 ? {} : { preStop: hookOf(before, "pre_stop", place) }),
  };
}

function hookOf(hooks: Hooks, field: string, place: ServicePlace) {
  const commands = hooks.map(({ command, environment, user, working_dir: cwd }, at) => ({
    command: wordsIn(command, [field, at, "command"], place),
    env: pairsOf(environment, place.environment),
    ...(cwd === undefined ? {} : { cwd }),
    ...(user === undefined || user === "" ? {} : { user }),
  }));
  const [{ command, env, ...others }] = commands as [(typeof commands)[number]];
  const isPlain = commands.length === 1 && Object.keys({ ...env, ...others }).length === 0;
  return isPlain ? { command } : { commands };
}

export function wordsIn(value: string | string[], path: readonly (string | number)[], { refuse }: ServicePlace): string[] {
  try {
    return typeof value === "string" ? wordsOf(value) : value;
  } catch (error) {
    refuse((error as Error).message, path);
    return [];
  }
}
