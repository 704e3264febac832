export interface ListenerState {
  readonly ociVersion: string;
  readonly id: string;
  /** "creating" for the container's first process, "running" for one of exec. */
  readonly status: "creating" | "running";
  /** init of the container, as the runtime sees it. */
  readonly containerPid: number;
  /** The process whose filter it is. */
  readonly pid: number;
  readonly bundle: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** JSON of `ContainerProcessState` (config-linux, seccomp). */
export function processState(metadata: string, { containerPid, pid, annotations, ...state }: ListenerState): string {
  const { ociVersion, id, status, bundle } = state;
  return JSON.stringify({
    ociVersion,
    fds: ["seccompFd"],
    pid,
    ...(metadata !== "" && { metadata }),
    state: { ociVersion, id, status, pid: containerPid, bundle, ...(Object.keys(annotations).length > 0 && { annotations }) },
  });
}
