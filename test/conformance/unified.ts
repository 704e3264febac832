/** The runtime on a host with the unified hierarchy. */
import type { CallOptions, Result } from "../support/call.ts";
import { isUnified } from "./cgroups.ts";
import type { Container } from "./container.ts";
import type { Change, Context } from "./context.ts";
import { missing } from "./host.ts";

/**
 * On a hybrid host its hierarchy of v2 stands in the place of all: it has no controllers, but cgroups, files of the core and device
 * programs. The others want more, so that for them the test is skipped then.
 */
export function unifiedCall(c: Context): (args: readonly string[], options?: CallOptions) => Promise<Result> {
  if (isUnified()) return (args, options) => c.call(args, options);
  if (!c.isRunt) c.skip(missing(["cgroup2"]) ?? "");
  const script = 'exec unshare --mount --propagation slave sh -c \'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"\' sh "$@"';
  return (args, options) => c.shell(script, args, options);
}

/** Create and start there, without limits unless the change brings some. The test deletes it. */
export async function startUnified(c: Context, change: Change): Promise<Container> {
  const bundle = c.bundle((config) => {
    if (!isUnified()) config.linux.resources = {};
    change(config);
  });
  const container = c.container(bundle, unifiedCall(c));
  await container.ok(["create", "--bundle", bundle, container.id]);
  await container.start();
  return container;
}
