/** Translates the health check of a service. Source: Compose specification, "healthcheck"; moby, daemon/commit.go, merge; daemon/health.go. */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { ServiceInput } from "./schema.ts";

type Checks = Pick<TaskInput["containers"][number], "healthCheck" | "imageHealthCheck">;

/** Without a test the check of the image applies, with the times that the service gives. */
export function checkOf({ healthcheck: given, "x-runt-rootfs": rootfs }: ServiceInput): Checks {
  if (given === undefined) return {};
  const test = typeof given.test === "string" ? ["CMD-SHELL", given.test] : (given.test ?? []);
  const times = {
    interval: timeOf(given.interval),
    timeout: timeOf(given.timeout),
    retries: given.retries || undefined,
    startPeriod: timeOf(given.start_period),
    startInterval: timeOf(given.start_interval),
  };
  const said = Object.fromEntries(Object.entries(times).filter(([, one]) => one !== undefined)) as Partial<
    Record<keyof typeof times, never>
  >;
  if (given.disable || test[0] === "NONE") return rootfs === undefined ? { imageHealthCheck: false } : {};
  if (test.length === 0) return rootfs === undefined && Object.keys(said).length > 0 ? { imageHealthCheck: said } : {};
  const command = test[0] === "CMD" ? test.slice(1) : ["/bin/sh", "-c", test.slice(1).join(" ")];
  return { healthCheck: { command, interval: "30s", timeout: "30s", retries: 3, startPeriod: 0, ...said } };
}

/** Docker treats a time of 0 like a missing one. */
function timeOf(duration: string | undefined): string | undefined {
  return duration === undefined || !/[1-9]/.test(duration) ? undefined : duration;
}
