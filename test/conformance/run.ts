/** Run items against one runtime. */
import { join } from "node:path";
import { Context, type Runtime, Skip } from "./context.ts";
import type { Item } from "./group.ts";
import { missing } from "./host.ts";

export type Outcome = (
  | { readonly result: "passed"; readonly milliseconds: number }
  | { readonly result: "failed"; readonly milliseconds: number; readonly detail: string }
  /** Not on this host, or not of this runtime: with the reason. */
  | { readonly result: "skipped"; readonly detail: string }
  /** No observer can tell. */
  | { readonly result: "untested"; readonly detail: string }
) & {
  /** Seen on another host. */
  readonly elsewhere?: boolean;
};

export interface Run {
  readonly runtime: Runtime;
  readonly directory: string;
  readonly rootfs: string;
  /** One that is only copied. */
  readonly untouchedRootfs: string;
  readonly workers: number;
  /** After the test, while what it made is still there. */
  readonly tested?: (item: Item, context: Context) => void;
  readonly done?: (item: Item, outcome: Outcome) => void;
  /** Asked before each item; true ends the run early. */
  readonly enough?: () => boolean;
}

/** Outcomes by item id. Items that must be alone run after the others. */
export async function runItems(items: readonly Item[], run: Run): Promise<ReadonlyMap<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const work = async (queue: Item[]): Promise<void> => {
    for (let item = queue.shift(); item !== undefined && run.enough?.() !== true; item = queue.shift()) {
      outcomes.set(item.id, await runItem(item, run));
    }
  };
  const together = items.filter(({ alone }) => !alone);
  await Promise.all(Array.from({ length: run.workers }, () => work(together)));
  await work(items.filter(({ alone }) => alone));
  return outcomes;
}

async function runItem(item: Item, run: Run): Promise<Outcome> {
  const context = new Context(item.id, run.runtime, join(run.directory, `${run.runtime.name}-${item.id}`), run.rootfs, run.untouchedRootfs);
  const began = Date.now();
  let outcome: Outcome;
  if (item.test === undefined) outcome = { result: "untested", detail: item.reason ?? "" };
  else {
    const lacking = missing(item.needs ?? []);
    outcome = lacking === undefined ? await attempt(item.test, context, began) : { result: "skipped", detail: lacking };
  }
  run.tested?.(item, context);
  const left = await context.finish();
  if (left.length > 0 && outcome.result !== "failed") {
    outcome = { result: "failed", milliseconds: Date.now() - began, detail: `left behind: ${left.join("; ")}` };
  }
  run.done?.(item, outcome);
  return outcome;
}

async function attempt(test: (context: Context) => Promise<void>, context: Context, began: number): Promise<Outcome> {
  try {
    await test(context);
    return { result: "passed", milliseconds: Date.now() - began };
  } catch (error) {
    if (error instanceof Skip) return { result: "skipped", detail: error.message };
    const detail = error instanceof Error ? error.message : String(error);
    return { result: "failed", milliseconds: Date.now() - began, detail };
  }
}
