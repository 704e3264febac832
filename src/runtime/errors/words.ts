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
  resizeUnused: "--resize-fifo is for a terminal: of create and run with --exit-record, or of exec without --detach",
} as const;
