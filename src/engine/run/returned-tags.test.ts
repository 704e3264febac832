import { expect, test } from "vitest";
import type { Pin } from "../images/index.ts";
import { type RevisionNote, type RevisionRecord, revisionKey, type ServiceRecord, type TaskRecord } from "../model/index.ts";
import { ReturnedTags } from "./returned-tags.ts";

const TAG = "docker://registry.invalid/web:1";
const imageOf = (digest: string) => ({
  ...{ reference: TAG, digest, manifest: digest, config: null, via: "cache" as const },
  ...{ stopSignal: null, healthCheck: null },
});
const note = (number: number, more: Partial<RevisionNote> = {}): RevisionNote => ({
  ...{ number, cause: "apply", atMs: 0, changed: [], verdict: "good", reason: null, ...more },
});
const serviceOf = (name: string, revisions: RevisionNote[], rollout: object) =>
  ({
    version: 1,
    group: "g",
    name,
    revisions,
    rollout: { to: 1, kind: "update", state: "complete", endedMs: 100, ...rollout },
  }) as unknown as ServiceRecord;

/** Versions 1 to 3 of a service have the digests d1 to d3. The tag leads to d2, which was pulled at the time 50. */
function scene(service: ServiceRecord, others: { readonly records?: TaskRecord[]; readonly services?: ServiceRecord[] } = {}) {
  const all = [service, ...(others.services ?? [])];
  const services = new Map(all.map((one) => [`${one.group}/${one.name}`, one]));
  const revisions = new Map(
    all.flatMap(({ name, revisions: notes }) =>
      notes.map(({ number }): [string, RevisionRecord] => {
        const of = { group: "g", service: name, number };
        return [revisionKey(of), { ...of, specs: [], images: { [TAG]: imageOf(`d${number}`) } }];
      }),
    ),
  );
  const now = { digest: "d2", pulledMs: 50 };
  const given: string[] = [];
  const shelf = {
    async giveBack(reference: string, to: Pin, isMeant: (found: typeof now) => boolean) {
      if (!isMeant(now)) return undefined;
      given.push(`${reference} ${to.digest}`);
      return now.digest;
    },
  };
  const records = new Map((others.records ?? []).map((one) => [one.id, one]));
  const tags = new ReturnedTags({ records, services, revisions, shelf, log: () => {} });
  const refreshed = async () => {
    tags.refresh();
    await new Promise(setImmediate);
    return given;
  };
  return { refreshed, now, services };
}

const failed = [note(1), note(2, { cause: "autoupdate", verdict: "failed" })];

test("R13 a tag leads to the image that runs again when a rollback or an undo is complete, and once", async () => {
  const rolledBack = scene(serviceOf("web", failed, { kind: "rollback" }));
  await rolledBack.refreshed();
  expect(await rolledBack.refreshed()).toEqual([`${TAG} d1`]);
  const undone = [note(1), note(2), note(3, { cause: "undo", of: 1 })];
  expect(await scene(serviceOf("web", undone, { to: 3 })).refreshed()).toEqual([`${TAG} d3`]);
  for (const other of [
    { kind: "rollback", state: "progressing" },
    { kind: "update", to: 2 },
  ])
    expect(await scene(serviceOf("web", failed, other)).refreshed()).toEqual([]);
});

test("R13 a tag stays that leads to another image, was pulled after the return, or works for others", async () => {
  const service = serviceOf("web", failed, { kind: "rollback" });
  const moved = scene(service);
  moved.now.digest = "d9";
  expect(await moved.refreshed()).toEqual([]);
  const pulled = scene(service);
  pulled.now.pulledMs = 101;
  expect(await pulled.refreshed()).toEqual([]);
  const task = (name: string, isDeleteAsked: boolean) =>
    ({ id: name, group: "g", name, isDeleteAsked, spec: { name }, containers: [{ image: imageOf("d2") }] }) as unknown as TaskRecord;
  expect(await scene(service, { records: [task("job", false)] }).refreshed()).toEqual([]);
  expect(await scene(service, { records: [task("job", true)] }).refreshed()).toEqual([`${TAG} d1`]);
  expect(await scene(service, { services: [serviceOf("api", [note(1), note(2)], { to: 2 })] }).refreshed()).toEqual([]);
});
