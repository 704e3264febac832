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
      stopTimeout: "5s",
      ...further,
    })),
  });
}
