import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AnnouncementReactions } from "../../../services/announcements/AnnouncementReactions.ts"
import { AnnouncementWriter } from "../../../services/announcements/AnnouncementWriter.ts"
import { requirePermission } from "../../../services/staff/Rank.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAnnouncement } from "../core/Verbs.ts"

/** Staff announcements and the reactions to them. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const reactions = yield* AnnouncementReactions
  const writer = yield* AnnouncementWriter

  const standing = requirePermission(sql)
  const allowed = ({ accountId }: Ownership) => standing(accountId, "manageAnnouncements")

  const verbs = {
    ReactToAnnouncement: Effect.fnUntraced(
      function*({ accountId }: Ownership, { announcementId, name }: Commands["ReactToAnnouncement"]) {
        yield* reactions.add(accountId, announcementId, name)
        return onAnnouncement(announcementId)
      }
    ),
    UnreactToAnnouncement: Effect.fnUntraced(
      function*({ accountId }: Ownership, { announcementId, name }: Commands["UnreactToAnnouncement"]) {
        yield* reactions.remove(accountId, announcementId, name)
        return onAnnouncement(announcementId)
      }
    ),
    CreateAnnouncement: Effect.fnUntraced(
      function*(own: Ownership, { announcement, unpublished }: Commands["CreateAnnouncement"]) {
        yield* allowed(own)
        return onAnnouncement(yield* writer.add(own.accountId, announcement, unpublished))
      }
    ),
    UpdateAnnouncement: Effect.fnUntraced(
      function*(own: Ownership, { announcementId, change }: Commands["UpdateAnnouncement"]) {
        yield* allowed(own)
        yield* writer.edit(own.accountId, announcementId, change)
        return onAnnouncement(announcementId)
      }
    ),
    PublishAnnouncement: Effect.fnUntraced(
      function*(own: Ownership, { announcementId }: Commands["PublishAnnouncement"]) {
        yield* allowed(own)
        yield* writer.publish(own.accountId, announcementId)
        return onAnnouncement(announcementId)
      }
    ),
    UnpublishAnnouncement: Effect.fnUntraced(
      function*(own: Ownership, { announcementId }: Commands["UnpublishAnnouncement"]) {
        yield* allowed(own)
        yield* writer.unpublish(own.accountId, announcementId)
        return onAnnouncement(announcementId)
      }
    ),
    DeleteAnnouncement: Effect.fnUntraced(
      function*(own: Ownership, { announcementId }: Commands["DeleteAnnouncement"]) {
        yield* allowed(own)
        yield* writer.remove(own.accountId, announcementId)
        return onAnnouncement(announcementId)
      }
    )
  }
  return { verbs }
})
