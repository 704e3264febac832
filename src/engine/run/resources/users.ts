/** The users of a task that has some of its own: a user namespace, and root file systems that they can reach. */
import type { Images } from "../../images/index.ts";
import { imageOfContainer, type TaskRecord, USERS, USERS_OF_A_TASK } from "../../model/index.ts";
import type { Incarnation } from "../../plan/index.ts";
import type { TaskUsers, UsersPlacement } from "../../users/index.ts";
import { type Contribution, isKnownTask, type Known, type Made, type TaskResource } from "./resource.ts";

export interface PrivateUsersOptions {
  readonly users: TaskUsers;
  readonly images: Images;
}

export class PrivateUsers implements TaskResource {
  readonly name = "users";
  readonly #options: PrivateUsersOptions;

  constructor(options: PrivateUsersOptions) {
    this.#options = options;
  }

  owns(member: string): boolean {
    return member === USERS;
  }

  async make(record: TaskRecord): Promise<Made> {
    await makeUsersOfTask(this.#options.users, record);
    return {};
  }

  async unmake({ id }: TaskRecord): Promise<void> {
    await this.#options.users.remove(id);
  }

  /** Shows the root file system of the image to the task's users. */
  async prepare(record: TaskRecord, { container, runtimeId }: Incarnation): Promise<void> {
    const { users, images } = this.#options;
    if (record.users === undefined || imageOfContainer(record, container) === null) return;
    await users.show(record.id, runtimeId, images.rootOf(runtimeId, []).rootfs);
  }

  contribute(record: TaskRecord): Contribution {
    const users = usersOfTask(this.#options.users, record);
    return users === undefined ? {} : { users };
  }

  async release(task: string, runtimeId: string): Promise<void> {
    await this.#options.users.hide(task, runtimeId);
  }

  async forget(task: string): Promise<void> {
    await this.#options.users.remove(task);
  }

  async sweep(known: Known): Promise<readonly unknown[]> {
    return this.#options.users.tidy((id) => isKnownTask(known, id));
  }
}

/** undefined: the task has the users of the host. */
export function usersOfTask(all: TaskUsers, { id, users }: TaskRecord): UsersPlacement | undefined {
  return users && all.placement(id, { ...users, count: USERS_OF_A_TASK });
}

/** undefined: the task has the users of the host. @throws as TaskUsers.make */
export async function makeUsersOfTask(all: TaskUsers, { id, users }: TaskRecord): Promise<UsersPlacement | undefined> {
  return users && all.make(id, { ...users, count: USERS_OF_A_TASK });
}
