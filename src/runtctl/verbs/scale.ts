import type { ServiceView } from "../../engine/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import { printable } from "../output/style.ts";
import { print } from "../platform/index.ts";
import { rolloutPath } from "../rollouts.ts";
import { durationOf, endFor } from "../until.ts";
import { verb } from "../verb.ts";
import { follow } from "./rollout.ts";

interface Options {
  readonly wait?: true;
  readonly timeout?: string;
}

export const scale = verb<Options>({
  name: "scale",
  summary: "change the number of a service's replicas",
  description: [
    "New replicas have the next indices, and start at once. If a service gets fewer, those with the highest indices are stopped, after new connections are no longer led to them. The change is a revision of the service: rollout history lists it, and rollout undo takes it back.",
    "The file stays as it is: applying it again gives the service as many replicas as the file says.",
    "A rollout that is paused or has failed stays so: new replicas get the last good version.",
    "If a name or a number is wrong, nothing changes. With --wait, scale returns when the new replicas work; 1 if they do not.",
  ],
  examples: [
    ["scale web=5", "give the service web five replicas"],
    ["scale web=1 worker=3 --wait", "change two services, and wait"],
  ],
  define: (command) =>
    command
      .argument("<service=number...>", "services of the group, and their numbers of replicas")
      .option("-w, --wait", "wait until the new replicas work, and print the steps")
      .option("--timeout <duration>", "wait for at most this long, for all services together; default: without a limit"),
  async run(session, words, { wait, timeout }) {
    if (timeout !== undefined && !wait) throw new UsageError("--timeout without --wait: there is no wait that it could end");
    const end = endFor(timeout === undefined ? undefined : durationOf(timeout));
    const asked = words.map(askedIn);
    const twice = asked.find(({ name }, at) => asked.findIndex((one) => one.name === name) !== at);
    if (twice !== undefined) throw new UsageError(`${twice.name} is named twice`);
    const { client, group } = session;
    // A name that is wrong is found before anything changes.
    const before = new Map<string, ServiceView>();
    for (const { name } of asked) before.set(name, await client.call<ServiceView>("GET", rolloutPath(name, group)));
    const known = wait ? (await client.call<{ lastSequence: number }>("GET", "/v1/node")).lastSequence : undefined;
    const revisions = new Map<string, number>();
    for (const { name, replicas } of asked) {
      const { revision } = await client.call<{ revision: number }>("POST", rolloutPath(name, group, "scale"), { replicas });
      const had = before.get(name)!.replicas.length;
      print(`service ${printable(name)} has ${replicas} ${replicas === 1 ? "replica" : "replicas"}, before ${had}, revision ${revision}`);
      revisions.set(name, revision);
    }
    let status: number = EXIT.done;
    if (wait) for (const [name, revision] of revisions) status = Math.max(status, await follow(session, name, revision, known, end));
    return status;
  },
});

/** @throws UsageError */
function askedIn(word: string): { readonly name: string; readonly replicas: number } {
  const [, name = "", number = ""] = /^([^=]+)=(\d{1,4})$/.exec(word) ?? [];
  if (name === "") throw new UsageError(`${word}: write SERVICE=NUMBER, such as web=3`);
  const replicas = Number(number);
  if (replicas === 0) throw new UsageError(`${word}: a service has at least one replica; delete its tasks if none is to run`);
  return { name, replicas };
}
