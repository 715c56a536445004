import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { EmojiCopies } from "../../../services/media/EmojiCopies.ts"
import { type EmojiRecord, EmojiRecords } from "../../../services/media/EmojiRecords.ts"
import { Emojis } from "../../../services/media/Emojis.ts"
import type { MediaRefused } from "../../../services/media/MediaTools.ts"
import { Storage, type StorageFailed } from "../../../services/media/Storage.ts"
import { Uploads } from "../../../services/media/Uploads.ts"
import { RecordNotFound, Unavailable, validationFailed } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import * as Lists from "../../render/ListResponses.ts"
import { id, timestamp } from "../../wire/Common.ts"
import { json } from "../../wire/Keys.ts"
import { pageOf } from "../../wire/PageQuery.ts"
import { IdPath } from "../../wire/ReadRequests.ts"
import {
  AdminCustomEmoji,
  CustomEmojiChange,
  CustomEmojiCopy,
  customEmojisFilters,
  CustomEmojisQuery,
  NewCustomEmoji
} from "../wire/AdminCustomEmoji.ts"

const path = "/api/v1/admin/custom_emojis"
const emojiRows = 100
const reading = Access.staff("manageCustomEmojis", "admin:read")
const writing = Access.staff("manageCustomEmojis", "admin:write")
const about = { params: IdPath, success: AdminCustomEmoji }

export class AdminCustomEmojisGroup extends HttpApiGroup.make("admin/customEmojis")
  .add(
    HttpApiEndpoint.get("all", path, { query: CustomEmojisQuery, success: Schema.Array(AdminCustomEmoji) })
      .annotate(Access, reading),
    HttpApiEndpoint.post("create", path, { payload: NewCustomEmoji, success: AdminCustomEmoji })
      .annotate(Access, writing),
    HttpApiEndpoint.get("show", `${path}/:id`, about).annotate(Access, reading),
    HttpApiEndpoint.patch("change", `${path}/:id`, { ...about, payload: CustomEmojiChange })
      .annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params: IdPath, success: Schema.Struct({}) })
      .annotate(Access, writing),
    HttpApiEndpoint.post("copy", `${path}/:id/copy`, { ...about, payload: CustomEmojiCopy }).annotate(Access, writing)
  )
  .middleware(Guard)
{}

const emojiJson = ({ createdAt, updatedAt, ...emoji }: EmojiRecord) =>
  json<AdminCustomEmoji>({
    ...emoji,
    id: id(emoji.id),
    createdAt: timestamp(createdAt),
    updatedAt: timestamp(updatedAt)
  })

const refused = {
  MediaRefused: ({ text }: MediaRefused) => validationFailed(`Image ${text}`),
  MediaToolFailed: () => validationFailed("Image is invalid"),
  StorageFailed: (error: StorageFailed) =>
    Effect.andThen(Effect.logError("an emoji could not be stored", error), Effect.fail(new Unavailable()))
}

/** Custom emoji of this server and of remote servers (S-093, S-235). */
export const layer = group(
  AdminCustomEmojisGroup,
  Effect.fn(function*(handlers) {
    const copies = yield* EmojiCopies
    const emojis = yield* Emojis
    const records = yield* EmojiRecords
    const storage = yield* Storage
    const uploads = yield* Uploads
    const { publicUrl } = yield* ServerConfig

    const shown = Effect.fnUntraced(function*(emojiId: bigint) {
      const found = yield* records.find(emojiId)
      return found === undefined ? yield* new RecordNotFound() : Reply.json(emojiJson(found))
    })

    return handlers.handleAll({
      all: traced("admin.customEmojis.all")(function*({ query, request }) {
        const page = pageOf(query, emojiRows)
        const rows = yield* records.list({
          remote: query.remote === true,
          domain: query.domain || undefined,
          shortcode: query.shortcode || undefined
        }, page)
        return Lists.page({
          baseUrl: publicUrl,
          path,
          page,
          rows,
          cursor: (row) => row.id,
          items: rows.map(emojiJson),
          keep: Lists.linkParameters(request.url, customEmojisFilters)
        })
      }),
      create: traced("admin.customEmojis.create")(function*({ payload }) {
        const upload = payload.image ? uploads.find(payload.image.ticket) : undefined
        if (upload === undefined || upload.bytes === 0) return yield* validationFailed("Image can't be blank")
        if (upload.type === undefined) return yield* validationFailed("Image content type is invalid")
        const by = yield* Caller.account
        const { type } = upload
        const emoji = {
          shortcode: payload.shortcode ?? "",
          category: payload.category?.trim() || null,
          listed: payload.visibleInPicker ?? payload.unlisted !== true
        }
        const added = yield* Effect.scoped(
          Effect.flatMap(storage.local(upload.name), (path) => emojis.add(by, emoji, { path, type }))
        ).pipe(Effect.catchTags(refused))
        return yield* shown(added)
      }),
      show: traced("admin.customEmojis.show")(({ params }) => shown(params.id)),
      change: traced("admin.customEmojis.change")(function*({ params, payload }) {
        const { category, disabled, enabled, unlisted, visibleInPicker } = payload
        yield* emojis.change(yield* Caller.account, params.id, {
          category,
          listed: visibleInPicker ?? (unlisted === undefined ? undefined : !unlisted),
          disabled: disabled ?? (enabled === undefined ? undefined : !enabled)
        })
        return yield* shown(params.id)
      }),
      remove: traced("admin.customEmojis.remove")(function*({ params }) {
        yield* emojis.remove(yield* Caller.account, params.id)
        return Reply.empty
      }),
      copy: traced("admin.customEmojis.copy")(function*({ params, payload }) {
        const copy = { shortcode: payload.shortcode || undefined, category: payload.category?.trim() || null }
        return yield* shown(
          yield* copies.copy(yield* Caller.account, params.id, copy).pipe(Effect.catchTags(refused))
        )
      })
    })
  })
)
