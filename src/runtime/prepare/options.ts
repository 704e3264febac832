/** What the lifecycle verbs share: where state is, and how the caller wants the container made. */
export interface RuntimeOptions {
  /** State root, absolute. */
  readonly root: string;
  /** Ignore cgroup permission errors: the caller has no rights on the host. */
  readonly rootless: boolean;
  /** Containers get no cgroup of their own. */
  readonly withoutCgroup?: boolean;
  /** systemd makes the cgroups. */
  readonly systemd?: boolean;
}

/** The log of what a container prints. */
export interface OutputLog {
  /** Absolute. */
  readonly path: string;
  /** Bytes of one file. */
  readonly size: number;
  /** Files: the log, and those that were rotated. */
  readonly files: number;
}

export interface CreateOptions {
  readonly id: string;
  /** Absolute bundle directory. */
  readonly bundle: string;
  /** Absolute path of the configuration, when it is not config.json in the bundle. */
  readonly configFile?: string;
  readonly mode: "create" | "run";
  /** Where the container runs, when the caller says it. */
  readonly isolation?: string;
  /** The state root: where the sandbox is whose machine it joins. */
  readonly root?: string;
  readonly detach: boolean;
  /** The container is detached although a monitor stays: only the monitor reads its terminal. */
  readonly unattended?: boolean;
  readonly consoleSocket?: string;
  /** FIFO that the sizes of the terminal are read from, a line `ROWS COLUMNS` each; with `unattended` only. */
  readonly resizeFifo?: string;
  /** FIFO that the deadline is read from, a line `MILLISECONDS`; with `unattended` only. */
  readonly deadlineFifo?: string;
  readonly pidFile?: string;
  /** unix stream socket that receives a pidfd of the container's process. */
  readonly pidfdSocket?: string;
  readonly noPivot: boolean;
  readonly noNewKeyring: boolean;
  readonly preserveFds: number;
  /** Digest or file of the plan that the caller has read: nothing is done when it is another one. */
  readonly expectPlan?: string;
  /** The container's cgroup goes below this one: an absolute path, or with systemd a slice. */
  readonly cgroupParent?: string;
}
