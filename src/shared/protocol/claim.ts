/**
 * The message of `start` to an init that waits for its process (the operation process.claim): a plan in its wire form (plan.ts), whose operations are all
 * init's, and behind it the contents of the files of its file.receive, in their order. Pure; `runt start` and the library send the same bytes.
 */
import { encodeUtf8, joinBytes } from "../text/index.ts";
import { type FieldType, HELPER_ACTORS } from "./fields.ts";
import { OPS, type OpArgs, type OpName } from "./operations/index.ts";
import { PLAN_MAGIC, PLAN_VERSION, SLOT } from "./plan.ts";

/** Below ROOT/ID: what has been started, as JSON (ClaimRecord). It is made by link(2), so only one caller has the container. */
export const CLAIM_FILE = "claim.json";
export const CLAIM_SCHEMA = 1;

/** Bytes of the plan, without the files: more than execve(2) takes. */
export const CLAIM_MOST = 8 << 20;

/** The annotation that makes a container's process changeable at `start`: "true", or names of this list with commas between. */
export const TEMPLATE = "io.runt.template";
export const CHANGEABLE = ["args", "env", "cwd", "consoleSize", "rlimits", "files"] as const;
export type Changeable = (typeof CHANGEABLE)[number];

/** undefined: the value names something else. */
export function changeableOf(value: string): readonly Changeable[] | undefined {
  if (value === "true") return CHANGEABLE;
  const names = value.split(",");
  return names.every((name) => (CHANGEABLE as readonly string[]).includes(name)) ? (names as unknown as readonly Changeable[]) : undefined;
}

/** The operations that a message may have, in this order; those with a name only if the template lets it be changed. */
const OPERATIONS = [
  ["file.receive", "files"],
  ["console.size", "consoleSize"],
  ["process.rlimit", "rlimits"],
  ["process.cwd", undefined],
  ["process.program", undefined],
  ["process.exec", undefined],
] as const satisfies readonly (readonly [OpName, Changeable | undefined])[];

export type ClaimOperation = (typeof OPERATIONS)[number][0];

/** Numbers of the operations that a template with these changes allows. */
export function claimOperations(allowed: readonly Changeable[]): number[] {
  return OPERATIONS.filter(([, change]) => change === undefined || allowed.includes(change)).map(([name]) => OPS[name].id);
}

export function operationName(id: number): string {
  return OPERATIONS.find(([name]) => OPS[name].id === id)?.[0] ?? String(id);
}

/** A file that is made in the container before its program runs; its content follows the message. */
export interface ClaimFile {
  /** Absolute, in the container. */
  readonly path: string;
  readonly mode: number;
  readonly bytes: number;
}

/** What is started. */
export interface Claim {
  readonly args: readonly string[];
  /** Whole: NAME=VALUE. */
  readonly env: readonly string[];
  readonly cwd: string;
  readonly consoleSize?: { readonly rows: number; readonly columns: number };
  /** `resource`: RLIMIT_* of the kernel. */
  readonly rlimits?: readonly { readonly resource: number; readonly soft: bigint; readonly hard: bigint }[];
  readonly files?: readonly ClaimFile[];
}

/** ROOT/ID/claim.json. */
export interface ClaimRecord {
  readonly schema: typeof CLAIM_SCHEMA;
  /** Milliseconds since the epoch. */
  readonly claimedMs: number;
  readonly args: readonly string[];
  readonly env: readonly string[];
  readonly cwd: string;
  readonly consoleSize?: Claim["consoleSize"];
  /** Limits as decimal strings: JSON has no 64-bit integers. */
  readonly rlimits?: readonly { readonly resource: number; readonly soft: string; readonly hard: string }[];
  readonly files?: readonly ClaimFile[];
}

export function claimRecord({ args, env, cwd, consoleSize, rlimits, files }: Claim, claimedMs: number): ClaimRecord {
  return {
    schema: CLAIM_SCHEMA,
    claimedMs,
    args,
    env,
    cwd,
    ...(consoleSize && { consoleSize }),
    ...(rlimits && { rlimits: rlimits.map(({ resource, soft, hard }) => ({ resource, soft: String(soft), hard: String(hard) })) }),
    ...(files && { files }),
  };
}

type Step = { readonly [K in ClaimOperation]: { readonly op: K; readonly args: OpArgs<K> } }[ClaimOperation];

/** As with create an empty HOME is as none: then the one of the user's line in /etc/passwd is added. */
function stepsOf({ args, env, cwd, consoleSize, rlimits = [], files = [] }: Claim): Step[] {
  const path = env.find((entry) => entry.startsWith("PATH="))?.slice("PATH=".length) ?? "";
  return [
    ...files.map((file): Step => ({ op: "file.receive", args: { ...file, bytes: BigInt(file.bytes) } })),
    ...(consoleSize ? [{ op: "console.size", args: consoleSize } as const] : []),
    ...rlimits.map((limit): Step => ({ op: "process.rlimit", args: limit })),
    { op: "process.cwd", args: { path: cwd } },
    { op: "process.program", args: { name: args[0] ?? "", path } },
    { op: "process.exec", args: { args, env: env.filter((entry) => entry !== "HOME=") } },
  ];
}

/** The message, without the contents of its files. @throws RangeError for a text with half a surrogate pair, or with a NUL */
export function packClaim(claim: Claim): Uint8Array<ArrayBuffer> {
  const operations = stepsOf(claim).map(packStep);
  const bytes = operations.reduce((sum, { length }) => sum + length, HEAD_BYTES);
  return joinBytes([words(PLAN_MAGIC, PLAN_VERSION, bytes, operations.length, SLOT.FIRST_FREE), ...operations]);
}

const HEAD_BYTES = 20;

function packStep({ op, args }: Step, index: number): Uint8Array {
  const given = args as Readonly<Record<string, unknown>>;
  const fields = Object.entries<FieldType>(OPS[op].fields).map(([name, type]) => packField(type, given[name]));
  const bytes = fields.reduce((sum, { length }) => sum + length, 0);
  return joinBytes([words(OPS[op].id, HELPER_ACTORS.indexOf("init"), index, bytes), ...fields]);
}

function packField(type: FieldType, value: unknown): Uint8Array {
  if (type === "str") return packText(value as string);
  if (type === "strs") {
    const list = value as readonly string[];
    return joinBytes([words(list.length), ...list.map(packText)]);
  }
  if (type !== "u64") return words(value as number);
  const wide = value as bigint;
  return words(Number(wide & 0xffff_ffffn), Number(wide >> 32n));
}

function packText(text: string): Uint8Array {
  if (text.includes("\0")) throw new RangeError("text with a NUL");
  const bytes = encodeUtf8(text);
  return joinBytes([words(bytes.length), bytes, new Uint8Array(1)]);
}

function words(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  values.forEach((value, at) => {
    view.setUint32(4 * at, value, true);
  });
  return bytes;
}
