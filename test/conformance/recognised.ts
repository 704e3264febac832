/** Whether a runtime knows names, also where this host or this runtime cannot do what they stand for. */
import * as assert from "./assert.ts";
import type { Change, Context } from "./context.ts";

const UNKNOWN = "NO_SUCH_NAME";

/** A configuration that these names are part of. */
export type Using = (names: readonly string[]) => Change;

/**
 * A configuration with each of these names is applied, or is refused for another reason than one with a name that does not exist.
 * The latter must be refused, or the test would tell nothing.
 */
export async function recognised(c: Context, using: Using, names: readonly string[]): Promise<void> {
  const ofUnknown = await refusal(c, using([UNKNOWN]));
  assert.ok(ofUnknown !== undefined, `${UNKNOWN} is passed over`);
  for (const name of names) {
    const reason = await refusal(c, using([name]));
    assert.notEqual(reason?.replaceAll(name, "NAME"), ofUnknown.replaceAll(UNKNOWN, "NAME"), `${name} is not known`);
  }
}

/** A configuration with all of them must be applied, and one with a name that does not exist must not. */
export async function works(c: Context, using: Using, names: readonly string[]): Promise<void> {
  assert.ok((await refusal(c, using([UNKNOWN]))) !== undefined, `${UNKNOWN} is passed over`);
  if ((await refusal(c, using(names))) === undefined) return;
  for (const name of names) assert.equal(await refusal(c, using([name])), undefined, name);
  assert.fail(`not together: ${names.join(" ")}`);
}

/** The error of create, without the names of container and time; undefined when it succeeds. */
export async function refusal(c: Context, change: Change): Promise<string | undefined> {
  const container = c.container(c.bundle(change));
  const { status, stderr } = await container.call(["create", "--bundle", container.bundle, container.id]);
  if (status === 0) {
    await container.delete("--force");
    return undefined;
  }
  return stderr
    .replaceAll(container.id, "ID")
    .replaceAll(container.bundle, "BUNDLE")
    .replaceAll(/time="[^"]*"|^\S+Z: /gm, "");
}
