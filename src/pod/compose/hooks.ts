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

/** Most characters of a command that a warning repeats. */
const MOST_SHOWN = 40;

/** Words of a command that is a text or a list. As in Compose, a text ends at the first operator of a shell, which a warning says. */
export function wordsIn(value: string | string[], path: readonly (string | number)[], { refuse, warn }: ServicePlace): string[] {
  if (typeof value !== "string") return value;
  try {
    const { words, left } = wordsOf(value);
    const shown = left.length > MOST_SHOWN ? `${left.slice(0, MOST_SHOWN)}...` : left;
    if (left !== "") warn(`${JSON.stringify(shown)} is not passed on, as with Compose: only a shell runs it, as in [sh, -c, "..."]`, path);
    return [...words];
  } catch (error) {
    refuse((error as Error).message, path);
    return [];
  }
}
