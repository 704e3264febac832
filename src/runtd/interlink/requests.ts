/**
 * Schemas of interLink's requests. Its published document (plugin-openapi.json of interlink-hq/interLink) and the JSON that its programs send
 * differ in the names of some fields: both are accepted.
 */
import { z } from "zod";

const object = z.record(z.string(), z.unknown());
const objects = z
  .array(object)
  .nullish()
  .transform((value) => value ?? []);

/** POST /create: a pod, and for each container the objects to which it refers. */
export const createRequest = z
  .object({
    pod: object,
    container: z
      .array(
        z.object({
          configMaps: objects,
          config_maps: objects,
          secrets: objects,
          projectedvolumemaps: objects,
        }),
      )
      .nullish()
      .transform((value) => value ?? []),
  })
  .transform(({ pod, container }) => ({
    pod,
    configMaps: container.flatMap((one) => [...one.configMaps, ...one.config_maps]),
    secrets: container.flatMap((one) => one.secrets),
    projected: container.flatMap((one) => one.projectedvolumemaps),
  }));

/**
 * The engine also finds tasks of any group by id or address. Those contain dots or colons, which a uid does not, so that a uid can only name a pod
 * of a cluster.
 */
const uid = z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/, "is no uid of a pod");

/** POST /delete, and each element of GET /status. */
export const podRequest = z.object({
  metadata: z.object({ name: z.string().default(""), namespace: z.string().default("default"), uid }),
});

/** GET /status. interLink sends an empty list to find out whether the plug-in answers. */
export const statusRequest = z
  .array(podRequest)
  .nullable()
  .transform((value) => value ?? []);

/** Go's zero time, which stands for "not given". */
const NO_TIME = /^0001-01-01T00:00:00Z$/;
const count = z.int().min(0).nullish();
const flag = z.boolean().nullish();
const time = z.string().nullish();

/** GET /getLogs. 0 and null mean "not given". */
export const logRequest = z
  .object({
    PodUID: z.string().optional(),
    pod_uid: z.string().optional(),
    ContainerName: z.string().optional(),
    container_name: z.string().optional(),
    Opts: z
      .object({ Tail: count, Bytes: count, Timestamps: flag, Follow: flag, Previous: flag, SinceSeconds: count, SinceTime: time })
      .optional(),
    opts: z
      .object({ tail: count, limit_bytes: count, timestamps: flag, previous: flag, since_seconds: count, since_time: time })
      .optional(),
  })
  .transform((given, context) => {
    const { Opts = {}, opts = {} } = given;
    const named = uid.safeParse(given.PodUID ?? given.pod_uid);
    const sinceTime = Opts.SinceTime ?? opts.since_time ?? undefined;
    const since = sinceTime === undefined || NO_TIME.test(sinceTime) ? undefined : Date.parse(sinceTime);
    if (!named.success) context.addIssue({ code: "custom", message: "is no uid of a pod", path: ["PodUID"] });
    if (Number.isNaN(since)) context.addIssue({ code: "custom", message: "is no time", path: ["Opts", "SinceTime"] });
    return {
      uid: named.data ?? "",
      container: (given.ContainerName ?? given.container_name) || undefined,
      tail: (Opts.Tail ?? opts.tail) || undefined,
      bytes: (Opts.Bytes ?? opts.limit_bytes) || undefined,
      hasTimes: Opts.Timestamps ?? opts.timestamps ?? false,
      follow: Opts.Follow ?? false,
      previous: Opts.Previous ?? opts.previous ?? false,
      sinceSeconds: (Opts.SinceSeconds ?? opts.since_seconds) || undefined,
      sinceMs: since,
    };
  });

export type LogRequest = z.output<typeof logRequest>;
export type PodRequest = z.output<typeof podRequest>;
