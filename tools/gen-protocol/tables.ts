/** Tables: the file systems that init makes early, what is embedded in the program, and what a list reads of a record. */
import { CLONE_NEW } from "../../src/shared/linux/index.ts";
import { constant, enumeration, header, identifier, macro } from "./c.ts";
import type { Protocol } from "./protocol.ts";

const NO_OPTION = "{NULL, NULL}";

function option(text: string): string {
  const [key, value] = text.split("=", 2);
  return `{${JSON.stringify(key)}, ${value === undefined ? "NULL" : JSON.stringify(value)}}`;
}

export function preparedHeader({ PREPARED, PREPARED_FILE_SYSTEMS }: Protocol): string {
  const rows = Object.entries(PREPARED_FILE_SYSTEMS).map(([name, { fstype, source, shows, data, superFlags, attributes }]) => {
    const fixed = [constant("PREPARED", name), shows === undefined ? 0 : CLONE_NEW[shows], JSON.stringify(fstype), JSON.stringify(source)];
    return `  X(${[...fixed, superFlags, `0x${attributes.toString(16)}`, ...(data.length > 0 ? data.map(option) : [NO_OPTION])].join(", ")})`;
  });
  return header(
    "prepared",
    enumeration("prepared_bit", "PREPARED", PREPARED),
    macro("PREPARED_COUNT", Object.keys(PREPARED).length),
    macro("PREPARED_OPTIONS_MAX", Math.max(...Object.values(PREPARED_FILE_SYSTEMS).map(({ data }) => data.length))),
    "/* X(bit, CLONE_NEW* that it shows, fstype, source, MS_* of the superblock, MOUNT_ATTR_*, option...). */",
    ["#define PREPARED_FILE_SYSTEMS(X) \\", rows.join(" \\\n")].join("\n"),
  );
}

const ROW_TYPE = { text: "const char *", bytes: "const uint8_t *", number: "uint64_t " } as const;

export function embeddedHeader({ EMBEDDED_ROW, IMAGE_PLACE }: Protocol): string {
  const members = Object.entries(EMBEDDED_ROW).map(([name, type]) => `  ${ROW_TYPE[type]}${identifier(name)};`);
  return header("embedded", enumeration("image_place", "IMAGE", IMAGE_PLACE), ["struct embedded {", ...members, "};"].join("\n"));
}

/** The places of the members in what json_scan finds: those of a member come behind it. */
export function stateSummaryHeader({ STATE_SUMMARY, SUMMARY_MEMBERS }: Protocol): string {
  const names = Object.entries(STATE_SUMMARY).flatMap(([name, inner]) => [name, ...inner.map((one) => `${name}.${one}`)]);
  return header(
    "state_summary",
    macro("SUMMARY_MEMBERS", JSON.stringify(SUMMARY_MEMBERS)),
    enumeration("summary_member", "SUMMARY", Object.fromEntries([...names, "count"].map((name, place) => [name, place]))),
  );
}
