/** The methods of the client, by subject, and the operation of the daemon behind each. */
export const SUBJECTS = {
  /** The host, the daemon, and what its containers use. */
  node: { get: "getNode", usage: "getUsage", metrics: "getMetrics", openapi: "getInterface" },
  /** Files with tasks, pods or pools. */
  files: { apply: "applyFile", plan: "planFile" },
  /** Single tasks, and programs, logs and ports of their containers. */
  tasks: {
    list: "listTasks",
    orphans: "listOrphans",
    get: "getTask",
    describe: "describeTask",
    delete: "deleteTask",
    stop: "stopTask",
    start: "startTask",
    restart: "restartTask",
    rollback: "rollbackTask",
    logs: "readLogs",
    exec: "execInTask",
    attach: "attachToTask",
    forward: "forwardPort",
  },
  /** Several tasks of a group in one request. */
  groups: { delete: "deleteTasks", stop: "stopTasks", restart: "restartTasks" },
  /** Services with replicas. */
  rollouts: {
    list: "listRollouts",
    get: "getRollout",
    undo: "undoRollout",
    pause: "pauseRollout",
    resume: "resumeRollout",
    restart: "restartRollout",
    scale: "scaleService",
    autoUpdate: "autoUpdate",
  },
  images: {
    list: "listImages",
    inspect: "inspectImage",
    pull: "pullImage",
    build: "buildImage",
    push: "pushImage",
    load: "loadImages",
    save: "saveImage",
    tag: "tagImage",
    prune: "pruneImages",
  },
  /** Logins for pulls and pushes. */
  registries: { login: "loginToRegistry", logout: "logoutFromRegistry", user: "getRegistryUser" },
  /** Volumes that outlive tasks. */
  volumes: { list: "listVolumes", remove: "removeVolumes" },
  /** Prepared containers, and programs in them. */
  pools: { list: "listPools", get: "getPool", delete: "deletePool", run: "runInPool" },
  /** Interfaces of the host that others provide. */
  interfaces: { list: "listInterfaces", attach: "attachInterface", detach: "detachInterface" },
  /** The journal. */
  events: { follow: "followEvents" },
} as const;
