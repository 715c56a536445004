import { Clock, Context, Effect, Layer, Redacted, Schema, Struct } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import { listedRowsMax, requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, singleRow } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { urlReader } from "../federation/documents/ForeignValues.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { NotAllowed, type RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { secretCipher } from "../secrets/Seals.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { may } from "../staff/Permissions.ts"
import { requirePermission } from "../staff/Rank.ts"
import { auditedRows, isTaken } from "../staff/StaffRows.ts"
import { eventPermissions, Webhook, WebhookEvent } from "./Webhook.ts"
import { isTemplate } from "./WebhookTemplates.ts"

/** Maximum webhooks of a server, characters of a URL and bytes of a template; length of a secret in bytes. */
export const webhooksMax = 20
const urlCharactersMax = 2_000
const templateBytesMax = 8_192
const secretBytes = 20

const webhookRows = rowsOf(Webhook)
const countRows = rowsOf(Schema.Struct({ webhookId: Schema.BigInt, waiting: Schema.Int }))

/** A requested webhook or change; absent fields stay unchanged, or get their default in a new webhook. */
interface WebhookWish {
  readonly url?: string | undefined
  readonly events?: ReadonlyArray<string> | undefined
  readonly template?: string | undefined
  readonly enabled?: boolean | undefined
}

type Refused = NotAllowed | RecordNotFound | Unprocessable

const isEvent = Schema.is(WebhookEvent)

/** Webhooks of this server, for staff. Their creators must have permission to see the reported events. */
export class Webhooks extends Context.Service<Webhooks, {
  readonly list: Effect.Effect<ReadonlyArray<Webhook>>
  readonly find: (id: bigint) => Effect.Effect<Webhook, RecordNotFound>
  /** Number of pending events per webhook. */
  readonly waiting: Effect.Effect<ReadonlyMap<bigint, number>>
  /** Returns the signing secret; undefined if the server's own key has changed. */
  readonly secretOf: (webhook: Webhook) => string | undefined
  readonly create: (by: AccountId, wish: WebhookWish) => Effect.Effect<Webhook, Refused>
  readonly update: (by: AccountId, id: bigint, wish: WebhookWish) => Effect.Effect<Webhook, Refused>
  /** Replaces the signing secret. */
  readonly rotate: (by: AccountId, id: bigint) => Effect.Effect<Webhook, Refused>
  readonly remove: (by: AccountId, id: bigint) => Effect.Effect<void, Refused>
}>()("murmuration/services/webhooks/Webhooks") {
  static readonly layer = Layer.effect(Webhooks, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const random = yield* SecureRandom.SecureRandom
  const seals = yield* secretCipher("secrets of webhooks")
  const { outboundAllow } = yield* ServerConfig
  const readUrl = urlReader(outboundAllow)
  const standing = requirePermission(sql)
  const target = ({ id, url }: Webhook) => ({ type: "webhook", id, label: url }) as const
  const logged = (webhook: Webhook) => Struct.pick(webhook, ["url", "events", "template", "enabled"])
  const table = auditedRows({ sql, audit, table: "webhooks", rows: webhookRows, target, logged })

  const sealed = Effect.flatMap(
    random.randomBytes(secretBytes),
    (bytes) => seals.encrypt(Redacted.make(Buffer.from(bytes).toString("hex")))
  )

  const act = <A, E>(by: AccountId, work: (permissions: bigint) => Effect.Effect<A, E>) =>
    Effect.flatMap(standing(by, "manageWebhooks"), ({ permissions }) => work(permissions)).pipe(
      transaction(sql),
      Effect.catchIf(isTaken, () => Effect.fail(validationFailed("Url has already been taken"))),
      Effect.catchIf(isSqlError, Effect.die)
    )

  const checked = Effect.fnUntraced(function*(permissions: bigint, wish: WebhookWish, before?: Webhook) {
    const given = wish.url?.trim() ?? before?.url ?? ""
    const events = [...new Set<string>(wish.events ?? before?.events ?? [])]
    const template = wish.template?.trim() ?? before?.template ?? ""
    const url = given.length > urlCharactersMax ? undefined : readUrl(given)?.href
    if (given === "") return yield* validationFailed("Url can't be blank")
    if (url === undefined) return yield* validationFailed("Url is invalid")
    if (events.length === 0) return yield* validationFailed("Events can't be blank")
    if (!events.every(isEvent)) return yield* validationFailed("Events is not included in the list")
    const known = events.filter(isEvent)
    if (Buffer.byteLength(template) > templateBytesMax) {
      return yield* validationFailed(`Template is too long (maximum is ${templateBytesMax} bytes)`)
    }
    if (template !== "" && !isTemplate(template)) return yield* validationFailed("Template is invalid")
    // Staff must not learn by a webhook what they may not see.
    if (!known.every((event) => may(permissions, eventPermissions[event]))) return yield* new NotAllowed({})
    const enabled = wish.enabled ?? before?.enabled ?? true
    return { url, events: known, template, enabled, at: new Date(yield* Clock.currentTimeMillis) }
  })

  return Webhooks.of({
    list: Effect.orDie(webhookRows(sql`SELECT * FROM webhooks ORDER BY id DESC LIMIT ${rowsMax(sql, listedRowsMax)}`)),
    find: traced("Webhooks.find")(table.find),
    waiting: Effect.map(
      countRows(sql`SELECT webhook_id, count(*)::int AS waiting FROM webhook_deliveries GROUP BY webhook_id`),
      (rows) => new Map(rows.map(({ waiting, webhookId }) => [webhookId, waiting]))
    ).pipe(Effect.orDie),
    secretOf: ({ secret }) => {
      const opened = seals.decrypt(secret)
      return opened && Redacted.value(opened)
    },
    create: traced("Webhooks.create")((by, wish) =>
      act(
        by,
        Effect.fnUntraced(function*(permissions) {
          const { at, enabled, events, template, url } = yield* checked(permissions, wish)
          yield* requireCapacity(sql, { table: "webhooks", name: "Webhooks", max: webhooksMax })
          const inserted = singleRow(
            yield* webhookRows(
              sql`INSERT INTO webhooks (id, account_id, url, events, secret, template, enabled, created_at,
              updated_at)
            VALUES (next_id(${at.getTime()}), ${by}, ${url}, ${events}::text[], ${yield* sealed}, ${template}, ${enabled},
              ${at}, ${at}) RETURNING *`
            )
          )
          return yield* table.created(by, inserted)
        })
      )
    ),
    update: traced("Webhooks.update")((by, id, wish) =>
      act(
        by,
        Effect.fnUntraced(function*(permissions) {
          const before = yield* table.take(id)
          const { at, enabled, events, template, url } = yield* checked(permissions, wish, before)
          const after = singleRow(
            yield* webhookRows(sql`UPDATE webhooks SET url = ${url}, events = ${events}::text[], template = ${template},
            enabled = ${enabled}, updated_at = ${at} WHERE id = ${id} RETURNING *`)
          )
          // Pending events of a disabled webhook are dropped.
          if (!enabled) yield* sql`DELETE FROM webhook_deliveries WHERE webhook_id = ${id}`
          const action = before.enabled === enabled ? "update" : enabled ? "enable" : "disable"
          return yield* table.changed(by, before, after, action)
        })
      )
    ),
    rotate: traced("Webhooks.rotate")((by, id) =>
      act(
        by,
        Effect.fnUntraced(function*() {
          const before = yield* table.take(id)
          const at = new Date(yield* Clock.currentTimeMillis)
          const rows = yield* webhookRows(sql`UPDATE webhooks SET secret = ${yield* sealed}, updated_at = ${at}
          WHERE id = ${id} RETURNING *`)
          yield* audit.record({ by, action: "rotate_secret", target: target(before) })
          return singleRow(rows)
        })
      )
    ),
    remove: traced("Webhooks.remove")((by, id) => act(by, () => table.destroy(by, id)))
  })
})
