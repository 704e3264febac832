/** Requests about several tasks of a group, each one transaction. */
import { z } from "zod";
import { type Selected, type Selection, selectionIn } from "../../engine/index.ts";
import { jsonRoute } from "../http/route.ts";
import type { Services } from "../http/services.ts";
import { log } from "../log.ts";
import { hostOf } from "../read-file.ts";
import { originOfFile } from "../schemas/file.ts";
import { groupName } from "../schemas/names.ts";

const fields = z.strictObject({
  group: groupName.default("default"),
  names: z.array(z.string().min(1)).min(1).optional().describe("Names or ids. An unknown one is an error, and the request does nothing."),
  text: z.string().optional().describe("A file as for apply: the existing tasks with the names of the file."),
  ...originOfFile,
  takeOver: z.boolean().default(false).describe("With a file: include tasks that another file or project has made."),
  all: z.literal(true).optional().describe("All tasks of the group."),
});

type Named = Pick<z.output<typeof fields>, "names" | "text" | "all" | "from" | "isProject" | "takeOver">;
const isOne = ({ names, text, all }: Pick<Named, "names" | "text" | "all">) =>
  [names, text, all].filter((one) => one !== undefined).length === 1;
const ONE = "use one of names, text and all";
const selection = fields.refine(isOne, ONE);
const deletion = fields
  .extend({
    volumes: z
      .boolean()
      .default(false)
      .describe(
        "Also remove the kept volumes of these tasks, and of tasks of the file that no longer exist. Volumes that another task of the group names stay.",
      ),
  })
  .refine(isOne, ONE);

const selected = z.strictObject({
  tasks: z.array(z.strictObject({ id: z.string(), name: z.string() })),
  forgotten: z.array(z.string()).describe("Names for which only an earlier success was recorded."),
  missing: z.array(z.string()).describe("Names of the file without a task."),
  others: z.array(z.string()).describe("Names of the tasks of the group that the request does not name."),
});

const recorded = { status: 202, description: "The request is recorded, but not carried out yet", schema: selected } as const;

/** @throws EngineError invalid-spec */
async function selectionOf({ names, text, ...origin }: Named, { engine, files }: Services): Promise<Selection> {
  // Only names are taken of the file.
  if (text !== undefined) return selectionIn(await files.read(text, { ...hostOf(engine), ignoresClusterFields: true }), origin);
  return names === undefined ? "all" : { names };
}

const idsOf = ({ tasks }: Selected) => tasks.map(({ id }) => id);

export const deleteTasks = jsonRoute({
  method: "post",
  path: "/v1/delete",
  operation: "deleteTasks",
  access: "admin",
  summary: "Stop tasks of a group in the inverse order of their dependencies, and remove everything that belongs to them",
  body: deletion,
  answer: {
    ...recorded,
    schema: selected.extend({
      pools: z.array(z.string()).describe("Names of the pools of the file, or of all of the group, that are removed."),
      volumes: z.array(z.string()).describe("Names of the kept volumes that are removed with them."),
    }),
  },
  errors: ["invalid-spec", "unknown-task", "other-origin", "not-written", "too-many"],
  async handle({ body, caller, ...services }) {
    const { engine } = services;
    const by = await caller();
    const done = await engine.deleteAll(await selectionOf(body, services), body.group, by, body.volumes);
    log("info", "delete-asked", { tasks: idsOf(done), by });
    return done;
  },
});

export const stopTasks = jsonRoute({
  method: "post",
  path: "/v1/stop",
  operation: "stopTasks",
  access: "admin",
  summary: "Stop tasks of a group in the inverse order of their dependencies, and keep them for inspection",
  body: selection,
  answer: recorded,
  errors: ["invalid-spec", "unknown-task", "other-origin", "not-written", "too-many"],
  async handle({ body, caller, ...services }) {
    const { engine } = services;
    const by = await caller();
    const done = await engine.stopAll(await selectionOf(body, services), body.group, by);
    log("info", "stop-asked", { tasks: idsOf(done), by });
    return done;
  },
});

export const restartTasks = jsonRoute({
  method: "post",
  path: "/v1/restart",
  operation: "restartTasks",
  access: "admin",
  summary: "Restart all containers of tasks of a group",
  body: selection,
  answer: {
    ...recorded,
    schema: selected.extend({
      stopped: z.array(z.string()).describe("Names of tasks that have stopped or are being stopped. The restart does not affect them."),
    }),
  },
  errors: ["invalid-spec", "unknown-task", "not-running", "other-origin", "not-written", "too-many"],
  async handle({ body, caller, ...services }) {
    const { engine } = services;
    const by = await caller();
    const done = await engine.restartAll(await selectionOf(body, services), body.group, by);
    log("info", "restart-asked", { tasks: idsOf(done), by });
    return done;
  },
});
