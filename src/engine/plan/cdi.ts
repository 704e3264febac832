/** Parses CDI specifications of the host, and merges what the devices of a container need. Pure. Source: Container Device Interface, SPEC.md. */
import { z } from "zod";
import type { Mount, OciObject } from "../../executor/index.ts";
import { cut } from "../../shared/text/index.ts";

/** A device node of a specification. Missing numbers are taken from the node on the host. */
export interface CdiNode {
  readonly path: string;
  readonly hostPath?: string | undefined;
  readonly type?: "b" | "c" | "u" | "p" | undefined;
  readonly major?: number | undefined;
  readonly minor?: number | undefined;
  readonly fileMode?: number | undefined;
  readonly permissions?: string | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

/** What a container gets for its CDI devices. */
export interface CdiEdits {
  readonly env: Readonly<Record<string, string>>;
  readonly nodes: readonly CdiNode[];
  readonly mounts: readonly Mount[];
  readonly hooks: OciObject | undefined;
  readonly gids: readonly number[];
  /** What the devices say beside that and has no effect, such as "intelRdt of acme.com/gpu=0 has no effect". */
  readonly ignored: readonly string[];
}

const HOOKS = ["prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"] as const;
const path = z.string().regex(/^\/[^\0]*$/, "is no absolute path");
const id = z.int().min(0);

const edits = z.strictObject({
  env: z.array(z.string().regex(/^[^=\0]+=[^\0]*$/, "is no NAME=VALUE")).default([]),
  deviceNodes: z
    .array(
      z.strictObject({
        path,
        hostPath: path.optional(),
        type: z.enum(["b", "c", "u", "p"]).optional(),
        major: z.int().optional(),
        minor: z.int().optional(),
        fileMode: z.int().min(0).max(0o7777).optional(),
        permissions: z
          .string()
          .regex(/^[rwm]*$/)
          .optional(),
        uid: id.optional(),
        gid: id.optional(),
      }),
    )
    .default([]),
  mounts: z
    .array(
      z.strictObject({
        hostPath: path,
        containerPath: path,
        type: z.string().optional(),
        options: z.array(z.string()).default([]),
      }),
    )
    .default([]),
  hooks: z
    .array(
      z.strictObject({
        hookName: z.enum(HOOKS),
        path,
        args: z.array(z.string()).optional(),
        env: z.array(z.string()).optional(),
        timeout: z.int().optional(),
      }),
    )
    .default([]),
  additionalGids: z.array(id).default([]),
  // Classes of cache are the host's, and no part of a task.
  intelRdt: z.unknown().optional(),
});

/** Versions of the specification. What 1.1.0 has added (netDevices) is refused by its name. */
const VERSION = /^(?:0\.[3-8]|1\.[01])\.0$/;
/** Source: Container Device Interface, "Kind", "Device". */
const KIND = /^[A-Za-z][A-Za-z0-9_.-]*\/[A-Za-z][A-Za-z0-9_-]*$/;
const DEVICE = /^[A-Za-z0-9](?:[A-Za-z0-9_.:-]*[A-Za-z0-9])?$/;

const specification = z.strictObject({
  cdiVersion: z.string().regex(VERSION, "is not supported: 0.3.0 to 0.8.0, 1.0.0 and 1.1.0 are"),
  kind: z.string().regex(KIND, "is no vendor.com/class"),
  annotations: z.unknown().optional(),
  devices: z.array(
    z.strictObject({
      name: z.string().regex(DEVICE, "is no name of a device"),
      annotations: z.unknown().optional(),
      containerEdits: edits.prefault({}),
    }),
  ),
  containerEdits: edits.prefault({}),
});

type Edits = z.output<typeof edits>;
/** The content of a file of specifications. */
export type CdiSpecification = z.output<typeof specification>;

/** @throws Error: the value has another form, or a field that this version does not support */
export function parseCdi(value: unknown): CdiSpecification {
  const result = specification.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(cut(`/${issue!.path.join("/")}: ${issue!.message}`));
}

/**
 * Merges the edits of all these devices. The edits of a specification itself are applied once, before those of its devices.
 * @param directories specifications of each directory; a later directory takes precedence
 * @throws Error: no specification has a device, or one directory has it twice
 */
export function cdiEdits(names: readonly string[], directories: readonly (readonly CdiSpecification[])[]): CdiEdits {
  const all: Edits[] = [];
  const begun = new Set<CdiSpecification>();
  for (const name of new Set(names)) {
    const [kind, device] = [name.slice(0, name.indexOf("=")), name.slice(name.indexOf("=") + 1)];
    const found = directories.map((specifications) =>
      specifications.flatMap((one) =>
        (one.kind === kind ? one.devices : []).flatMap((each) => (each.name === device ? [{ one, each }] : [])),
      ),
    );
    const [first, second] = found.findLast((several) => several.length > 0) ?? [];
    if (first === undefined) throw new Error(`no CDI specification has the device ${name}`);
    if (second !== undefined) throw new Error(`two CDI specifications of one directory have the device ${name}`);
    if (begun.size < begun.add(first.one).size) all.push(first.one.containerEdits);
    all.push(first.each.containerEdits);
  }
  return {
    env: Object.fromEntries(all.flatMap(({ env }) => env.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]))),
    nodes: all.flatMap(({ deviceNodes }) => deviceNodes),
    mounts: all.flatMap(({ mounts }) => mounts.map(mountOf)),
    hooks: hooksOf(all),
    gids: [...new Set(all.flatMap(({ additionalGids }) => additionalGids))],
    ignored: all.some(({ intelRdt }) => intelRdt !== undefined) ? [`intelRdt of ${[...new Set(names)].join(", ")} has no effect`] : [],
  };
}

function mountOf({ hostPath, containerPath, type, options }: Edits["mounts"][number]): Mount {
  const isBind = type === undefined || type === "" || type === "bind" || type === "none";
  const isSaid = options.some((one) => one === "bind" || one === "rbind");
  return {
    destination: containerPath,
    source: hostPath,
    type: isBind ? "bind" : type,
    options: isBind && !isSaid ? ["rbind", ...options] : options,
  };
}

function hooksOf(all: readonly Edits[]): OciObject | undefined {
  const found = HOOKS.flatMap((name) => {
    const hooks = all.flatMap(({ hooks: each }) =>
      each.filter(({ hookName }) => hookName === name).map(({ hookName: _, ...hook }) => hook),
    );
    return hooks.length === 0 ? [] : [[name, hooks] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
