/** Verbs of a container that exists, of which the command line says little more than its id. */
import { RuntError } from "../../errors/index.ts";
import { killBelow } from "../../execute/index.ts";
import * as host from "../../host/index.ts";
import type { RuntimeOptions } from "../../prepare/index.ts";
import { closeNames } from "../../spec/index.ts";
import { describe, listIds } from "../../state/index.ts";
import * as verbs from "../../verbs/index.ts";
import { absolutePath, text, type Verb } from "../context.ts";
import { print } from "../output.ts";
import { updateResources, updateSchemata } from "../update-resources.ts";

export const state: Verb = ({ options, positionals }) => {
  const id = positionals[0]!;
  print(JSON.stringify(describe(options.root, id), null, 2));
  return 0;
};

export const start: Verb = ({ options, positionals, flags, warned }) => {
  const id = positionals[0]!;
  const warnings: string[] = [];
  const processFile = text(flags["process"]);
  verbs.start(options, id, warnings, processFile === undefined ? {} : { processFile });
  warned({ warnings, demanded: [] });
  return 0;
};

export const kill: Verb = ({ options, positionals, flags }) => {
  const [id, word = "TERM"] = positionals as [string, string?];
  const signal = parseSignal(word);
  const all = flags["all"] === true;
  if (flags["cgroup"] !== undefined) killBelow(options.root, id, signal, flags);
  else if (flags["regex"]) forEachMatch(options, id, (match) => verbs.killRunning(options, match, signal, all));
  else verbs.kill(options, id, signal, all);
  return 0;
};

const MAXIMUM_SIGNAL = 64;

/** A number, or a name in any case with or without SIG. */
function parseSignal(word: string): number {
  const number = /^\d{1,3}$/.test(word) ? Number(word) : host.signalNumber(word.toUpperCase().replace(/^SIG/, ""));
  if (number === undefined || number < 0 || number > MAXIMUM_SIGNAL) throw unknownSignal(word);
  return number;
}

function unknownSignal(word: string): RuntError {
  const close = closeNames(word.toUpperCase().replace(/^SIG/, ""), Object.keys(host.SIGNALS));
  return new RuntError("usage", `unknown signal ${JSON.stringify(word)}`, {
    hint: close.length > 0 ? `did you mean ${close.join(" or ")}?` : `use 0 to ${MAXIMUM_SIGNAL}, or a name such as TERM, KILL, HUP`,
  });
}

export const pause: Verb = ({ options, positionals }) => {
  verbs.pause(options, positionals[0]!);
  return 0;
};

export const resume: Verb = ({ options, positionals }) => {
  verbs.resume(options, positionals[0]!);
  return 0;
};

export const update: Verb = ({ options, positionals, flags }) => {
  verbs.update(options, positionals[0]!, { resources: updateResources(flags), schemata: updateSchemata(flags) });
  return 0;
};

export const remove: Verb = ({ options, positionals, flags }) => {
  const id = positionals[0]!;
  const force = flags["force"] === true;
  const state = flags["state-fd"] as number | undefined;
  if (flags["regex"]) forEachMatch(options, id, (match) => verbs.remove(options, match, force));
  else verbs.remove(options, id, force, state);
  return 0;
};

export const changeMounts: Verb = ({ options, positionals }) => {
  const [action, id, file] = positionals as [string, string, string];
  if (action !== "add" && action !== "remove") throw new RuntError("usage", `mounts: unknown command "${action}": use add or remove`);
  verbs.changeMounts(options, id, action, absolutePath(file));
  return 0;
};

/** A verb on every container whose id matches a regular expression (crun's --regex), whatever fails. @throws RuntError the first failure, with the number of further ones */
function forEachMatch({ root }: RuntimeOptions, pattern: string, act: (id: string) => void): void {
  const expression = compilePattern(pattern);
  const failures: RuntError[] = [];
  for (const id of listIds(root).filter((candidate) => expression.test(candidate))) {
    try {
      act(id);
    } catch (error) {
      if (!(error instanceof RuntError)) throw error;
      // Deleted since the listing.
      if (error.code !== "id-unknown") failures.push(new RuntError(error.code, `${id}: ${error.message}`, error.details));
    }
  }
  const [first, ...others] = failures;
  if (!first) return;
  throw others.length === 0 ? first : new RuntError(first.code, `${first.message} (and ${others.length} more)`, first.details);
}

/** It need not match the whole id, as for regexec(3). */
function compilePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (cause) {
    throw new RuntError("usage", `--regex: invalid regular expression "${pattern}"`, { cause });
  }
}
