/** Remembers the images that a service has had and has left. Pure. */
import { specDigest } from "../spec/index.ts";
import type { RevisionRecord, ServiceRecord } from "./service.ts";

/** Numbers of the versions that the service has left by a return to an earlier one, automatic or by `rollout undo`. Empty: its last rollout is no return that is complete. */
export function versionsLeft({ rollout, revisions }: Pick<ServiceRecord, "rollout" | "revisions">): readonly number[] {
  if (rollout.state !== "complete") return [];
  const note = revisions.find(({ number }) => number === rollout.to);
  const to = rollout.kind === "rollback" ? rollout.to : note?.cause === "undo" ? note.of : undefined;
  return to === undefined ? [] : revisions.flatMap(({ number }) => (number > to && number !== rollout.to ? [number] : []));
}

/** Whether the service, with its current spec, has had this image and has left it: because it did not work, or by `rollout undo`. */
export function hasLeft(
  { rollout, revisions }: Pick<ServiceRecord, "rollout" | "revisions">,
  recordOf: (number: number) => RevisionRecord | undefined,
  reference: string,
  digest: string,
): boolean {
  const current = recordOf(rollout.to)?.specs[0];
  // An undo still counts after the number of replicas has changed, and after a version that has failed.
  const note = revisions.findLast(
    ({ number, cause, verdict }) => number <= rollout.to && cause !== "scale" && (verdict !== "failed" || number === rollout.to),
  );
  return revisions.some(({ number, verdict, reason }) => {
    if (number === rollout.to || current === undefined) return false;
    // A reboot of the host in the middle of its rollout says nothing about an image.
    const hasFailed = verdict === "failed" && reason?.code !== "HostRebooted";
    const isUndone = note?.cause === "undo" && note.of !== undefined && number > note.of && number < note.number;
    const record = hasFailed || isUndone ? recordOf(number) : undefined;
    const [spec] = record?.specs ?? [];
    return record?.images?.[reference]?.digest === digest && spec !== undefined && specDigest(spec) === specDigest(current);
  });
}
