import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { type AccountId, type MediaId } from "../../services/database/Ids.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { type Focus, MediaAttachments, type MediaText } from "../../services/media/MediaAttachments.ts"
import { Unprocessable } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { deprecated } from "../render/Deprecation.ts"
import { mediaValues } from "../render/MediaValues.ts"
import { json } from "../wire/Keys.ts"
import { MediaAttachment } from "../wire/MediaAttachment.ts"
import { MediaChange, MediaIdPath, NewMediaAttachment } from "../wire/MediaRequests.ts"
import { MediaUploads } from "./MediaUploads.ts"
import { Thumbnails } from "./Thumbnails.ts"

/**
 * Maximum time that the older and the newer upload endpoint wait for processing, in seconds. Afterwards clients poll.
 */
const waitSecondsMax = 60
const shortWaitSecondsMax = 2

const write = Access.user("write", "write:media")
const upload = Access.limited(write, "media")
const change = { params: MediaIdPath, payload: MediaChange, success: MediaAttachment }

/** Media attachments from upload until a post uses them (S-146 to S-148). */
export class MediaGroup extends HttpApiGroup.make("media")
  .add(
    HttpApiEndpoint.post("createAndWait", "/api/v1/media", { payload: NewMediaAttachment, success: MediaAttachment })
      .annotate(Access, upload),
    HttpApiEndpoint.post("create", "/api/v2/media", { payload: NewMediaAttachment, success: MediaAttachment })
      .annotate(Access, upload),
    HttpApiEndpoint.get("find", "/api/v1/media/:id", { params: MediaIdPath, success: MediaAttachment })
      .annotate(Access, write),
    HttpApiEndpoint.put("change", "/api/v1/media/:id", change).annotate(Access, write),
    HttpApiEndpoint.patch("changeByPatch", "/api/v1/media/:id", change).annotate(Access, write),
    HttpApiEndpoint.delete("remove", "/api/v1/media/:id", { params: MediaIdPath, success: Schema.Struct({}) })
      .annotate(Access, write)
  )
  .middleware(Guard)
{}

/** Parses a focus of the form `x,y`. A part that is not a number becomes 0; others are clamped to -1..1. */
export const focusOf = (text: string | null | undefined): Focus | undefined => {
  if (text === undefined || text === null || text.trim() === "") return undefined
  const [x = 0, y = 0] = text.split(",").map((part) => Math.max(-1, Math.min(1, Number.parseFloat(part) || 0)))
  return { x, y }
}

const textOf = ({ description, focus }: MediaChange): MediaText => {
  const point = focusOf(focus)
  return { ...(description === undefined ? {} : { description }), ...(point === undefined ? {} : { focus: point }) }
}

export const layer = group(
  MediaGroup,
  Effect.fn(function*(handlers) {
    const attachments = yield* MediaAttachments
    const config = yield* ServerConfig
    const media = yield* MediaUploads
    const thumbnails = yield* Thumbnails

    const shown = Effect.fnUntraced(function*(owner: AccountId, id: bigint, waiting: number) {
      const { error, ...found } = yield* attachments.find(owner, id)
      if (found.state === "failed") {
        return yield* new Unprocessable({ text: error ?? "Error processing thumbnail for uploaded media" })
      }
      return Reply.json(json<MediaAttachment>(mediaValues(config, found)), {
        status: found.state === "ready" ? 200 : waiting
      })
    })

    const create = traced("media.create")(function*(payload: NewMediaAttachment, secondsMax: number) {
      const owner = yield* Caller.account
      const { file, thumbnail } = payload
      const id = yield* media.create(owner, { ...textOf(payload), file, thumbnail }, secondsMax)
      return yield* shown(owner, id, 202).pipe(
        // Deletes a file that is refused at once: the client never learns its id.
        Effect.tapError(() => Effect.ignore(attachments.remove(owner, id)))
      )
    })

    const edit = traced("media.change")(
      function*({ params, payload }: { readonly params: { readonly id: MediaId }; readonly payload: MediaChange }) {
        const owner = yield* Caller.account
        const thumbnail = media.fileOf(payload.thumbnail)
        // Texts are written first, so that they are kept even if the thumbnail fails.
        yield* attachments.change(owner, params.id, textOf(payload))
        if (thumbnail !== undefined) yield* thumbnails.replace(owner, params.id, thumbnail)
        return yield* shown(owner, params.id, 206)
      }
    )

    return handlers.handleAll({
      createAndWait: ({ payload }) =>
        Effect.map(create(payload, waitSecondsMax), Reply.withHeaders(deprecated("2020-04-05"))),
      create: ({ payload }) => create(payload, shortWaitSecondsMax),
      find: traced("media.find")(function*({ params }) {
        return yield* shown(yield* Caller.account, params.id, 206)
      }),
      change: edit,
      changeByPatch: edit,
      remove: traced("media.remove")(function*({ params }) {
        yield* attachments.remove(yield* Caller.account, params.id)
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide([MediaUploads.layer, Thumbnails.layer]))
