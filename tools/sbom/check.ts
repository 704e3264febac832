/** What SPDX 2.3 demands of a document, as far as this one uses it: every clause that its JSON schema has, and that references lead somewhere. */

const HEX_DIGITS: Readonly<Record<string, number>> = { SHA1: 40, SHA256: 64, SHA512: 128 };
const RELATIONSHIPS = ["DESCRIBES", "CONTAINS", "STATIC_LINK"];
const PURPOSES = ["APPLICATION", "LIBRARY"];
const AGENT = /^(Person|Organization|Tool): \S|^NOASSERTION$/;
const IDENTIFIER = /^SPDXRef-[A-Za-z0-9.-]+$/;
/** Identifiers of the SPDX licence list joined by its operators, or NOASSERTION. */
const LICENSE = /^\(?[A-Za-z0-9.-]+( WITH [A-Za-z0-9.-]+)?\)?( (AND|OR) \(?[A-Za-z0-9.-]+( WITH [A-Za-z0-9.-]+)?\)?)*$/;

type Json = Readonly<Record<string, unknown>>;

/** What is wrong with a document, one line each; empty if it is sound. */
export function spdxFaults(document: unknown): string[] {
  const faults: string[] = [];
  const wrong = (where: string, what: string) => faults.push(`${where}: ${what}`);
  const text = (of: Json, field: string, where: string, form: RegExp): string => {
    const value = of[field];
    if (typeof value !== "string" || !form.test(value)) wrong(`${where}/${field}`, JSON.stringify(value));
    return typeof value === "string" ? value : "";
  };
  const list = (of: Json, field: string): readonly Json[] => {
    const value = of[field];
    if (!Array.isArray(value)) wrong(`/${field}`, "not a list");
    return Array.isArray(value) ? (value as Json[]) : [];
  };
  const root = document as Json;
  text(root, "spdxVersion", "", /^SPDX-2\.3$/);
  text(root, "dataLicense", "", /^CC0-1\.0$/);
  text(root, "SPDXID", "", /^SPDXRef-DOCUMENT$/);
  text(root, "name", "", /\S/);
  text(root, "documentNamespace", "", /^https?:\/\/[^#\s]+$/);
  const info = (root["creationInfo"] ?? {}) as Json;
  text(info, "created", "/creationInfo", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const creators = Array.isArray(info["creators"]) ? info["creators"] : [];
  if (creators.length === 0 || !creators.every((creator) => AGENT.test(String(creator)))) wrong("/creationInfo/creators", "not agents");

  const known = new Set(["SPDXRef-DOCUMENT"]);
  const introduce = (element: Json, where: string) => {
    const id = text(element, "SPDXID", where, IDENTIFIER);
    if (known.has(id)) wrong(where, `${id} is there twice`);
    known.add(id);
  };
  const checksums = (element: Json, where: string, needed: readonly string[]) => {
    const all = list(element, "checksums");
    for (const checksum of all) {
      const digits = HEX_DIGITS[String(checksum["algorithm"])];
      if (digits === undefined) wrong(`${where}/checksums`, `algorithm ${String(checksum["algorithm"])}`);
      else text(checksum, "checksumValue", `${where}/checksums`, new RegExp(`^[0-9a-f]{${digits}}$`));
    }
    for (const algorithm of needed)
      if (!all.some((checksum) => checksum["algorithm"] === algorithm)) wrong(`${where}/checksums`, `no ${algorithm}`);
  };

  for (const [index, element] of list(root, "packages").entries()) {
    const where = `/packages/${index}`;
    introduce(element, where);
    text(element, "name", where, /\S/);
    text(element, "downloadLocation", where, /^(NOASSERTION|NONE|\w+:\S+)$/);
    text(element, "licenseConcluded", where, LICENSE);
    text(element, "licenseDeclared", where, LICENSE);
    text(element, "copyrightText", where, /\S/);
    text(element, "supplier", where, AGENT);
    if (element["originator"] !== undefined) text(element, "originator", where, AGENT);
    if (element["filesAnalyzed"] !== false) wrong(where, "filesAnalyzed without a verification code");
    if (!PURPOSES.includes(String(element["primaryPackagePurpose"]))) wrong(where, "primaryPackagePurpose");
    if (element["checksums"] !== undefined) checksums(element, where, []);
    for (const reference of element["externalRefs"] === undefined ? [] : list(element, "externalRefs")) {
      text(reference, "referenceCategory", where, /^PACKAGE-MANAGER$/);
      text(reference, "referenceType", where, /^purl$/);
      text(reference, "referenceLocator", where, /^pkg:\w+\/\S+@\S+$/);
    }
  }
  for (const [index, element] of list(root, "files").entries()) {
    const where = `/files/${index}`;
    introduce(element, where);
    text(element, "fileName", where, /^\.\//);
    text(element, "licenseConcluded", where, LICENSE);
    text(element, "copyrightText", where, /\S/);
    checksums(element, where, ["SHA1"]);
  }
  for (const [index, relation] of list(root, "relationships").entries()) {
    const where = `/relationships/${index}`;
    for (const end of ["spdxElementId", "relatedSpdxElement"])
      if (!known.has(text(relation, end, where, IDENTIFIER))) wrong(`${where}/${end}`, "leads nowhere");
    if (!RELATIONSHIPS.includes(String(relation["relationshipType"]))) wrong(where, "relationshipType");
  }
  const describes = (relation: Json) => relation["spdxElementId"] === "SPDXRef-DOCUMENT" && relation["relationshipType"] === "DESCRIBES";
  if (!list(root, "relationships").some(describes)) wrong("/relationships", "the document describes nothing");
  return faults;
}
