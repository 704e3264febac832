/** The attacks of engine.ts by their ids, as Podman and Docker can be attacked. */
import { hostileInput, placesOfReaders, silentConnections, targets, unreadAnswers } from "./doors.ts";
import { descriptions, exchanged, layersOut } from "./images.ts";
import { loopback, metadataV6 } from "./network.ts";
import type { PeerAttack } from "./peer.ts";
import { lostRecords } from "./records.ts";

export const PEER_ATTACKS: Readonly<Record<string, PeerAttack>> = {
  "targets of requests": targets,
  "hostile input at every door": hostileInput,
  "connections without a frame": silentConnections,
  "places of readers": placesOfReaders,
  "unread answers": unreadAnswers,
  "loopback and metadata of the host": loopback,
  "metadata by IPv6": metadataV6,
  "layers that lead out": layersOut,
  "descriptions that lie": descriptions,
  "a layout that is exchanged": exchanged,
  "records that are lost": lostRecords,
};
