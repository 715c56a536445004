import { Context, Effect, Layer } from "effect"
import * as Cache from "../../services/caching/Cache.ts"
import { Changes } from "../../services/caching/Changes.ts"
import type { AccountId } from "../../services/database/Ids.ts"
import { renderedRows } from "../../services/database/RenderedRows.ts"
import { type AccountRecord, Accounts } from "../../services/identity/Accounts.ts"
import { Settings, type UserSettings } from "../../services/identity/Settings.ts"
import { CustomEmojis } from "../../services/instance/CustomEmojis.ts"
import { type EmojiSource, textNodes } from "../../services/instance/ForeignEmojis.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { defaultRole } from "../../services/staff/Permissions.ts"
import type * as Wire from "../wire/Account.ts"
import { json, type JsonOf, type Values, withMembers } from "../wire/Keys.ts"
import { accountValues } from "./AccountValues.ts"

/** Maximum bytes of cached account JSON, two per character. */
const accountCacheBytesMax = 16 * 1024 * 1024

/**
 * Accounts as serialised JSON. A cached list takes no query. Otherwise one query reads the missing accounts, and one
 * the server's emoji (at most once in half a minute). One more reads remote emoji, if any are named.
 */
export class AccountViews extends Context.Service<AccountViews, {
  /** Returns accounts by id, without those that do not exist. The caller checks who may see an account. */
  readonly byId: (ids: Iterable<bigint>) => Effect.Effect<ReadonlyMap<bigint, JsonOf<Wire.Account>>>
  /** Returns accounts in the order of `ids`. */
  readonly render: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<JsonOf<Wire.Account>>>
  readonly renderOne: (id: bigint) => Effect.Effect<JsonOf<Wire.Account>, RecordNotFound>
  /** Returns the user's own account with its source and role, never from a cache; two queries. */
  readonly renderCredentials: (id: AccountId) => Effect.Effect<JsonOf<Wire.CredentialAccount>, RecordNotFound>
}>()("murmuration/http/render/AccountViews") {
  static readonly layer = Layer.effect(
    AccountViews,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const settings = yield* Settings
      const emojis = yield* CustomEmojis
      const config = yield* ServerConfig
      const cache = yield* Cache.make<bigint, { readonly json: JsonOf<Wire.Account> }>({
        // The role belongs to the user's row.
        rows: (_, id) => [["account", id], ["user", id]],
        kinds: ["emojis"],
        max: { bytes: accountCacheBytesMax, bytesOf: ({ json }) => json.length * 2 }
      })

      const values = Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>) {
        const records = new Map((yield* accounts.load(ids)).map((record) => [record.id, record]))
        const named = yield* emojis.finderOf(Array.from(records.values(), sourceOf))
        const toValues = (record: AccountRecord) => accountValues(config, record, named(sourceOf(record)))
        return new Map(
          yield* renderedRows("account", ids, (id) => id, (id): readonly [bigint, Values<Wire.Account>] | undefined => {
            const record = records.get(id)
            if (record === undefined) return undefined
            const moved = record.movedToId === null || record.suspended ? undefined : records.get(record.movedToId)
            return [id, moved === undefined ? toValues(record) : { ...toValues(record), moved: toValues(moved) }]
          })
        )
      })

      const load = Effect.fnUntraced(function*(missing: ReadonlyArray<bigint>) {
        const found = yield* values(missing)
        return new Map(Array.from(found, ([id, value]) => [id, { json: json<Wire.Account>(value) }]))
      })

      const byId = traced("AccountViews.byId")(function*(ids: Iterable<bigint>) {
        const texts = new Map<bigint, JsonOf<Wire.Account>>()
        for (const [id, { json }] of yield* cache.getAll(ids, load)) texts.set(id, json)
        return texts
      })

      const render = traced("AccountViews.render")(function*(ids: ReadonlyArray<bigint>) {
        const found = yield* byId(ids)
        return ids.flatMap((id) => found.get(id) ?? [])
      })

      const renderOne = traced("AccountViews.renderOne")(function*(id: bigint) {
        return (yield* byId([id])).get(id) ?? (yield* new RecordNotFound())
      })

      const renderCredentials = traced("AccountViews.renderCredentials")(function*(id: AccountId) {
        const own = (yield* values([id])).get(id)
        if (own === undefined) return yield* new RecordNotFound()
        const set = yield* settings.of(id)
        return withMembers<Wire.CredentialAccount, "source" | "role">(
          { ...own, followRequestsCount: set.followRequestsCount },
          { source: json<Wire.Source>(sourceValues(set)), role: json<Wire.CredentialAccount["role"]>(roleValues(set)) }
        )
      })

      return AccountViews.of({
        byId,
        render,
        renderOne,
        renderCredentials
      })
    })
  ).pipe(Layer.provide(Changes.layer))
}

/** Returns the texts of a profile that may contain emoji. */
const sourceOf = ({ displayName, domain, fields, noteHtml, uri }: AccountRecord): EmojiSource => ({
  uri,
  local: domain === null,
  texts: [displayName, textNodes(noteHtml), ...fields.flatMap(({ html, name }) => [name, textNodes(html)])]
})

const sourceValues = (settings: UserSettings): Values<Wire.Source> => ({
  privacy: settings.visibility,
  sensitive: settings.sensitive,
  language: settings.language,
  note: settings.note,
  fields: settings.fields.map(({ name, value, verifiedAt }) => ({ name, value, verifiedAt })),
  followRequestsCount: settings.followRequestsCount,
  hideCollections: settings.hideCollections,
  discoverable: settings.discoverable,
  indexable: settings.indexable,
  attributionDomains: settings.attributionDomains,
  quotePolicy: settings.quotePolicy
})

const roleValues = (settings: UserSettings): Values<Wire.CredentialAccount["role"]> => ({
  id: String(settings.roleId),
  name: settings.roleId === defaultRole ? "" : settings.roleName,
  permissions: String(settings.permissions),
  color: settings.roleColor,
  highlighted: settings.roleHighlighted,
  collectionLimit: settings.roleCollectionLimit
})
