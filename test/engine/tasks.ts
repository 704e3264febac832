/** Task files for tests. */

export interface ContainerText {
  readonly name: string;
  /** For /bin/sh -c. */
  readonly script?: string;
  /** Further fields, as YAML. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Sleeps until it is told to end. */
export const SLEEP = "trap 'exit 0' TERM; sleep 1000 & wait $!";

/** Process 1 of a container ignores signals that it has no handler for: waiting for the end of such a script would only take time. */
export function stopTimeoutOf(script: string): string {
  return /\btrap\b/.test(script) ? "5s" : "200ms";
}

/** JSON is YAML, too. */
export function taskText(
  rootfs: string,
  name: string,
  containers: readonly ContainerText[],
  fields: Readonly<Record<string, unknown>> = {},
): string {
  return JSON.stringify({
    name,
    ...fields,
    containers: containers.map(({ name: container, script = SLEEP, fields: further = {} }) => ({
      name: container,
      ...("bundle" in further ? {} : { rootfs, command: "/bin/sh", args: ["-c", script] }),
      stopTimeout: stopTimeoutOf(script),
      ...further,
    })),
  });
}
