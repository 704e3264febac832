/** One line of rdma.max. */
export function rdmaLimit(device: string, limits: { readonly hcaHandles?: number; readonly hcaObjects?: number }): string {
  const parts = [device];
  if (limits.hcaHandles !== undefined) parts.push(`hca_handle=${limits.hcaHandles}`);
  if (limits.hcaObjects !== undefined) parts.push(`hca_object=${limits.hcaObjects}`);
  return parts.join(" ");
}
