import type { ContainerConfig } from "../../config/index.ts";

/** A configuration that asks for nothing: what is compiled for a container that exists has only the parts that it changes. */
export const BARE_CONFIG: ContainerConfig = {
  ociVersion: "",
  bundle: "",
  rootfs: "",
  rootReadonly: false,
  rootfsPropagation: 0,
  annotations: {},
  namespaces: [],
  uidMappings: [],
  gidMappings: [],
  mounts: [],
  devices: [],
  mountedInDev: new Set(),
  maskedPaths: [],
  readonlyPaths: [],
  netDevices: [],
  sysctl: [],
  cgroupsPath: "",
  resources: { hugepageLimits: [], rdma: {}, unified: {}, devices: [] },
  hooks: {},
  warnings: [],
};
