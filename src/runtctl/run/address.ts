/** Checks addresses. */

const V4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const GROUP = /^[\da-f]{1,4}$/i;

/** Whether it is an IPv4 or an IPv6 address; the latter may have a zone, as in "fe80::1%eth0". */
export function isAddress(text: string): boolean {
  const [address = "", zone, ...more] = text.split("%");
  if (!address.includes(":")) return zone === undefined && V4.test(address);
  return more.length === 0 && (zone === undefined || /^[\da-zA-Z.:-]+$/.test(zone)) && isV6(address);
}

/** Whether it is an IPv6 address without a zone. */
export function isV6(text: string): boolean {
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1) ?? "";
  // The last four bytes may be written as an IPv4 address.
  const isMixed = last.includes(".") && !text.endsWith("::");
  const count = groups.length + (isMixed ? 1 : 0);
  const isWhole = (isMixed ? groups.slice(0, -1) : groups).every((group) => GROUP.test(group)) && (!isMixed || V4.test(last));
  return isWhole && (halves.length === 2 ? count <= 7 : count === 8);
}
