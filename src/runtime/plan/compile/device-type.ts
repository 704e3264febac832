import type { DeviceNode } from "../../config/types.ts";
import { S_IF } from "../linux.ts";

/** As mknod(2) has it. */
export const DEVICE_TYPE: Readonly<Record<DeviceNode["type"], number>> = { c: S_IF.character, b: S_IF.block, p: S_IF.fifo };
