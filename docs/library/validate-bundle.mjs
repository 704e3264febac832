// A bundle's configuration as part of a test suite. Needs no root, and makes no container.
// Usage: BUNDLE=directory node --test validate-bundle.mjs
import assert from "node:assert/strict";
import { test } from "node:test";
import { Runtime } from "@runt-project/runt";

const bundle = process.env.BUNDLE ?? "/srv/bundle";
const runtime = new Runtime();

test("the configuration has no errors and no warnings", async () => {
  const { findings } = await runtime.validate(bundle, { host: "none" });
  const serious = findings.filter(({ severity }) => severity !== "advice");
  assert.deepEqual(
    serious.map(({ code, message, pointer }) => `${code} ${pointer}: ${message}`),
    [],
  );
});

test("the program gets no capability to administer the system", async () => {
  const plan = JSON.stringify(await runtime.plan(bundle, { host: "none" }));
  assert.doesNotMatch(plan, /CAP_SYS_ADMIN/);
});
