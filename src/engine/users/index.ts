/** User namespaces of tasks, and image layers that seem to belong to the users of a task. */
export { TaskUsers, type UsersPlacement } from "./task-users.ts";
