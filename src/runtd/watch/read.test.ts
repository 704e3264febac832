/** Files that a watched file names. What is made of a whole directory is in test/engine/watch.test.ts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { canBeDeaf, mountKnownDeaf } from "../../../test/support/deaf-mount.ts";
import { readWatched } from "./read.ts";

test.skipIf(!canBeDeaf)("a file that is named on a mount with a server is not opened before that has answered", async () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-watched-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const deaf = join(directory, "deaf");
  mkdirSync(deaf);
  const file = join(directory, "compose.yaml");
  const compose = { services: { a: { image: "docker://r.example/a:1", env_file: "deaf/env" } } };
  writeFileSync(file, JSON.stringify(compose));
  await mountKnownDeaf(deaf);
  expect(() => readWatched(file, { images: {} } as never, [])).toThrow(expect.objectContaining({ path: join(deaf, "env") }));
});
