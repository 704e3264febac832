import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_HOST } from "../src/runtime/prepare/host-facts/none.ts";
import { OPS } from "../src/shared/protocol/index.ts";
import { generateDocuments } from "./gen-documents.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-documents-"));
const schemaOf = (name: string) => JSON.parse(readFileSync(join(directory, `schema-${name}.json`), "utf8"));
beforeAll(() => generateDocuments(directory));
afterAll(() => rmSync(directory, { recursive: true }));

const PLAN = {
  version: 1,
  id: "c",
  slots: 5,
  ops: [{ op: "hostname.set", actor: "init", phase: "namespaces", from: "/hostname", args: { name: "h" } }],
  digest: "sha256:0",
  parts: { plan: "", config: "", host: "", sources: "" },
  host: {},
  sources: [],
  warnings: [],
};

// ajv takes seconds for the plan on a busy machine.
describe("the published schemas", () => {
  it("are one a document, and each is a schema", () => {
    const files = readdirSync(directory).filter((name) => name.endsWith(".json"));
    expect(files.sort()).toEqual(["check", "findings", "gc", "inspect", "plan", "state"].map((name) => `schema-${name}.json`));
    for (const name of files)
      expect(() => new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(join(directory, name), "utf8")))).not.toThrow();
  });

  it("of a plan knows every operation and refuses others", () => {
    const validate = new Ajv2020({ strict: false }).compile(schemaOf("plan"));
    expect(schemaOf("plan").properties.ops.items.oneOf).toHaveLength(Object.keys(OPS).length);
    expect(validate(PLAN)).toBe(true);
    expect(validate({ ...PLAN, ops: [{ ...PLAN.ops[0], actor: "intermediate" }] })).toBe(false);
    expect(validate({ ...PLAN, ops: [{ ...PLAN.ops[0], args: { name: 5 } }] })).toBe(false);
    expect(validate({ ...PLAN, ops: [{ ...PLAN.ops[0], op: "hostname.get" }] })).toBe(false);
  });

  it("of host facts and the validator that reads them agree", async () => {
    const { default: read } = (await import(join(directory, "validate-host-facts.js"))) as { default: (value: unknown) => boolean };
    const publishedOne = new Ajv2020({ strict: false }).compile(schemaOf("check"));
    const { cgroup: _, ...partial } = NO_HOST;
    for (const [facts, expected] of [
      [NO_HOST, true],
      [partial, false],
      [{ ...NO_HOST, caller: { ...NO_HOST.caller, uid: -1 } }, false],
      [{ ...NO_HOST, filesystems: [5] }, false],
    ] as const) {
      expect([read(facts), publishedOne(facts)]).toEqual([expected, expected]);
    }
  });
});
