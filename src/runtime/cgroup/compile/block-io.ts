import type { ResourceConfig, ThrottleDevice } from "../../config/index.ts";
import type { Sink } from "./sink.ts";

type BlockIO = NonNullable<ResourceConfig["blockIO"]>;
type ThrottleField = "throttleReadBpsDevice" | "throttleWriteBpsDevice" | "throttleReadIOPSDevice" | "throttleWriteIOPSDevice";

/** Field of the specification, v1 file, key in v2's io.max. */
const THROTTLES: readonly (readonly [ThrottleField, string, string])[] = [
  ["throttleReadBpsDevice", "blkio.throttle.read_bps_device", "rbps"],
  ["throttleWriteBpsDevice", "blkio.throttle.write_bps_device", "wbps"],
  ["throttleReadIOPSDevice", "blkio.throttle.read_iops_device", "riops"],
  ["throttleWriteIOPSDevice", "blkio.throttle.write_iops_device", "wiops"],
];

const NO_LEAF_WEIGHT = "cgroup v2 has no leaf weight";

/** Weights go to the files of the BFQ scheduler; where a kernel has the older ones, the write is turned (see driver/write.ts). */
export function writeBlockIOV1(sink: Sink, io: BlockIO): void {
  if (io.weight) sink.write("blkio", "blkio.bfq.weight", io.weight, "blockIO/weight");
  if (io.leafWeight) sink.write("blkio", "blkio.leaf_weight", io.leafWeight, "blockIO/leafWeight");
  io.weightDevice.forEach(({ major, minor, weight, leafWeight }, index) => {
    const pointer = `blockIO/weightDevice/${index}`;
    if (weight) sink.write("blkio", "blkio.bfq.weight_device", `${major}:${minor} ${weight}`, pointer);
    if (leafWeight) sink.write("blkio", "blkio.leaf_weight_device", `${major}:${minor} ${leafWeight}`, pointer);
  });
  eachThrottle(io, (device, [, file], pointer) => sink.write("blkio", file, `${device.major}:${device.minor} ${device.rate}`, pointer));
}

export function writeBlockIOV2(sink: Sink, io: BlockIO): void {
  if (io.weight) sink.write("io", "io.bfq.weight", io.weight, "blockIO/weight");
  io.weightDevice.forEach(({ major, minor, weight, leafWeight }, index) => {
    const pointer = `blockIO/weightDevice/${index}`;
    if (weight) sink.write("io", "io.bfq.weight", `${major}:${minor} ${weight}`, pointer);
    if (leafWeight) sink.refuse(`${pointer}/leafWeight`, NO_LEAF_WEIGHT);
  });
  if (io.leafWeight) sink.refuse("blockIO/leafWeight", NO_LEAF_WEIGHT);
  eachThrottle(io, (device, [, , key], pointer) =>
    sink.write("io", "io.max", `${device.major}:${device.minor} ${key}=${device.rate}`, pointer),
  );
}

function eachThrottle(io: BlockIO, visit: (device: ThrottleDevice, throttle: (typeof THROTTLES)[number], pointer: string) => void): void {
  for (const throttle of THROTTLES) {
    io[throttle[0]].forEach((device, index) => {
      visit(device, throttle, `blockIO/${throttle[0]}/${index}`);
    });
  }
}

/** blkio/BFQ weight (10..1000) as io.weight (1..10000), linear as in runc: 500 -> 4950. */
export function ioWeight(weight: number): number {
  return 1 + Math.floor(((weight - 10) * 9999) / 990);
}
