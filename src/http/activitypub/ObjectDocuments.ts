import { Context, Effect, Layer, Option } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import * as Cache from "../../services/caching/Cache.ts"
import { Changes } from "../../services/caching/Changes.ts"
import { idMax } from "../../services/database/Ids.ts"
import { noteContext, tombstone } from "../../services/federation/documents/NoteDocument.ts"
import { collection, collectionPage } from "../../services/federation/documents/PagedCollection.ts"
import { activityStreams } from "../../services/federation/documents/Vocabulary.ts"
import { LocalActors } from "../../services/federation/LocalActors.ts"
import * as LocalIds from "../../services/federation/LocalIds.ts"
import { type LocalObject, Objects } from "../../services/federation/Objects.ts"
import { FetchedBy } from "../../services/federation/outbox/FetchedBy.ts"
import { ReactionActivities } from "../../services/federation/outbox/ReactionActivities.ts"
import { Replies, repliesPageMax } from "../../services/federation/Replies.ts"
import type { LocalName } from "../../services/instance/LocalNames.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { Statuses } from "../../services/statuses/Statuses.ts"
import { isPublicRow } from "../../services/statuses/Visibility.ts"
import {
  bytesOf,
  document,
  idIn,
  queryOf,
  refused,
  respondWith,
  type SerialisedDocument,
  serialiseDocument
} from "./DocumentResponse.ts"
import { type CacheScope, Requesters } from "./Requesters.ts"

type Handled = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

/** Maximum bytes of cached documents. */
const objectCacheBytesMax = 16 * 1_024 * 1_024

/** Documents of a status by part, and its author. */
interface SerialisedParts {
  readonly author: bigint
  readonly parts: { readonly [P in StoredPart]: SerialisedDocument | undefined }
}

/** A part of a status that can be requested. */
export type Part = StoredPart | "emojiReactions" | "replies"
type StoredPart = "note" | "activity" | "likes" | "shares"

/**
 * Documents of local statuses. One that the requester may not read is not found; a deleted public one leaves a
 * tombstone.
 */
export class ObjectDocuments extends Context.Service<ObjectDocuments, {
  readonly respond: (author: LocalName, digits: string, part: Part) => Handled
}>()("murmuration/http/activitypub/ObjectDocuments") {
  static readonly layer = Layer.effect(
    ObjectDocuments,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* LocalActors
      const config = yield* ServerConfig
      const objects = yield* Objects
      const fetchedBy = yield* FetchedBy
      const reactions = yield* ReactionActivities
      const replies = yield* Replies
      const requesters = yield* Requesters
      const statuses = yield* Statuses
      const cache = yield* Cache.make<bigint, SerialisedParts>({
        rows: ({ author }, id) => [["status", id], ["moderation", author]],
        kinds: ["emojis"],
        max: {
          bytes: objectCacheBytesMax,
          bytesOf: ({ parts }) =>
            Object.values(parts).reduce(
              (sum, part: SerialisedDocument | undefined) => sum + (part ? bytesOf(part) : 0),
              64
            )
        }
      })

      const wasPublic = (accountId: bigint, id: bigint) =>
        Effect.map(
          sql`SELECT FROM statuses WHERE id = ${id} AND account_id = ${accountId} AND deleted_at IS NOT NULL
            AND ${isPublicRow(sql, "statuses")}`,
          (rows) => rows.length > 0
        ).pipe(Effect.orDie)

      const repliesOf = Effect.fnUntraced(function*(status: { id: bigint; accountId: bigint }, partOf: string) {
        const query = queryOf(yield* HttpServerRequest.HttpServerRequest)
        const others = query.get("only_other_accounts") === "true"
        const pageOf = (authorship: "own" | "others", minId: bigint | undefined) =>
          `${authorship === "others" ? "only_other_accounts=true&" : ""}page=true${
            minId === undefined ? "" : `&min_id=${minId}`
          }`
        if (query.get("page") !== "true") {
          return collection("Collection", partOf, { first: `${partOf}?${pageOf("own", undefined)}` })
        }
        const minId = idIn(query, "min_id")
        const rows = yield* replies.page(status, others ? "others" : "own", minId ?? 0n)
        const last = rows.length === repliesPageMax ? rows.at(-1)?.id : undefined
        // The author's own replies come first, then others' replies.
        const next = last !== undefined
          ? pageOf(others ? "others" : "own", last)
          : others
          ? undefined
          : pageOf("others", undefined)
        const items = rows.map(({ uri }) => uri)
        const page = collectionPage("CollectionPage", partOf, {
          query: pageOf(others ? "others" : "own", minId),
          items,
          next
        })
        return { "@context": activityStreams, ...page }
      })

      const tombstoneResponse = (uri: string, scope: CacheScope) =>
        Effect.map(
          document({ "@context": activityStreams, ...tombstone(uri) }, scope),
          HttpServerResponse.setStatus(410)
        )

      /** Returns the part of a note that is a document by itself, or the whole note. */
      const partOf = ({ activity, note }: LocalObject, part: StoredPart): unknown => {
        if (part === "activity") return activity
        return part === "note" ? note ?? activity : note?.[part]
      }

      /** Loads the documents that are the same for every permitted requester. */
      const load = Effect.fnUntraced(
        function*(id: bigint, author: bigint): Effect.fn.Return<SerialisedParts | undefined> {
          const object = (yield* objects.load([id])).get(id)
          if (object === undefined) return undefined
          const ofPart = (part: StoredPart) => {
            const partDocument = partOf(object, part)
            return typeof partDocument === "object" && partDocument !== null
              ? serialiseDocument({ "@context": noteContext, ...partDocument })
              : undefined
          }
          const parts = {
            note: ofPart("note"),
            activity: ofPart("activity"),
            likes: ofPart("likes"),
            shares: ofPart("shares")
          }
          return { author, parts }
        }
      )

      const respond = Effect.fnUntraced(function*(asked: LocalName, digits: string, part: Part) {
        const { scope, viewer } = yield* requesters.current
        if (!/^[0-9]{1,19}$/.test(digits) || BigInt(digits) > idMax) return yield* new RecordNotFound()
        const { actorPath, id: accountId } = yield* actors.open(asked)
        const id = BigInt(digits)
        const uri = LocalIds.note(config, actorPath, id)
        const status = yield* Effect.option(statuses.find(viewer, id))
        if (Option.isNone(status) || status.value.accountId !== accountId) {
          // `wasPublic` runs for every missing or hidden status, so that the response time does not reveal a hidden one.
          return (yield* wasPublic(accountId, id)) ? yield* tombstoneResponse(uri, scope) : yield* new RecordNotFound()
        }
        if (part === "emojiReactions") {
          return yield* document(yield* reactions.collection(LocalIds.emojiReactions(uri), id), scope)
        }
        if (part === "replies") return yield* document(yield* repliesOf(status.value, LocalIds.replies(uri)), scope)
        const found = (yield* cache.get(id, load(id, accountId)))?.parts[part]
        if (found === undefined) return yield* new RecordNotFound()
        // Recorded before the response, so that every server that may have the status is known.
        if (viewer !== undefined) yield* fetchedBy.record(id, viewer)
        return yield* respondWith(found, scope)
      })

      return ObjectDocuments.of({
        respond: (asked, digits, part) => Effect.catch(respond(asked, digits, part), refused)
      })
    })
  ).pipe(Layer.provide(Changes.layer))
}
