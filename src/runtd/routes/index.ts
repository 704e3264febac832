/** All routes of the daemon, one file for each subject. */
import type { Route } from "../http/route.ts";
import { applyFile, planFile } from "./apply.ts";
import { attachToTask } from "./attach.ts";
import { autoUpdate } from "./autoupdate.ts";
import { followEvents } from "./events.ts";
import { execInTask } from "./exec.ts";
import { forwardPort } from "./forward.ts";
import { inspectImage, loadImages, pushImage, saveImage, tagImage } from "./image-work.ts";
import { buildImage, listImages, pruneImages, pullImage } from "./images.ts";
import { attachInterface, detachInterface, listInterfaces } from "./interfaces.ts";
import { restartTask, rollbackTask, startTask, stopTask } from "./life.ts";
import { readLogs } from "./logs.ts";
import { getMetrics, getUsage } from "./metrics.ts";
import { getNode } from "./node.ts";
import { describing } from "./openapi.ts";
import { deletePool, getPool, listPools, runInPool } from "./pools.ts";
import { getRegistryUser, loginToRegistry, logoutFromRegistry } from "./registries.ts";
import { getRollout, listRollouts, pauseRollout, restartRollout, resumeRollout, scaleService, undoRollout } from "./rollouts.ts";
import { deleteTasks, restartTasks, stopTasks } from "./several.ts";
import { deleteTask, describeTask, getTask, listOrphans, listTasks } from "./tasks.ts";
import { listVolumes, removeVolumes } from "./volumes.ts";

const WORKING: readonly Route[] = [
  getNode,
  listTasks,
  listOrphans,
  getTask,
  describeTask,
  deleteTask,
  stopTask,
  startTask,
  restartTask,
  rollbackTask,
  deleteTasks,
  stopTasks,
  restartTasks,
  listRollouts,
  getRollout,
  undoRollout,
  pauseRollout,
  resumeRollout,
  restartRollout,
  scaleService,
  autoUpdate,
  readLogs,
  applyFile,
  planFile,
  execInTask,
  attachToTask,
  forwardPort,
  getUsage,
  listImages,
  pullImage,
  buildImage,
  pruneImages,
  inspectImage,
  tagImage,
  pushImage,
  loadImages,
  saveImage,
  loginToRegistry,
  logoutFromRegistry,
  getRegistryUser,
  listVolumes,
  removeVolumes,
  listPools,
  getPool,
  deletePool,
  runInPool,
  listInterfaces,
  attachInterface,
  detachInterface,
  followEvents,
  getMetrics,
];

export const ROUTES: readonly Route[] = [...WORKING, describing(WORKING)];
