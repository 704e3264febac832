import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { specDigest, taskJsonSchema, taskSchema } from "./index.ts";

const minimal = { name: "t", containers: [{ name: "c", rootfs: "/r", command: "x" }] };

test("the JSON Schema takes what the parser takes, and refuses unknown fields", () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(taskJsonSchema());
  expect(validate(minimal)).toBe(true);
  expect(validate({ ...minimal, memory: "64Mi", retention: "2s" })).toBe(true);
  expect(validate({ ...minimal, memori: 1 })).toBe(false);
  expect(validate({ ...minimal, containers: [] })).toBe(false);
});

test("the digest does not see the order of keys and the way values are written", () => {
  const { containers, name } = minimal;
  const one = taskSchema.parse({ name, containers, memory: "1Mi" });
  expect(specDigest(taskSchema.parse({ memory: 1024 * 1024, containers, name }))).toBe(specDigest(one));
  expect(specDigest(taskSchema.parse({ memory: 1024 * 1024 + 1, containers, name }))).not.toBe(specDigest(one));
});
