/**
 * Every error runt can end with: its stable code, exit status and what it means.
 * The message texts are made where the facts are known; the words that clients match on are `WORDS`.
 */
export const CATALOGUE = {
  usage: { exit: 1, meaning: "the command line is wrong" },
  "unknown-command": { exit: 3, meaning: "there is no such verb" },
  "config-read": { exit: 1, meaning: "config.json cannot be read" },
  "config-syntax": { exit: 1, meaning: "config.json is not JSON" },
  "config-schema": { exit: 1, meaning: "a field of config.json has the wrong type" },
  "config-invalid": { exit: 1, meaning: "config.json asks for something that cannot be" },
  "not-supported": { exit: 1, meaning: "config.json or the command line asks for something this version cannot do" },
  "id-invalid": { exit: 1, meaning: "the container id is not allowed" },
  "id-exists": { exit: 1, meaning: "a container of this id exists" },
  "id-unknown": { exit: 1, meaning: "there is no container of this id" },
  "id-locked": { exit: 1, meaning: "another process works on the container and does not come to an end" },
  "state-unreadable": { exit: 1, meaning: "the state record of a container is damaged" },
  "state-version": { exit: 1, meaning: "the container was made by a version of runt whose state record does not do for this" },
  "state-moved": { exit: 1, meaning: "the state directory is a copy of the one in which the container was made" },
  "state-foreign": { exit: 1, meaning: "what stands in the place of a container's state is not runt's" },
  "state-root": { exit: 1, meaning: "the state directory cannot be used" },
  "wrong-status": { exit: 1, meaning: "the container's status does not allow this" },
  cgroup: { exit: 1, meaning: "a cgroup operation failed" },
  resctrl: { exit: 1, meaning: "an operation on the resctrl filesystem failed" },
  gc: { exit: 1, meaning: "something left behind could not be removed" },
  criu: { exit: 1, meaning: "criu is not there or could not do it" },
  hook: { exit: 1, meaning: "a hook failed" },
  operation: { exit: 1, meaning: "an operation of the plan failed" },
  "host-facts": { exit: 1, meaning: "a file of host facts cannot be used" },
  "plan-changed": { exit: 1, meaning: "the plan is another one than expected" },
  timeout: { exit: 1, meaning: "something has not happened within its time" },
  interrupted: {
    exit: 1,
    meaning:
      "a signal has ended the verb before the program began, or before the container was paused; the exit status is 128 and its number",
  },
  trace: { exit: 1, meaning: "the file of --trace cannot be written" },
  system: { exit: 1, meaning: "the system failed at something that always works" },
  internal: { exit: 1, meaning: "a defect of runt" },
} as const satisfies Record<string, { readonly exit: number; readonly meaning: string }>;

export type ErrorCode = keyof typeof CATALOGUE;

/** Texts that engines match on, word for word (containerd's shim, conmon, Podman, CRI-O, Docker). */
export const WORDS = {
  doesNotExist: "container does not exist",
  notRunning: "container not running",
  idInUse: "container with given ID already exists",
  idFormat: "invalid container ID format",
  alreadyRunning: "cannot start an already running container",
  startStopped: "cannot start a container that has stopped",
  execStopped: "cannot exec in a stopped container",
  execPaused: "cannot exec in a paused container (use --ignore-paused to override)",
  notPaused: "container not paused",
  alreadyPaused: "container already paused",
  executableNotFound: "executable file not found in $PATH",
  consoleSocketMissing: "cannot allocate tty if runt will detach without setting console socket",
  consoleSocketUnused: "cannot use console socket if runt will not detach or allocate tty",
  sizeUnused: "--console-size is for a terminal (--tty)",
  deadlineUnused: "--deadline-fifo is for create and run with --exit-record",
  outputLogUnused: "--output-log is for create and run with --exit-record",
  outputLogMissing: "--output-log-size and --output-log-files are for --output-log",
  resizeUnused: "--resize-fifo is for a terminal: of create and run with --exit-record, or of exec without --detach",
} as const;
