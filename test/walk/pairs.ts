/** Two verbs at once on one container: what they answer, and what is left, has to fit some order of their steps. */
import { random } from "../support/random.ts";
import { type Action, type Container, isAllowed, NONE, outcomes, shownStatus, type VerbName } from "./model.ts";
import type { Subject } from "./subject.ts";
import { answerText } from "./walk.ts";

/** Ways to every status that a container can be in. */
const BEGINNINGS: readonly (readonly VerbName[])[] = [
  [],
  ["create"],
  ["run --detach"],
  ["create", "pause"],
  ["run --detach", "pause"],
  ["run --detach", "kill KILL"],
];
const CONCURRENT: readonly VerbName[] = [
  "create",
  "run --detach",
  "start",
  "kill TERM",
  "kill KILL",
  "kill 0",
  "pause",
  "resume",
  "update",
  "delete",
  "delete --force",
  "state",
];

/** How many pairs were tried, and what was wrong with the first one that was. */
export async function tryPairs(subject: Subject, seed: number, more: () => boolean): Promise<{ done: number; mismatch?: string }> {
  const below = random(seed);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  for (let done = 0; ; done++) {
    if (!more()) return { done };
    const [beginning, pair] = [pick(BEGINNINGS), [pick(CONCURRENT), pick(CONCURRENT)]];
    const mismatch = await tryPair(subject, `pair-${done % 10}`, beginning, pair, below(2_000));
    if (mismatch !== undefined) return { done, mismatch: `seed ${seed}, pair ${done}: ${mismatch}` };
  }
}

/** `delay`: microseconds between the two, roughly. */
async function tryPair(
  subject: Subject,
  id: string,
  beginning: readonly VerbName[],
  pair: readonly VerbName[],
  delay: number,
): Promise<string | undefined> {
  let container: Container = NONE;
  for (const verb of beginning) {
    container = { ...outcomes(container, [{ verb }])[0]!.container, deaf: false };
    await subject.perform(id, { verb });
    await subject.until(id, [shownStatus(container)]);
  }
  const actions = pair.map((verb): Action => (verb === "update" ? { verb, limit: 60 } : { verb }));
  const possible = outcomes(container, actions);
  const answers = await Promise.all(
    actions.map(async (action, index) => {
      if (index > 0) await wait(delay);
      return subject.perform(id, action);
    }),
  );
  const fitting = possible.filter((outcome) => outcome.answers.every((answer, index) => isAllowed(answer, answers[index]!)));
  const status = await subject.until(
    id,
    fitting.map((outcome) => shownStatus(outcome.container)),
  );
  const fits = fitting.some((outcome) => shownStatus(outcome.container) === status);
  await subject.perform(id, { verb: "delete --force" });
  await subject.until(id, ["none"]);
  if (fits) return undefined;
  const got = answers.map((answer, index) => `${pair[index]}: ${answerText(answer)}`).join("; ");
  const allowed = possible.map((outcome) => `${outcome.answers.map(answerText).join("; ")} -> ${shownStatus(outcome.container)}`);
  return `${beginning.join(", ") || "nothing"}, then ${got} -> ${status}; allowed: ${[...new Set(allowed)].join(" | ")}`;
}

async function wait(microseconds: number): Promise<void> {
  const end = performance.now() + microseconds / 1000;
  while (performance.now() < end) await new Promise((done) => setImmediate(done));
}
