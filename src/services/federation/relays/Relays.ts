import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { listedRowsMax, requireCapacity } from "../../database/BoundedTables.ts"
import { type AccountId, InboxId } from "../../database/Ids.ts"
import { rowsMax } from "../../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../../database/Rows.ts"
import { transaction } from "../../database/Transactions.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { type RecordNotFound, type Unprocessable, validationFailed } from "../../runtime/Errors.ts"
import { traced } from "../../runtime/Traced.ts"
import { AuditLog } from "../../staff/AuditLog.ts"
import { auditedRows } from "../../staff/StaffRows.ts"
import * as Activities from "../documents/Activities.ts"
import { urlReader } from "../documents/ForeignValues.ts"
import { publicCollection } from "../documents/Vocabulary.ts"
import * as LocalIds from "../LocalIds.ts"
import { type HostNames, instanceSender, Outbox } from "../outbox/Outbox.ts"

/** Maximum relays, and maximum characters of an inbox URL. */
export const relaysMax = 100
const urlCharactersMax = 2_000

const Relay = Schema.Struct({
  id: Schema.BigInt,
  /** Mastodon's relays are an inbox; LitePub's are an actor to follow. */
  kind: Schema.Literals(["mastodon", "litepub"]),
  inboxUrl: Schema.String,
  inboxId: InboxId,
  accountId: Schema.NullOr(Schema.BigInt),
  state: Schema.Literals(["idle", "pending", "accepted", "rejected"]),
  followUri: Schema.NullOr(Schema.String),
  createdAt: Timestamptz
})
export type Relay = typeof Relay.Type
const relayRows = rowsOf(Relay)
const actorRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt, uri: Schema.String, inboxUrl: Schema.String }))

/** Changed relay, and hosts with new deliveries. */
interface Changed {
  readonly relay: Relay
  readonly hosts: HostNames
}

/**
 * Relays that the server itself follows. Once they accept, public posts are sent to them, and their announcements are
 * processed. Changes are audited; callers wake the hosts.
 */
export class Relays extends Context.Service<Relays, {
  readonly list: Effect.Effect<ReadonlyArray<Relay>>
  readonly find: (id: bigint) => Effect.Effect<Relay, RecordNotFound>
  /** Adds a relay and follows it: by its inbox, or as an actor whose account is known here. */
  readonly create: (
    by: AccountId,
    relay: { readonly inboxUrl: string } | { readonly accountId: bigint }
  ) => Effect.Effect<Changed, Unprocessable>
  readonly enable: (by: AccountId, id: bigint) => Effect.Effect<Changed, RecordNotFound>
  readonly disable: (by: AccountId, id: bigint) => Effect.Effect<Changed, RecordNotFound>
  readonly remove: (by: AccountId, id: bigint) => Effect.Effect<HostNames, RecordNotFound>
  /**
   * Handles a sender's reply to a follow, in the current transaction; false if it is not a relay's reply to the last
   * follow (row 22).
   */
  readonly settled: (
    sender: bigint,
    type: "Accept" | "Reject",
    followUri: string
  ) => Effect.Effect<boolean, SqlError>
  /** Returns true if a sender is an accepted relay. */
  readonly isRelay: (sender: bigint) => Effect.Effect<boolean, SqlError>
  /** Accepts a relay's follow of this server; undefined if the sender is not a relay. */
  readonly followedBack: (
    sender: bigint,
    senderUri: string,
    followUri: string
  ) => Effect.Effect<HostNames | undefined, SqlError>
}>()("murmuration/services/federation/relays/Relays") {
  static readonly layerNoDeps = Layer.effect(Relays, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
  static readonly layer = Relays.layerNoDeps.pipe(Layer.provide(Outbox.layer))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const outbox = yield* Outbox
  const config = yield* ServerConfig
  const readUrl = urlReader(config.outboundAllow)
  const us = LocalIds.instanceActor(config)
  const target = ({ id, inboxUrl }: Relay) => ({ type: "relay", id, label: inboxUrl }) as const
  const logged = ({ inboxUrl, kind, state }: Relay) => ({ inboxUrl, kind, state })
  const table = auditedRows({ sql, audit, table: "relays", rows: relayRows, target, logged })

  const actorOf = (accountId: bigint) =>
    Effect.map(
      actorRows(sql`SELECT r.account_id, a.uri, r.inbox_url FROM remote_actors r JOIN accounts a ON a.id = r.account_id
        WHERE r.account_id = ${accountId} AND a.uri IS NOT NULL`),
      ([actor]) => actor
    )

  const followOf = Effect.fnUntraced(function*({ accountId, kind }: Relay, id: string) {
    const actor = kind === "litepub" && accountId !== null ? yield* actorOf(accountId) : undefined
    return Activities.follow({ id, actor: us, object: actor?.uri ?? publicCollection })
  })
  const sent = (relay: Relay, activity: Activities.Activity) =>
    outbox.toInboxes({ senderId: instanceSender, about: relay.id, activity }, [relay.inboxId])

  /** Follows under a new id, so that late replies to an earlier follow do not match. */
  const follow = Effect.fnUntraced(function*(relay: Relay) {
    const now = yield* Clock.currentTimeMillis
    const [numbered] = yield* relayRows(sql`UPDATE relays SET state = 'pending',
      follow_uri = ${Activities.followIds(us)} || next_id(${now}) WHERE id = ${relay.id} RETURNING *`)
    const pending = numbered ?? relay
    return { relay: pending, hosts: yield* sent(pending, yield* followOf(pending, pending.followUri ?? "")) }
  })
  const unfollow = Effect.fnUntraced(function*(relay: Relay) {
    return relay.followUri === null || (relay.state !== "pending" && relay.state !== "accepted")
      ? []
      : yield* sent(relay, Activities.undo(yield* followOf(relay, relay.followUri)))
  })

  const taken = validationFailed("Inbox url has already been taken")
  const create = traced("Relays.create")(
    function*(by: AccountId, wish: { readonly inboxUrl: string } | { readonly accountId: bigint }) {
      const now = yield* Clock.currentTimeMillis
      return yield* transaction(sql)(Effect.gen(function*() {
        const actor = "accountId" in wish ? yield* actorOf(wish.accountId) : undefined
        const written = "inboxUrl" in wish ? wish.inboxUrl.trim() : actor?.inboxUrl ?? ""
        if (written === "") return yield* validationFailed("Inbox url can't be blank")
        const url = written.length > urlCharactersMax ? undefined : readUrl(written)
        if (url === undefined || url.origin === config.publicUrl) return yield* validationFailed("Inbox url is invalid")
        const existing = yield* relayRows(sql`SELECT * FROM relays WHERE inbox_url = ${url.href}`)
        if (existing.length > 0) return yield* taken
        yield* requireCapacity(sql, { table: "relays", name: "Relays", max: relaysMax })
        const [inserted] = yield* relayRows(sql`
          INSERT INTO relays (id, kind, inbox_url, inbox_id, account_id, state, created_at)
          SELECT next_id(${now}), ${
          actor === undefined ? "mastodon" : "litepub"
        }, ${url.href}, inbox_number(${url.href}),
            ${actor?.accountId ?? null}::bigint, 'idle', ${new Date(now)}
          ON CONFLICT (inbox_url) DO NOTHING RETURNING *`)
        if (inserted === undefined) return yield* taken
        const changed = yield* follow(inserted)
        yield* table.created(by, changed.relay)
        return changed
      })).pipe(Effect.catchTag("SqlError", Effect.die))
    }
  )

  /** Serialises changes of a relay; a relay that is already in the requested state is not changed. */
  const change = (
    by: AccountId,
    id: bigint,
    action: "enable" | "disable",
    work: (before: Relay) => Effect.Effect<Changed | undefined, SqlError>
  ) =>
    transaction(sql)(Effect.gen(function*() {
      const before = yield* table.take(id)
      const changed = yield* work(before)
      if (changed === undefined) return { relay: before, hosts: [] }
      yield* table.changed(by, before, changed.relay, action)
      return changed
    })).pipe(Effect.catchTag("SqlError", Effect.die))

  return Relays.of({
    list: table.rows(sql`SELECT * FROM relays ORDER BY id DESC LIMIT ${rowsMax(sql, listedRowsMax)}`).pipe(
      Effect.orDie,
      Effect.withSpan("Relays.list")
    ),
    find: traced("Relays.find")(table.find),
    create,
    enable: traced("Relays.enable")((by, id) =>
      change(by, id, "enable", (before) => before.state === "accepted" ? Effect.succeed(undefined) : follow(before))
    ),
    disable: traced("Relays.disable")((by, id) =>
      change(by, id, "disable", (before) =>
        Effect.gen(function*() {
          if (before.state === "idle") return undefined
          const hosts = yield* unfollow(before)
          const relay = singleRow(
            yield* relayRows(sql`UPDATE relays SET state = 'idle', follow_uri = NULL WHERE id = ${id} RETURNING *`)
          )
          return { relay, hosts }
        }))
    ),
    remove: traced("Relays.remove")((by, id) =>
      transaction(sql)(Effect.gen(function*() {
        const before = yield* table.take(id)
        const hosts = yield* unfollow(before)
        yield* table.remove(id)
        yield* table.destroyed(by, before)
        return hosts
      })).pipe(Effect.catchTag("SqlError", Effect.die))
    ),
    settled: traced("Relays.settled")((sender, type, followUri) =>
      !followUri.startsWith(Activities.followIds(us)) ? Effect.succeed(false) : Effect.map(
        sql`UPDATE relays SET state = ${type === "Accept" ? "accepted" : "rejected"}, account_id = ${sender}
          WHERE follow_uri = ${followUri} AND state IN ('pending', 'accepted')
            AND CASE WHEN kind = 'litepub' THEN account_id = ${sender} ELSE EXISTS (SELECT FROM remote_actors r
              WHERE r.account_id = ${sender} AND relays.inbox_url IN (r.inbox_url, r.shared_inbox_url)) END RETURNING 1`,
        (rows) => rows.length > 0
      )
    ),
    isRelay: traced("Relays.isRelay")((sender) =>
      Effect.map(
        sql`SELECT FROM relays WHERE account_id = ${sender} AND state = 'accepted' LIMIT 1`,
        (rows) => rows.length > 0
      )
    ),
    followedBack: traced("Relays.followedBack")(function*(sender, senderUri, followUri) {
      const [relay] = yield* relayRows(sql`SELECT * FROM relays
        WHERE account_id = ${sender} AND state IN ('pending', 'accepted') LIMIT 1`)
      if (relay === undefined) return undefined
      const number = `${relay.id}-${yield* Clock.currentTimeMillis}`
      const of = { id: followUri, actor: senderUri, object: us }
      return yield* sent(relay, Activities.followResponse("Accept", of, number))
    })
  })
})
