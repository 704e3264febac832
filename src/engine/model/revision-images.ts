/** The images that a version of a service runs. A tag may lead to another image later: what returns to the version gets the image that it had. Pure. */
import type { TaskSpec } from "../spec/index.ts";
import { type ImageRecord, imageOfContainer, type TaskRecord } from "./record.ts";

/** By the reference in the specs. References of which nothing was pulled yet are absent. */
export type RevisionImages = Readonly<Record<string, ImageRecord>>;

/** Returns the images of a version; undefined: none are known. */
export type ImagesOf = (number: number) => RevisionImages | undefined;

/** `known` with what these tasks have pulled. What is known already stays. The same object as before: nothing is new. */
export function imagesWith(
  known: RevisionImages | undefined,
  tasks: readonly Pick<TaskRecord, "spec" | "containers">[],
): RevisionImages | undefined {
  const found = new Map<string, ImageRecord>();
  for (const task of tasks)
    for (const { name, image: reference } of task.spec.containers) {
      const image = imageOfContainer(task, name);
      if (reference === undefined || image === null || found.has(reference) || known?.[reference] !== undefined) continue;
      const { pullError: _, ...kept } = image;
      // Its source is not asked when it is used again.
      found.set(reference, { ...kept, via: "cache" });
    }
  return found.size === 0 ? known : { ...known, ...Object.fromEntries(found) };
}

/** Whether no reference leads to different images in both. */
export function agree(a: RevisionImages | undefined, b: RevisionImages | undefined): boolean {
  return Object.entries(a ?? {}).every(([reference, { digest }]) => (b?.[reference]?.digest ?? digest) === digest);
}

/** Whether each container of the task has the image that the version has for it, as far as that is known. */
export function hasImages(task: Pick<TaskRecord, "spec" | "containers">, images: RevisionImages | undefined): boolean {
  return task.spec.containers.every(({ name, image: reference }) => {
    const wanted = reference === undefined ? undefined : images?.[reference];
    return wanted === undefined || imageOfContainer(task, name)?.digest === wanted.digest;
  });
}

/** Pointers to the references in the spec that lead to other images in `now` than in `before`. */
export function movedImages(spec: TaskSpec, before: RevisionImages | undefined, now: RevisionImages | undefined): string[] {
  return spec.containers.flatMap(({ image }, at) => {
    const [one, other] = image === undefined ? [] : [before?.[image], now?.[image]];
    return one === undefined || other === undefined || one.digest === other.digest ? [] : [`/containers/${at}/image`];
  });
}
