/** Users of tasks: user namespaces, and layers of images that seem to belong to their users. */
export { TaskUsers, type UsersPlacement } from "./task-users.ts";
