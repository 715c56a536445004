import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountActors } from "../../actors/account/core/AccountActors.ts"
import type { Announcement, AnnouncementChange } from "../../services/announcements/Announcement.ts"
import { AnnouncementWriter } from "../../services/announcements/AnnouncementWriter.ts"
import { slice } from "../../services/database/Paging.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { RecordNotFound, validationFailed } from "../../services/runtime/Errors.ts"
import { momentOf } from "../../services/runtime/Moments.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import * as Lists from "../render/ListResponses.ts"
import { staffEndpoints } from "../staff/api/StaffEndpoints.ts"
import { id, timestamp, timestampOrNull } from "../wire/Common.ts"
import { json } from "../wire/Keys.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { AdminAnnouncement, AnnouncementWrite } from "./wire/AdminAnnouncement.ts"

const path = "/api/v1/admin/announcements"
const announcementRows = 100
const at = staffEndpoints({ path, permission: "manageAnnouncements", row: AdminAnnouncement, write: AnnouncementWrite })

export class AdminAnnouncementsGroup extends HttpApiGroup.make("admin/announcements")
  .add(
    HttpApiEndpoint.get("all", path, { query: PageQuery, success: Schema.Array(AdminAnnouncement) })
      .annotate(Access, at.reading),
    at.create,
    at.show,
    at.replace,
    at.change,
    at.remove,
    at.act("publish"),
    at.act("unpublish")
  )
  .middleware(Guard)
{}

const announcementJson = (one: Announcement) =>
  json<AdminAnnouncement>({
    ...one,
    id: id(one.id),
    startsAt: timestampOrNull(one.startsAt),
    endsAt: timestampOrNull(one.endsAt),
    scheduledAt: timestampOrNull(one.scheduledAt),
    published: one.publishedAt !== null,
    publishedAt: timestampOrNull(one.publishedAt),
    updatedAt: timestamp(one.updatedAt)
  })

interface About {
  readonly params: { readonly id: bigint }
}

/** Announcements for staff, including unpublished ones (S-087, S-235). */
export const layer = group(
  AdminAnnouncementsGroup,
  Effect.fn(function*(handlers) {
    const actors = yield* AccountActors
    const writer = yield* AnnouncementWriter
    const { publicUrl } = yield* ServerConfig
    const list = Effect.orDie(writer.list)

    const shown = Effect.fnUntraced(function*(announcementId: bigint) {
      const found = (yield* list).find((one) => one.id === announcementId)
      return found === undefined ? yield* new RecordNotFound() : Reply.json(announcementJson(found))
    })
    const act = (tag: "PublishAnnouncement" | "UnpublishAnnouncement") =>
      traced(`admin.announcements.${tag}`)(function*({ params }: About) {
        yield* actors.tell(yield* Caller.account, { _tag: tag, announcementId: params.id })
        return yield* shown(params.id)
      })
    const change = traced("admin.announcements.change")(
      function*({ params, payload }: About & { readonly payload: AnnouncementWrite }) {
        const by = yield* Caller.account
        const change = yield* changeOf(payload)
        yield* actors.tell(by, { _tag: "UpdateAnnouncement", announcementId: params.id, change })
        return yield* shown(params.id)
      }
    )

    return handlers.handleAll({
      all: traced("admin.announcements.all")(function*({ query }) {
        const page = pageOf(query, announcementRows)
        const all = yield* list
        const ids = new Set(slice(page, all.map((one) => one.id)))
        const rows = all.filter((one) => ids.has(one.id))
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: (one) => one.id,
          items: rows.map(announcementJson)
        })
      }),
      create: traced("admin.announcements.create")(function*({ payload }) {
        const by = yield* Caller.account
        const announcement = yield* changeOf(payload)
        const unpublished = payload.unpublished === true
        const response = yield* actors.tell(by, { _tag: "CreateAnnouncement", announcement, unpublished })
        return yield* shown(BigInt(response.id))
      }),
      show: traced("admin.announcements.show")(({ params }) => shown(params.id)),
      replace: change,
      change,
      remove: traced("admin.announcements.remove")(function*({ params }) {
        yield* actors.tell(yield* Caller.account, { _tag: "DeleteAnnouncement", announcementId: params.id })
        return Reply.empty
      }),
      publish: act("PublishAnnouncement"),
      unpublish: act("UnpublishAnnouncement")
    })
  })
).pipe(Layer.provide(AnnouncementWriter.layer))

const times = [["startsAt", "Starts at"], ["endsAt", "Ends at"], ["scheduledAt", "Scheduled at"]] as const

/** Returns the fields that the request names. */
const changeOf = Effect.fnUntraced(function*({ allDay, text, ...given }: AnnouncementWrite) {
  const change: { -readonly [Key in keyof AnnouncementChange]: AnnouncementChange[Key] } = {}
  if (text !== undefined) change.text = text ?? ""
  if (allDay !== undefined) change.allDay = allDay
  for (const [key, name] of times) {
    const moment = given[key]
    if (moment === undefined) continue
    const millis = moment === null || moment === "" ? null : momentOf(moment)
    if (millis === undefined) return yield* validationFailed(`${name} is invalid`)
    change[key] = millis
  }
  return change
})
