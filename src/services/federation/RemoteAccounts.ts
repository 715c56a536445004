import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { StoredField } from "../identity/Accounts.ts"
import { linkOf, provenLinksMax } from "../identity/LinkProofs.ts"
import { Jobs } from "../intents/Jobs.ts"
import { traced } from "../runtime/Traced.ts"
import { update } from "../statuses/StatusRows.ts"
import type { ForeignActor } from "./documents/ForeignActor.ts"
import { unknownDomain } from "./DomainNames.ts"
import * as DomainAccounts from "./domains/DomainAccounts.ts"
import { DomainPolicies } from "./domains/DomainPolicies.ts"
import { RemoteEmojis } from "./inbox/RemoteEmojis.ts"
import { MovedAccounts } from "./MovedAccounts.ts"
import { Purges } from "./purge/Purges.ts"

export const RemoteAccount = Schema.Struct({
  id: AccountId,
  uri: Schema.String,
  domain: Schema.String,
  suspended: Schema.Boolean,
  fetchedAt: Timestamptz
})
export type RemoteAccount = typeof RemoteAccount.Type
const remoteAccountRows = rowsOf(RemoteAccount)

const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))
const refollowedRows = rowsOf(Schema.Struct({ refollowedAt: Schema.NullOr(Timestamptz) }))
const pemRows = rowsOf(Schema.Struct({ publicPem: Schema.String }))

/** Columns for properties of a remote actor document besides its profile. */
const statedColumns = [
  ..."type inbox_url shared_inbox_url outbox_url followers_url following_url featured_url featured_tags_url".split(" "),
  ..."also_known_as suspended_by_origin fetched_at featured_collections_url feature_automatic feature_manual".split(" ")
]

/** Rows of remote accounts, from their actor documents. An account is identified by its actor id. */
export class RemoteAccounts extends Context.Service<RemoteAccounts, {
  readonly byUri: (uri: string) => Effect.Effect<RemoteAccount | undefined>
  /** Returns the actor id of a remote account's row. */
  readonly uriOf: (accountId: bigint) => Effect.Effect<string | undefined>
  /** Begins the purge of a known account that its own server reports as deleted; `named` is its id or handle. */
  readonly purgeDeleted: (named: string | NonNullable<ForeignActor["handle"]>) => Effect.Effect<void>
  /**
   * Stores an actor document, and exactly the keys that it lists. `handle` is undefined if unconfirmed; a previous
   * owner loses it. `later`: confirmation failed temporarily, so a new account is looked up again. `fetchedMillis` is
   * the start of the fetch, in milliseconds since 1970: a document that is older than the stored one changes nothing.
   * Returns undefined, and stores nothing, for an account that was deleted, even during the fetch.
   */
  readonly store: (
    actor: ForeignActor,
    handle: { readonly username: string; readonly domain: string } | undefined,
    fetch?: { readonly fetchedMillis?: number; readonly later?: boolean }
  ) => Effect.Effect<AccountId | undefined>
}>()("murmuration/services/federation/RemoteAccounts") {
  static readonly layerNoDeps = Layer.effect(
    RemoteAccounts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const purges = yield* Purges
      const emojis = yield* RemoteEmojis
      const policies = yield* DomainPolicies
      const jobs = yield* Jobs
      const movedAccounts = yield* MovedAccounts

      const byUri = traced("RemoteAccounts.byUri")(function*(uri: string) {
        const [row] = yield* remoteAccountRows(sql`
          SELECT a.id, a.uri, a.domain, a.suspended_at IS NOT NULL AS suspended, r.fetched_at
          FROM accounts a JOIN remote_actors r ON r.account_id = a.id WHERE a.uri = ${uri}`)
        return row
      }, Effect.orDie)

      const depart: RemoteAccounts["Service"]["purgeDeleted"] = traced("RemoteAccounts.purgeDeleted")(function*(named) {
        const [known] = yield* idRows(
          typeof named === "string"
            ? sql`SELECT account_id AS id FROM remote_actors r JOIN accounts a ON a.id = r.account_id WHERE a.uri = ${named}`
            : sql`SELECT id FROM accounts WHERE lower(username) = ${named.username.toLowerCase()}
              AND lower(coalesce(domain, '')) = ${named.domain}`
        )
        if (known !== undefined) yield* transaction(sql)(purges.begin(AccountId.make(known.id)))
      }, Effect.orDie)

      const before = Effect.fnUntraced(function*(uri: string) {
        const [row] = yield* beforeRows(
          sql`SELECT a.id, a.suspended_at, coalesce(r.suspended_by_origin, false) AS by_origin,
            a.fields, r.fetched_at
          FROM accounts a LEFT JOIN remote_actors r ON r.account_id = a.id WHERE a.uri = ${uri} FOR UPDATE OF a`
        )
        return row
      })

      /** Takes the handle from another account: its domain has confirmed the new owner. */
      const takeHandle = (uri: string, { domain, username }: { username: string; domain: string }) =>
        tracked("account", (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id))(
          idRows(sql`UPDATE accounts SET username = id::text, domain = ${unknownDomain}
          WHERE lower(username) = lower(${username}) AND lower(coalesce(domain, '')) = ${domain} AND uri <> ${uri} RETURNING id`)
        )

      const account = Effect.fnUntraced(function*(
        actor: ForeignActor,
        handle: { username: string; domain: string } | undefined,
        suspendedAt: Date | null,
        fields: ReadonlyArray<StoredField>,
        now: number
      ) {
        const [at, uri] = [new Date(now), actor.id.href]
        if (handle !== undefined) yield* takeHandle(uri, handle)
        const rows = yield* tracked(
          "account",
          (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id)
        )(idRows(sql`
          WITH fresh AS MATERIALIZED (SELECT next_id(${now}) AS id)
          INSERT INTO accounts (id, username, domain, uri, url, display_name, note_html, fields, locked, bot, discoverable,
            indexable, memorial, suspended_at, created_at, updated_at, avatar_remote_url, avatar_description,
            header_remote_url, header_description, attribution_domains, show_featured, show_media, show_media_replies)
          SELECT fresh.id, coalesce(${handle?.username ?? null}, fresh.id::text), ${
          handle?.domain ?? unknownDomain
        }, ${uri},
            ${actor.url}, ${actor.displayName}, ${actor.noteHtml},
            ${JSON.stringify(fields)}::jsonb, ${actor.locked},
            ${actor.type === "Application" || actor.type === "Service"}, ${actor.discoverable}, ${actor.indexable},
            ${actor.memorial}, ${suspendedAt}, ${
          actor.publishedAt === undefined || actor.publishedAt > at ? at : actor.publishedAt
        }, ${at}, ${actor.avatar?.url ?? null},
            ${actor.avatar?.description ?? ""}, ${actor.header?.url ?? null}, ${
          actor.header?.description ?? ""
        }, ${actor.attributionDomains}::text[], ${actor.showFeatured}, ${actor.showMedia}, ${actor.showMediaReplies} FROM fresh
          ON CONFLICT (uri) WHERE uri IS NOT NULL DO UPDATE SET
            username = CASE WHEN ${handle === undefined} THEN accounts.username ELSE excluded.username END,
            domain = CASE WHEN ${handle === undefined} THEN accounts.domain ELSE excluded.domain END,
            url = excluded.url, display_name = excluded.display_name, note_html = excluded.note_html,
            fields = excluded.fields, locked = excluded.locked, bot = excluded.bot, discoverable = excluded.discoverable,
            indexable = excluded.indexable, memorial = excluded.memorial, updated_at = excluded.updated_at,
            avatar_remote_url = excluded.avatar_remote_url, avatar_description = excluded.avatar_description,
            header_remote_url = excluded.header_remote_url, header_description = excluded.header_description,
            suspended_at = excluded.suspended_at, attribution_domains = excluded.attribution_domains,
            show_featured = excluded.show_featured, show_media = excluded.show_media,
            show_media_replies = excluded.show_media_replies
          RETURNING id`))
        return AccountId.make(singleRow(rows).id)
      })

      const details = (id: AccountId, actor: ForeignActor, byOrigin: boolean, now: number) =>
        sql`INSERT INTO remote_actors (account_id, ${sql.literal(statedColumns.join(", "))})
          SELECT ${id}, ${actor.type}, ${actor.inboxUrl}, ${actor.sharedInboxUrl}, ${actor.outboxUrl}, ${actor.followersUrl},
            ${actor.followingUrl}, ${actor.featuredUrl}, ${actor.featuredTagsUrl}, ${actor.alsoKnownAs}::text[],
            ${byOrigin}, ${new Date(now)}, ${actor.featuredCollectionsUrl}, ${
          actor.featuredBy?.automatic ?? null
        }::text[],
            ${actor.featuredBy?.manual ?? null}::text[]
          ON CONFLICT (account_id) DO UPDATE SET ${
          sql.literal(statedColumns.map((name) => `${name} = excluded.${name}`).join(", "))
        }`

      /**
       * Stores the keys of an actor; returns true if none of those before remains. A server may write the same key with
       * other line breaks.
       */
      const keys = Effect.fnUntraced(function*(id: AccountId, actor: ForeignActor) {
        const before = yield* pemRows(sql`DELETE FROM remote_keys WHERE account_id = ${id} RETURNING public_pem`)
        yield* sql`INSERT INTO remote_keys (key_id, account_id, public_pem)
          SELECT DISTINCT ON (k) k, ${id}::bigint, p FROM unnest(${actor.keys.map(({ keyId }) => keyId)}::text[],
            ${actor.keys.map(({ publicPem }) => publicPem)}::text[]) AS given (k, p)
          ON CONFLICT (key_id, account_id) DO NOTHING`
        const given = new Set(actor.keys.map(({ publicPem }) => withoutBreaks(publicPem)))
        return before.length > 0 && given.size > 0 &&
          !before.some(({ publicPem }) => given.has(withoutBreaks(publicPem)))
      })

      /**
       * Handles the loss of an account's keys: its server was reinstalled, so that it lacks the account's followers, and may use
       * its ids again (federation.md section 3).
       */
      const reinstalled = Effect.fnUntraced(function*(id: AccountId, now: number) {
        // A post that its author deleted is kept for a while; its id is free. One that a moderator deleted stays known.
        yield* tracked("status", (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id))(
          idRows(sql`${update(sql, { uri: sql`uri || '#' || id` })} WHERE account_id = ${id} AND deleted_at IS NOT NULL
            AND uri IN (SELECT t.uri FROM tombstones t WHERE t.account_id = ${id}) RETURNING id`)
        )
        yield* sql`DELETE FROM tombstones WHERE account_id = ${id}`
        const [row] = yield* refollowedRows(sql`SELECT refollowed_at FROM remote_actors WHERE account_id = ${id}`)
        const next = (row?.refollowedAt?.getTime() ?? -Infinity) + refollowMillisMin
        yield* jobs.enqueue("refollow", id, Math.max(refollowDelayMillis, next - now))
      })

      const store: RemoteAccounts["Service"]["store"] = traced("RemoteAccounts.store")(
        function*(actor, handle, { fetchedMillis, later = false } = {}) {
          const now = yield* Clock.currentTimeMillis
          const asked = fetchedMillis ?? now
          const id = yield* transaction(sql)(Effect.gen(function*() {
            const old = yield* before(actor.id.href)
            const known = old?.fetchedAt?.getTime() ?? -Infinity
            // A stored fetch time in the future comes from a wrong clock and does not count.
            if (old !== undefined && known > asked && known <= now) return AccountId.make(old.id)
            const pems = actor.keys.map(({ publicPem }) => publicPem)
            if (old === undefined && (yield* purges.isGone(actor.id.href, pems))) return undefined
            const { byOrigin, suspendedAt } = suspensionOf(actor.suspended, old, new Date(now))
            const fields = withProofs(actor.fields, old?.fields ?? [])
            const id = yield* account(actor, handle, suspendedAt, fields, now)
            if (later && old === undefined) yield* jobs.enqueue("profile", id, handleDelayMillis)
            if (mayBeProven(fields, old, now)) yield* jobs.enqueue("links", id, linksDelayMillis)
            yield* sql`INSERT INTO actors (account_id) VALUES (${id}) ON CONFLICT DO NOTHING`
            yield* sql`INSERT INTO account_stats (account_id) VALUES (${id}) ON CONFLICT DO NOTHING`
            yield* details(id, actor, byOrigin, asked)
            yield* movedAccounts.store(id, actor.movedTo)
            if (yield* keys(id, actor)) yield* reinstalled(id, now)
            yield* emojis.keep(actor.id.host, actor.emojis)
            yield* DomainAccounts.applyTo({ sql, tracked }, yield* policies.current, id, new Date(now))
            return id
          }))
          return id
        },
        Effect.orDie
      )

      const uriOf = traced("RemoteAccounts.uriOf")(function*(accountId: bigint) {
        const [row] = yield* uriRows(sql`SELECT a.uri FROM accounts a JOIN remote_actors r ON r.account_id = a.id
          WHERE a.id = ${accountId}`)
        return row?.uri
      }, Effect.orDie)

      return RemoteAccounts.of({ byUri, uriOf, purgeDeleted: depart, store })
    })
  )
  static readonly layer = RemoteAccounts.layerNoDeps.pipe(
    Layer.provide([DomainPolicies.layer, Purges.layer, MovedAccounts.layer, RemoteEmojis.layer])
  )
}

/** Suspension of an account; `byOrigin` is true if only its own server suspended it. */
const Suspension = Schema.Struct({ suspendedAt: Schema.NullOr(Timestamptz), byOrigin: Schema.Boolean })
type Suspension = typeof Suspension.Type

/** An account before its document is stored again. */
const Before = Schema.Struct({
  id: Schema.BigInt,
  ...Suspension.fields,
  fields: Schema.Array(StoredField),
  fetchedAt: Schema.NullOr(Timestamptz)
})
type Before = typeof Before.Type
const beforeRows = rowsOf(Before)

/** Delay until the handle of a new account is confirmed again after a temporary failure, in milliseconds. */
const handleDelayMillis = 60_000
/** Delay until follows are sent again, in milliseconds. An account whose keys keep changing triggers no resend. */
const refollowDelayMillis = 600_000
/** Minimum time between two resends of an account's follows, in milliseconds. */
const refollowMillisMin = 86_400_000
/** Minimum time between checks of pages that did not link back, in milliseconds, while the profile is unchanged. */
const linksMillisMin = 86_400_000
/** Delay of link checks, in milliseconds. A profile that changes constantly thus causes no fetches. */
const linksDelayMillis = 60_000

const withoutBreaks = (pem: string): string => pem.replace(/\s+/g, "")

const withProofs = (fields: ForeignActor["fields"], old: ReadonlyArray<StoredField>): ReadonlyArray<StoredField> => {
  const proven = new Map(old.map(({ value, verifiedAt }) => [value, verifiedAt]))
  return fields.map((field) => ({ ...field, verifiedAt: proven.get(field.value) ?? null }))
}

/** Returns true if there are links to check: new ones, or unverified ones after a day. */
const mayBeProven = (fields: ReadonlyArray<StoredField>, old: Before | undefined, now: number): boolean => {
  const known = new Set(old?.fields.map(({ value }) => value))
  const isOld = now - (old?.fetchedAt?.getTime() ?? 0) > linksMillisMin
  return fields.slice(0, provenLinksMax).some((field) =>
    field.verifiedAt === null && (isOld || !known.has(field.value)) && linkOf(false, field) !== undefined
  )
}

/**
 * Returns the suspension after a document was read. A local suspension stays, whatever the account's server says; a
 * suspension by that server ends when the server lifts it (S-014).
 */
const suspensionOf = (suspended: boolean, old: Suspension | undefined, at: Date): Suspension => {
  const suspendedAt = old?.suspendedAt ?? null
  const isLocalSuspension = suspendedAt !== null && old?.byOrigin !== true
  return isLocalSuspension
    ? { suspendedAt, byOrigin: false }
    : { suspendedAt: suspended ? suspendedAt ?? at : null, byOrigin: suspended }
}
