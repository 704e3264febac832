import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Component } from "../sbom/component.ts";
import { cycloneDocument, uuidOf } from "../sbom/cyclonedx.ts";
import { type Subject, spdxDocument } from "../sbom/spdx.ts";
import { materialsOf, statement } from "./provenance.ts";
import { detachedSignature, envelope, keyId, preAuthentication, readSigningKey } from "./signature.ts";

const DIGEST = "0123456789abcdef".repeat(4);
const component = (name: string, license = "MIT"): Component => ({
  ...{ name, license, version: "1.2", copyright: "Copyright Someone", originator: "NOASSERTION", text: "/dev/null" },
  ...{ purl: `pkg:npm/${name}@1.2`, file: `${name}-1.2.tgz`, checksum: { algorithm: "SHA256", value: DIGEST }, how: "CONTAINS" },
  parts: ["index.js"],
});
const subject: Subject = {
  ...{ name: "runtd", version: "0.1.0", commit: "c".repeat(40), time: 1_700_000_000 },
  files: ["runtctl", "runt-pause"].map((name) => ({ name, sha1: "a".repeat(40), sha256: DIGEST })),
};
const components = [component("zod"), component("libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1"), component("hono")];

describe("a bill of materials in CycloneDX", () => {
  const document = cycloneDocument(subject, components);

  test("has what SPDX has, sorted, with licences as an identifier or an expression", () => {
    expect(document).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.5", version: 1 });
    expect(document.metadata.timestamp).toBe("2023-11-14T22:13:20Z");
    expect(document.components.map(({ name }) => name)).toEqual(["hono", "libgcc", "zod"]);
    expect(document.components.map(({ licenses }) => licenses)).toEqual([
      [{ license: { id: "MIT" } }],
      [{ expression: "GPL-3.0-or-later WITH GCC-exception-3.1" }],
      [{ license: { id: "MIT" } }],
    ]);
    const spdx = spdxDocument(subject, components).packages.map(({ name }) => name);
    expect(["runtd", ...document.components.map(({ name }) => name)]).toEqual(spdx);
    expect(document.metadata.component.components?.map(({ name }) => name)).toEqual(["bin/runtctl", "bin/runt-pause"]);
  });

  test("each reference leads somewhere, and none is there twice", () => {
    const references = document.components.map((one) => one["bom-ref"]);
    expect(new Set(references).size).toBe(references.length);
    expect(document.dependencies).toEqual([{ ref: document.metadata.component["bom-ref"], dependsOn: references }]);
  });

  test("its serial number is a UUID of its content", () => {
    expect(document.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(cycloneDocument(subject, [...components].reverse())).toEqual(document);
    expect(cycloneDocument(subject, components.slice(1)).serialNumber).not.toBe(document.serialNumber);
    expect(uuidOf(DIGEST)).toBe("01234567-89ab-8def-8123-456789abcdef");
  });
});

describe("the provenance", () => {
  test("names each file with its sum, the commit, and each material once", () => {
    const spdx = spdxDocument(subject, components);
    const materials = materialsOf([spdx, spdx]);
    expect(materials.map(({ uri }) => uri)).toEqual(["pkg:npm/hono@1.2", "pkg:npm/libgcc@1.2", "pkg:npm/zod@1.2"]);
    expect(materials[0]).toEqual({ uri: "pkg:npm/hono@1.2", name: "hono-1.2.tgz", digest: { sha256: DIGEST } });
    const build = { version: "0.1.0", commit: "c".repeat(40), epoch: 1_700_000_000, builder: "https://runt.invalid/builder", node: "v20" };
    const made = statement(build, [{ name: "runt.deb", sha256: DIGEST }], materials);
    expect(made._type).toBe("https://in-toto.io/Statement/v1");
    expect(made.predicateType).toBe("https://slsa.dev/provenance/v1");
    expect(made.subject).toEqual([{ name: "runt.deb", digest: { sha256: DIGEST } }]);
    const { buildDefinition, runDetails } = made.predicate;
    expect(buildDefinition.buildType).toMatch(/^https:/);
    expect(buildDefinition.externalParameters.source.digest).toEqual({ gitCommit: "c".repeat(40) });
    expect(buildDefinition.resolvedDependencies).toHaveLength(4);
    expect(runDetails.builder).toEqual({ id: "https://runt.invalid/builder", version: { node: "v20" } });
  });
});

describe("a signature", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-signature-"));
  const keyFile = join(directory, "key.pem");
  beforeAll(() => {
    const { privateKey } = generateKeyPairSync("ed25519");
    writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("is of these bytes only, and the same each time", () => {
    const key = readSigningKey(keyFile);
    const content = readFileSync(keyFile);
    const signature = detachedSignature(key, content);
    expect(signature).toEqual(detachedSignature(key, content));
    expect(verify(null, content, createPublicKey(key), signature)).toBe(true);
    expect(verify(null, Buffer.concat([content, Buffer.from("x")]), createPublicKey(key), signature)).toBe(false);
  });

  test("of an envelope is that of its type and payload", () => {
    const key = readSigningKey(keyFile);
    const payload = Buffer.from("{}\n");
    expect(preAuthentication(payload).toString()).toBe("DSSEv1 28 application/vnd.in-toto+json 3 {}\n");
    const { payload: encoded, signatures } = envelope(key, payload);
    expect(Buffer.from(encoded, "base64")).toEqual(payload);
    const [signature] = signatures;
    expect(signature?.keyid).toBe(keyId(key));
    expect(verify(null, preAuthentication(payload), createPublicKey(key), Buffer.from(signature!.sig, "base64"))).toBe(true);
  });

  test("needs a key of Ed25519", () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const other = join(directory, "other.pem");
    writeFileSync(other, privateKey.export({ type: "pkcs8", format: "pem" }));
    expect(() => readSigningKey(other)).toThrow(/a key of type ec, and Ed25519 is needed/);
    writeFileSync(other, "no key");
    expect(() => readSigningKey(other)).toThrow();
  });
});
