/** Helpers of the tests of single resources. */
import * as assert from "../assert.ts";
import { isUnified } from "../cgroups.ts";
import type { Container } from "../container.ts";
import type { Change, Context } from "../context.ts";

export const limits =
  (resources: object): Change =>
  (config) =>
    Object.assign(config.linux.resources, resources);

/** A file of the cgroup by version; undefined: that version has none. */
export interface File {
  readonly controller: string;
  readonly v1?: string;
  readonly v2?: string;
}

export const nameOf = ({ v1, v2 }: File): string | undefined => (isUnified() ? v2 : v1);

/** Trimmed content of the file of a container made with these resources. */
export async function limitOf(c: Context, resources: object, file: File): Promise<string> {
  const container = await c.create(limits(resources));
  const value = await container.limit(file.controller, nameOf(file) ?? "");
  await container.delete("--force");
  return value;
}

/** The file has this value with the resources, and another one without them. */
export async function applied(
  c: Context,
  resources: object,
  file: File,
  value: string | { readonly v1: string; readonly v2: string },
): Promise<void> {
  const expected = typeof value === "string" ? value : isUnified() ? value.v2 : value.v1;
  assert.equal(await limitOf(c, resources, file), expected);
  assert.notEqual(await limitOf(c, {}, file), expected, "it is so without the resource too");
}

/** v1: applied. v2, which has nothing like it: refused by name. */
export async function onlyV1(c: Context, resources: object, file: File, value: string, pointer: string): Promise<void> {
  if (isUnified()) await c.refused(limits(resources), pointer);
  else await applied(c, resources, file, value);
}

/** Change the limits of a container with a LinuxResources document. */
export async function update(container: Container, resources: object): Promise<void> {
  await container.ok(["update", "--resources", "-", container.id], { input: JSON.stringify(resources) });
}
