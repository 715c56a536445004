import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AnnouncementReactions } from "../../services/announcements/AnnouncementReactions.ts"
import { AnnouncementWriter } from "../../services/announcements/AnnouncementWriter.ts"
import { NotAllowed } from "../../services/Errors.ts"
import { effective, everyone, may } from "../../services/identity/Roles.ts"
import { rowsOf } from "../../services/Rows.ts"
import type { Ownership } from "./Ownership.ts"
import { type Commands, onAnnouncement } from "./Verbs.ts"

const permissionRows = rowsOf(Schema.Struct({ permissions: Schema.BigInt, everybodys: Schema.BigInt }))

/** What staff announces, and how people react to it. */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const reactions = yield* AnnouncementReactions
  const writer = yield* AnnouncementWriter

  /** Whether the account may announce is asked in the transaction: a role may have been taken a moment ago. */
  const allowed = Effect.fnUntraced(function*({ accountId }: Ownership) {
    const [role] = yield* permissionRows(sql`SELECT r.permissions,
        coalesce((SELECT permissions FROM roles WHERE id = ${everyone}), 0) AS everybodys
      FROM users u JOIN roles r ON r.id = u.role_id WHERE u.account_id = ${accountId} AND NOT u.disabled`)
    const bits = role === undefined ? 0n : effective(role.permissions, role.everybodys)
    if (!may(bits, "manageAnnouncements")) return yield* new NotAllowed({})
  })

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
        return onAnnouncement(yield* writer.add(announcement, unpublished))
      }
    ),
    UpdateAnnouncement: Effect.fnUntraced(
      function*(own: Ownership, { announcementId, change }: Commands["UpdateAnnouncement"]) {
        yield* allowed(own)
        yield* writer.edit(announcementId, change)
        return onAnnouncement(announcementId)
      }
    ),
    PublishAnnouncement: Effect.fnUntraced(
      function*(own: Ownership, { announcementId }: Commands["PublishAnnouncement"]) {
        yield* allowed(own)
        yield* writer.publish(announcementId)
        return onAnnouncement(announcementId)
      }
    ),
    UnpublishAnnouncement: Effect.fnUntraced(
      function*(own: Ownership, { announcementId }: Commands["UnpublishAnnouncement"]) {
        yield* allowed(own)
        yield* writer.unpublish(announcementId)
        return onAnnouncement(announcementId)
      }
    ),
    DeleteAnnouncement: Effect.fnUntraced(
      function*(own: Ownership, { announcementId }: Commands["DeleteAnnouncement"]) {
        yield* allowed(own)
        yield* writer.remove(announcementId)
        return onAnnouncement(announcementId)
      }
    )
  }
  return { verbs }
})
