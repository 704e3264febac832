import { S } from "../../../shared/linux/index.ts";
import type { DeviceNode } from "../../config/index.ts";

/** As mknod(2) has it. */
export const DEVICE_TYPE: Readonly<Record<DeviceNode["type"], number>> = { c: S.IFCHR, b: S.IFBLK, p: S.IFIFO };
