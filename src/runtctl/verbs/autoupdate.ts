import { Option } from "commander";
import type { AutoUpdateView } from "../../engine/index.ts";
import { ClientError } from "../client.ts";
import { EXIT, UsageError } from "../errors.ts";
import { printable } from "../output/style.ts";
import { shortDigest, table } from "../output/table.ts";
import { type End, print, printError } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { durationOf, endFor } from "../until.ts";
import { verb } from "../verb.ts";
import { follow } from "./rollout.ts";

interface Options {
  readonly allGroups?: true;
  readonly dryRun?: true;
  readonly wait?: true;
  readonly timeout?: string;
  readonly output?: "json";
}

export const autoupdate = verb<Options>({
  name: "autoupdate",
  summary: "ask registries for newer images of the tags that services run, and roll these out",
  description: [
    "Only containers with the annotation io.containers.autoupdate: registry are updated: a label in a Compose file, AutoUpdate in a Quadlet file, an annotation of a pod or of a container in a task file. With local, the image that has the name in the store of this host is taken, and no registry is asked. Their service needs `update` (deploy.update_config in a Compose file), because a new image is rolled out as a changed file is: replica by replica, and back to the old digest if it does not work.",
    "An image that a service has left because it did not work, or by `rollout undo`, is not tried again, until the tag leads to another one. `rollout restart` tries it all the same.",
    "The exit status is 1 if a registry or a pull has failed, and with --wait if a rollout does not reach its version.",
  ],
  examples: [
    ["autoupdate --dry-run", "show which services of the group would get another image"],
    ["autoupdate -A", "update all services that ask for it"],
    ["autoupdate web --wait", "update the service web, and follow its rollout"],
  ],
  define: (command) =>
    command
      .argument("[service...]", "services of the group; default: all")
      .option("-A, --all-groups", "services of every group")
      .option("-n, --dry-run", "only ask the registries")
      .option("-w, --wait", "wait until the rollouts have ended, and print their steps")
      .option(
        "--timeout <duration>",
        "end the call after this time, with questions, pulls and rollouts of all services; default: without a limit",
      )
      .addOption(new Option("-o, --output <format>", "output format").choices(["json"])),
  async run(session, names, { allGroups, dryRun = false, wait, timeout, output }) {
    if (allGroups && names.length > 0) throw new UsageError("-A is for the services of every group: not with a name");
    if (wait && (dryRun || output !== undefined)) throw new UsageError("--wait is not for --dry-run and -o");
    if (timeout !== undefined && !wait) throw new UsageError("--timeout without --wait: there is no wait that it could end");
    const end = endFor(timeout === undefined ? undefined : durationOf(timeout));
    const { client, group } = session;
    const known = wait ? (await client.call<{ lastSequence: number }>("GET", "/v1/node")).lastSequence : undefined;
    const body = { ...(allGroups ? {} : { group }), ...(names.length === 0 ? {} : { names }), dryRun };
    const { updates } = await client
      .call<{ updates: readonly AutoUpdateView[] }>("POST", "/v1/autoupdate", body, { isLong: true, end })
      .catch(whyOver);
    if (output === "json") print(JSON.stringify(updates, null, 2));
    else if (updates.length === 0) printError("no container has the annotation io.containers.autoupdate");
    else print(tableOf(updates, allGroups === true));
    const status = updates.some(({ state }) => state === "failed") ? EXIT.failed : EXIT.done;
    return wait ? Math.max(status, await followAll(session, updates, known, end)) : status;
  },
});

/** @throws the error */
function whyOver(error: unknown): never {
  if (!(error instanceof ClientError) || error.code !== "timeout") throw error;
  const what = "the wait is over before all registries have answered and all images are pulled";
  throw new ClientError(error.code, `${what}: rollouts that have begun go on, and no further one begins`);
}

/** The moment `end` is one for all services. */
async function followAll(
  session: Session,
  updates: readonly AutoUpdateView[],
  known: number | undefined,
  end: End | undefined,
): Promise<number> {
  const begun = new Map(updates.flatMap((one) => (one.revision === null ? [] : [[`${one.group}/${one.name}`, one] as const])));
  let status: number = EXIT.done;
  for (const { group, name, revision } of begun.values())
    status = Math.max(status, await follow({ ...session, group }, name, revision!, known, end));
  return status;
}

function tableOf(updates: readonly AutoUpdateView[], hasGroups: boolean): string {
  const rows = updates.map((one) => [
    ...(hasGroups ? [printable(one.group)] : []),
    printable(one.name),
    printable(one.container),
    printable(one.image ?? "-"),
    short(one.from),
    short(one.to),
    wordOf(one),
  ]);
  return table([...(hasGroups ? ["GROUP"] : []), "NAME", "CONTAINER", "IMAGE", "FROM", "TO", "UPDATED"], rows);
}

function short(digest: string | null): string {
  return digest === null ? "-" : printable(shortDigest(digest));
}

function wordOf({ state, revision, reason }: AutoUpdateView): string {
  const word = revision === null ? state : `${state}, revision ${revision}`;
  return reason === null ? word : `${word}: ${printable(reason)}`;
}
