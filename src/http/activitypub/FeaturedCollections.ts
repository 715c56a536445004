import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { Collections as AccountCollections } from "../../services/collections/Collections.ts"
import { idMax } from "../../services/database/Ids.ts"
import { CollectionObjects } from "../../services/federation/CollectionObjects.ts"
import { collectionContext } from "../../services/federation/documents/CollectionDocument.ts"
import { collection, collectionPage } from "../../services/federation/documents/PagedCollection.ts"
import type { Document } from "../../services/federation/documents/Vocabulary.ts"
import * as LocalIds from "../../services/federation/LocalIds.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { type ClientError, NotAllowed, RecordNotFound } from "../../services/runtime/Errors.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import { Admission } from "./Admission.ts"
import { document, queryOf, refused } from "./DocumentResponse.ts"
import { type NotSigned, Requesters } from "./Requesters.ts"

/** Collections per page (federation.md section 4). */
const pageRows = 5

const numberOf = (digits: string | undefined) =>
  digits !== undefined && /^[0-9]{1,19}$/.test(digits) && BigInt(digits) <= idMax
    ? Effect.succeed(BigInt(digits))
    : Effect.fail(new RecordNotFound())

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const { admit } = yield* Admission
  const collections = yield* AccountCollections
  const config = yield* ServerConfig
  const objects = yield* CollectionObjects
  const requesters = yield* Requesters

  /** Returns the local account in the path, and the requester. */
  const asked = Effect.gen(function*() {
    const { scope, viewer } = yield* requesters.current
    const params = yield* HttpRouter.params
    const { id: accountId, suspended } = yield* accounts.find(yield* numberOf(params["account"]))
    const [record] = yield* accounts.load([accountId])
    if (record?.domain !== null) return yield* new RecordNotFound()
    if (suspended) return yield* new NotAllowed()
    return { accountId, params, scope, viewer }
  })
  const one = <E, R>(read: (viewer: Viewer, accountId: bigint, id: bigint) => Effect.Effect<Document, E, R>) =>
    Effect.gen(function*() {
      const { accountId, params, scope, viewer } = yield* asked
      const found = yield* read(viewer, accountId, yield* numberOf(params["id"]))
      return yield* document({ "@context": collectionContext, ...found }, scope)
    })

  const all = Effect.gen(function*() {
    const { accountId, scope, viewer } = yield* asked
    const query = queryOf(yield* HttpServerRequest.HttpServerRequest)
    const id = LocalIds.featuredCollections(config, accountId)
    const number = Number(query.get("page") ?? Number.NaN)
    if (!Number.isSafeInteger(number) || number < 1 || number > 1_000) {
      return yield* document(collection("Collection", id, { first: `${id}?page=1` }), scope)
    }
    // Requesters other than the owner see only discoverable collections.
    const found = yield* collections.of(viewer === accountId ? undefined : viewer, accountId, {
      offset: (number - 1) * pageRows,
      limit: pageRows
    })
    const items = yield* Effect.forEach(found, (one) => objects.collection(viewer, one.id))
    const page = collectionPage("CollectionPage", id, {
      query: `page=${number}`,
      items: items.map(({ document }) => document),
      next: found.length < pageRows ? undefined : `page=${number + 1}`,
      prev: number === 1 ? undefined : `page=${number - 1}`
    })
    return yield* document({ "@context": collectionContext, ...page }, scope)
  })

  const base = "/ap/users/:account"
  const admitted = <R>(part: Effect.Effect<HttpServerResponse.HttpServerResponse, ClientError | NotSigned, R>) =>
    admit("documents", Effect.catch(part, refused))
  return Layer.mergeAll(
    HttpRouter.add("GET", `${base}/featured_collections`, admitted(all)),
    HttpRouter.add(
      "GET",
      `${base}/collections/:id`,
      admitted(one((viewer, accountId, id) =>
        Effect.gen(function*() {
          const { accountId: owner } = yield* collections.find(viewer, id)
          if (owner !== accountId) return yield* new RecordNotFound()
          return (yield* objects.collection(viewer, id)).document
        })
      ))
    ),
    HttpRouter.add("GET", `${base}/collection_items/:id`, admitted(one(objects.item))),
    HttpRouter.add(
      "GET",
      `${base}/feature_authorizations/:id`,
      admitted(one((_, accountId, id) => objects.authorization(accountId, id)))
    )
  )
})

/** Collections of accounts and the consents of their members, as the requester may see them. */
export const layer = Layer.unwrap(make)
