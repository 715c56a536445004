import type { SeveranceRecord } from "../../services/federation/domains/Severances.ts"
import { id, timestamp } from "../wire/Common.ts"
import type { Values } from "../wire/Keys.ts"
import type { RelationshipSeveranceEvent } from "../wire/Notification.ts"

/** Returns an event's values for the API. Never purged, so that the names stay known. */
export const severanceValues = (record: SeveranceRecord): Values<RelationshipSeveranceEvent> => ({
  id: id(record.id),
  type: record.type,
  purged: false,
  targetName: record.targetName,
  followersCount: record.followersCount,
  followingCount: record.followingCount,
  createdAt: timestamp(record.createdAt)
})
