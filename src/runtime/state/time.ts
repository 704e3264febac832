import * as host from "../host/index.ts";

/** Now, by RFC 3339 with nanoseconds, UTC: texts of it are in the order of time. */
export function timestamp(): string {
  const { seconds, nanoseconds } = host.now();
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(nanoseconds).padStart(9, "0")}Z`;
}
