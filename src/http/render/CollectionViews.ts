import { Context, Effect, Layer } from "effect"
import type { CollectionItem, CollectionRecord } from "../../services/collections/Collection.ts"
import { Collections } from "../../services/collections/Collections.ts"
import type { AccountId } from "../../services/database/Ids.ts"
import * as LocalIds from "../../services/federation/LocalIds.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import type * as Wire from "../wire/Collection.ts"
import { id, timestamp } from "../wire/Common.ts"
import { json, type JsonOf, list, type Values, withMembers } from "../wire/Keys.ts"
import { AccountViews } from "./AccountViews.ts"

/** Collections by id. */
export type CollectionTexts = ReadonlyMap<bigint, JsonOf<Wire.Collection>>

/** Collections as serialised JSON; with their accounts they take the queries of an account list. */
export class CollectionViews extends Context.Service<CollectionViews, {
  readonly of: (collection: CollectionRecord) => JsonOf<Wire.Collection>
  readonly item: (item: CollectionItem) => JsonOf<Wire.CollectionItem>
  /** Returns collections by id, for notifications, without those that the viewer may not see. */
  readonly byId: (viewer: Viewer, ids: ReadonlyArray<bigint>) => Effect.Effect<CollectionTexts>
  /** Like `byId` for many viewers; `isShared` is true if the viewer sees what everyone does. */
  readonly forViewers: (
    viewers: ReadonlyArray<AccountId>,
    ids: ReadonlyArray<bigint>
  ) => Effect.Effect<(viewer: AccountId) => { readonly isShared: boolean; readonly texts: CollectionTexts }>
  /** Renders a collection with its owner and members. */
  readonly withAccounts: (collection: CollectionRecord) => Effect.Effect<JsonOf<Wire.CollectionWithAccounts>>
}>()("murmuration/http/render/CollectionViews") {
  static readonly layer = Layer.effect(
    CollectionViews,
    Effect.gen(function*() {
      const accounts = yield* AccountViews
      const collections = yield* Collections
      const config = yield* ServerConfig

      const itemValues = ({ accountId, createdAt, state, ...item }: CollectionItem): Values<Wire.CollectionItem> => ({
        id: id(item.id),
        state,
        createdAt: timestamp(createdAt),
        ...(accountId !== null && (state === "pending" || state === "accepted") && { accountId: id(accountId) })
      })
      const values = (record: CollectionRecord): Values<Wire.Collection> => {
        const { accountId, createdAt, description, items, tagName, updatedAt, uri, ...same } = record
        return {
          ...same,
          id: id(record.id),
          uri: uri ?? LocalIds.collection(config, accountId, record.id),
          description: record.local ? plain(description) : description,
          // Only discoverable collections have a page here.
          url: record.local && record.discoverable ? Urls.collection(config, record.id) : record.url,
          accountId: id(accountId),
          itemCount: items.length,
          createdAt: timestamp(createdAt),
          updatedAt: timestamp(updatedAt),
          tag: tagName === null ? null : { name: tagName, url: Urls.tag(config, tagName) },
          items: items.map(itemValues)
        }
      }
      const of = (record: CollectionRecord) => json<Wire.Collection>(values(record))
      const texts = (records: ReadonlyArray<CollectionRecord>): CollectionTexts =>
        new Map(records.map((record) => [record.id, of(record)]))

      return CollectionViews.of({
        of,
        byId: (viewer, ids) => Effect.map(collections.load(viewer, ids), texts),
        forViewers: Effect.fnUntraced(function*(viewers: ReadonlyArray<AccountId>, ids: ReadonlyArray<bigint>) {
          const { everybody, others } = yield* collections.loadFor(viewers, ids)
          const same = { isShared: true, texts: texts(everybody) }
          return (viewer: AccountId) => {
            const own = others.get(viewer)
            return own === undefined ? same : { isShared: false, texts: texts(own) }
          }
        }),
        item: (item) => json<Wire.CollectionItem>(itemValues(item)),
        withAccounts: Effect.fnUntraced(function*(record: CollectionRecord) {
          const people = yield* accounts.render([
            record.accountId,
            ...record.items.flatMap(({ accountId }) => accountId ?? [])
          ])
          return withMembers<Wire.CollectionWithAccounts, "collection" | "accounts">({}, {
            collection: of(record),
            accounts: list(people)
          })
        })
      })
    })
  ).pipe(Layer.provide(AccountViews.layer))
}

/** Escapes a plain text for HTML. */
const plain = (text: string): string =>
  text.replace(/[&<>]/g, (sign) => sign === "&" ? "&amp;" : sign === "<" ? "&lt;" : "&gt;")
