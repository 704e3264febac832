/** Every request that the daemon answers, a file a subject. */
import type { Route } from "../http/route.ts";
import { applyFile } from "./apply.ts";
import { followEvents } from "./events.ts";
import { getMetrics } from "./metrics.ts";
import { getNode } from "./node.ts";
import { deleteTask, getTask, listTasks } from "./tasks.ts";

export const ROUTES: readonly Route[] = [getNode, listTasks, getTask, deleteTask, applyFile, followEvents, getMetrics];
