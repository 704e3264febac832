/**
 * The annotations of Kata Containers, and what `--isolation vm` does for each of them: data for `create`, `validate` and docs/kata-annotations.md. Source:
 * Kata Containers, "Pod Annotations" (how-to-set-sandbox-config-kata).
 */

/**
 * allowed: it has its effect if the operator names it in `allow.annotations` of vm.json; without that it is refused. applied: it has its effect. refused: it is refused
 * unless its value asks for what is so anyway. unused: it has no effect.
 */
export type KataUse = "applied" | "allowed" | "refused" | "unused";

export interface KataAnnotation {
  readonly use: KataUse;
  /** The effect, or the reason why there is none: the end of a sentence, without its stop. */
  readonly text: string;
  /** The values of a refused annotation that ask for what is so anyway, and are accepted. */
  readonly harmless?: readonly string[];
}

const PREFIX = "io.katacontainers.";

const allowed = (text: string): KataAnnotation => ({ use: "allowed", text });
const applied = (text: string): KataAnnotation => ({ use: "applied", text });
const unused = (text: string): KataAnnotation => ({ use: "unused", text });
const refused = (text: string, ...harmless: readonly string[]): KataAnnotation => ({ use: "refused", text, harmless });

const OWN_DISKS = "disks are the block devices that the configuration names, by virtio-blk with the settings of runt";
const OF_THE_OPERATOR = "only the operator chooses programs and files of the host";
const FIRMWARE = "the kernel is started without a firmware";
const REMOTE = "it chooses a machine of a cloud";
const HASH = "runt starts the files that the operator has named, and checks no sums of the pod's";

/** The keys are the parts of the names after "io.katacontainers.". */
export const KATA_ANNOTATIONS: Readonly<Record<string, KataAnnotation>> = {
  "config.hypervisor.default_vcpus": allowed("CPUs of the machine beside those of the limits; a fraction is rounded up with them"),
  "config.hypervisor.default_max_vcpus": allowed("the machine has at most so many CPUs, whatever the limits ask for"),
  "config.hypervisor.default_memory": allowed("MiB of the machine beside the limit of memory"),
  "config.hypervisor.kernel_params": allowed(
    "parameters of the guest's kernel, in addition to those of runt; it may not name those that runt needs",
  ),
  "config.hypervisor.virtio_fs_cache": allowed("how long virtiofsd lets the guest keep data and metadata: `never`, `auto` or `always`"),
  "config.hypervisor.kernel": allowed("`IMAGE/boot/vmlinux` of an image in `allow.images`"),
  "config.hypervisor.path": allowed("a hypervisor in `allow.hypervisors`"),
  "config.runtime.create_container_timeout": applied("seconds for booting and making the container, at most `bootSeconds` of vm.json"),
  "config.hypervisor.initrd": refused("the initrd belongs to the image of the kernel"),
  "config.hypervisor.image": refused("the image belongs to the kernel"),
  "config.hypervisor.guest_hook_path": refused("no program of the pod's runs in the guest beside its containers"),
  "config.hypervisor.enable_iommu": refused("a machine has no IOMMU", "false"),
  "config.hypervisor.enable_iommu_platform": refused("a machine has no IOMMU", "false"),
  "config.hypervisor.jailer_path": refused(OF_THE_OPERATOR),
  "config.hypervisor.firmware": refused(FIRMWARE, ""),
  "config.hypervisor.firmware_volume": refused(FIRMWARE, ""),
  "config.hypervisor.virtio_fs_daemon": refused(OF_THE_OPERATOR),
  "config.hypervisor.virtio_fs_extra_args": refused("options of virtiofsd can reach files of the host", "", "[]"),
  "config.hypervisor.virtio_fs_cache_size": refused("files of the host are not mapped into the guest (DAX)", "0"),
  "config.hypervisor.vhost_user_store_path": refused(OF_THE_OPERATOR),
  "config.hypervisor.enable_vhost_user_store": refused("a machine takes no devices of other programs", "false"),
  "config.hypervisor.cold_plug_vfio": refused("a machine gets no devices of the host", "no-port"),
  "config.hypervisor.hot_plug_vfio": refused("a machine gets no devices of the host", "no-port"),
  "config.hypervisor.enable_hugepages": refused("the memory of a machine is not taken from huge pages", "false"),
  "config.hypervisor.enable_guest_swap": refused("the guest has no swap", "false"),
  "config.hypervisor.machine_type": refused("the machine is a q35", "q35", "pc-q35"),
  "config.hypervisor.shared_fs": refused("files come by virtiofs", "virtio-fs"),
  "config.hypervisor.cpu_features": refused("the model of the processor is the host's with KVM, and the emulator's otherwise"),
  "config.hypervisor.machine_accelerators": refused("the operator chooses the accelerator"),
  "config.agent.kernel_modules": refused("the guest's kernel has no modules that can be loaded"),
  "config.runtime.disable_new_netns": refused("a machine reaches only the interfaces of its network namespace", "false"),
  "config.runtime.experimental_force_guest_pull": refused("images are unpacked on the host", "false"),
  config_path: refused(OF_THE_OPERATOR),
  "config.hypervisor.asset_hash_type": unused(HASH),
  "config.hypervisor.kernel_hash": refused(HASH),
  "config.hypervisor.image_hash": refused(HASH),
  "config.hypervisor.initrd_hash": refused(HASH),
  "config.hypervisor.hypervisor_hash": refused(HASH),
  "config.hypervisor.jailer_hash": refused(HASH),
  "config.hypervisor.firmware_hash": refused(HASH),
  "config.hypervisor.firmware_volume_hash": refused(HASH),
  "config.hypervisor.memory_slots": unused("a machine does not grow after its start"),
  "config.hypervisor.memory_offset": unused("a machine has no NVDIMM"),
  "config.hypervisor.enable_virtio_mem": unused("a machine does not grow after its start"),
  "config.hypervisor.enable_mem_prealloc": unused("memory is taken from the host when the guest uses it"),
  "config.hypervisor.block_device_driver": unused(OWN_DISKS),
  "config.hypervisor.block_device_cache_set": unused(OWN_DISKS),
  "config.hypervisor.block_device_cache_direct": unused(OWN_DISKS),
  "config.hypervisor.block_device_cache_noflush": unused(OWN_DISKS),
  "config.hypervisor.block_device_num_queues": unused(OWN_DISKS),
  "config.hypervisor.block_device_queue_size": unused(OWN_DISKS),
  "config.hypervisor.blk_logical_sector_size": unused(OWN_DISKS),
  "config.hypervisor.blk_physical_sector_size": unused(OWN_DISKS),
  "config.hypervisor.disable_block_device_use": unused(OWN_DISKS),
  "config.hypervisor.disable_image_nvdimm": unused("a machine has no NVDIMM"),
  "config.hypervisor.enable_iothreads": unused(OWN_DISKS),
  "config.hypervisor.vhost_user_reconnect_timeout_sec": unused("the file server of a machine ends with it"),
  "config.hypervisor.disable_vhost_net": unused("interfaces are taps of QEMU, without vhost-net"),
  "config.hypervisor.entropy_source": unused("the guest takes random numbers from the processor and from its own devices"),
  "config.hypervisor.msize_9p": unused("files come by virtiofs"),
  "config.hypervisor.pcie_root_port": unused("no devices are added to a machine that runs"),
  "config.hypervisor.use_vsock": unused("the channel to the guest is a virtio serial port"),
  "config.hypervisor.use_legacy_serial": unused("the operator's setting `console` decides whether there is a serial port"),
  "config.hypervisor.default_gpus": unused(REMOTE),
  "config.hypervisor.default_gpu_model": unused(REMOTE),
  "config.runtime.experimental": unused("runt has no experimental features that it names"),
  "config.runtime.disable_guest_seccomp": unused("the filter of the container always holds in the guest"),
  "config.runtime.internetworking_model": unused("each interface is bridged to a tap"),
  "config.runtime.sandbox_cgroup_only": unused("everything of a machine is in the cgroup of its container"),
  "config.runtime.enable_pprof": unused("there is no shim"),
  "config.agent.enable_tracing": unused("`--trace` of runt writes what it does"),
  "config.agent.container_pipe_size": unused("pipes have the size that the kernel gives them"),
  "config.agent.cdh_api_timeout": unused("there is no Confidential Data Hub"),
  "config.agent.cdh_api_timeout_ms": unused("there is no Confidential Data Hub"),
  "container.resource.swappiness": unused("the guest has no swap"),
  "container.resource.swap_in_bytes": unused("the guest has no swap"),
  "pkg.oci.bundle_path": unused("the runtime of Kata writes it for itself"),
  "pkg.oci.container_type": unused("the runtime of Kata writes it for itself"),
};

const UNKNOWN = unused("Kata Containers has no annotation of this name");

export interface FoundKata extends KataAnnotation {
  /** The whole name. */
  readonly key: string;
  /** As in `allow.annotations` of vm.json: what follows "io.katacontainers.config.hypervisor.", or the end of another name. */
  readonly name: string;
  readonly value: string;
}

/** Finds the annotations of Kata in a configuration, in its order. */
export function kataAnnotations(annotations: Readonly<Record<string, string>> | null | undefined): FoundKata[] {
  return Object.entries(annotations ?? {}).flatMap(([key, value]) => {
    if (!key.startsWith(PREFIX)) return [];
    const rest = key.slice(PREFIX.length);
    const known = Object.hasOwn(KATA_ANNOTATIONS, rest) ? KATA_ANNOTATIONS[rest]! : UNKNOWN;
    return [{ ...known, key, name: rest.slice(rest.lastIndexOf(".") + 1), value }];
  });
}

/** Whether a machine refuses it. */
export function isRefused({ use, harmless, value }: FoundKata): boolean {
  return use === "refused" && harmless?.includes(value) !== true;
}
