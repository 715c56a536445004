import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { parseId } from "../../services/database/Ids.ts"
import { collection, collectionPage } from "../../services/federation/documents/PagedCollection.ts"
import { activityStreams } from "../../services/federation/documents/Vocabulary.ts"
import * as LocalIds from "../../services/federation/LocalIds.ts"
import { Replies, repliesPageMax } from "../../services/federation/Replies.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { Admission } from "./Admission.ts"
import { document, idIn, queryOf, refused } from "./DocumentResponse.ts"
import { Requesters } from "./Requesters.ts"

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const { admit } = yield* Admission
  const replies = yield* Replies
  const requesters = yield* Requesters

  const respond = Effect.gen(function*() {
    const { scope } = yield* requesters.current
    // `ID`, or `ACCOUNT-STATUS` for threads that came from Mastodon.
    const [last = "", first, ...rest] = ((yield* HttpRouter.params)["id"] ?? "").split("-").toReversed()
    const [rootId, owner] = [parseId(last), parseId(first)]
    if (rootId === undefined || rest.length > 0 || (first !== undefined && owner === undefined)) {
      return yield* new RecordNotFound()
    }
    const thread = yield* replies.threadOf(rootId, owner)
    if (thread === undefined) return yield* new RecordNotFound()
    const { author, conversation } = thread
    const query = queryOf(yield* HttpServerRequest.HttpServerRequest)
    const id = owner === undefined
      ? LocalIds.context(config, rootId)
      : LocalIds.contextOfRoot(config, owner, rootId)
    if (query.get("page") !== "true") {
      const items = collection("Collection", id, { first: `${id}?page=true` })
      return yield* document({ ...items, attributedTo: author }, scope)
    }
    const minId = idIn(query, "min_id")
    const rows = yield* replies.thread(conversation, minId ?? 0n)
    const lastRow = rows.length === repliesPageMax ? rows.at(-1)?.id : undefined
    const page = collectionPage("CollectionPage", id, {
      query: minId === undefined ? "page=true" : `page=true&min_id=${minId}`,
      items: rows.map(({ uri }) => uri),
      next: lastRow === undefined ? undefined : `page=true&min_id=${lastRow}`
    })
    return yield* document({ "@context": activityStreams, ...page }, scope)
  })

  return HttpRouter.add("GET", "/contexts/:id", admit("documents", Effect.catch(respond, refused)))
})

/** Collection of a thread that began on this server: its public posts by all authors, the oldest first. */
export const layer = Layer.unwrap(make)
