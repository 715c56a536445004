import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { lockBound, requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import type { Page } from "../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { exceeds } from "../html/Text.ts"
import { type RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { momentMillisMax } from "../runtime/Moments.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { auditedRows, isTaken } from "../staff/StaffRows.ts"
import { ipBlockSeverities, isBroad, isInside, networkOf } from "./AddressRules.ts"
import { BlockedAddresses, ipBlocksMax } from "./BlockedAddresses.ts"

/** Maximum characters of a comment. */
const commentCharactersMax = 5_000

const IpBlock = Schema.Struct({
  id: Schema.BigInt,
  /** Network as Postgres writes it: 10.0.0.0/8. */
  ip: Schema.String,
  severity: Schema.Literals(ipBlockSeverities),
  comment: Schema.String,
  createdAt: Timestamptz,
  expiresAt: Schema.NullOr(Timestamptz)
})
export type IpBlock = typeof IpBlock.Type
const blockRows = rowsOf(IpBlock)

/** A requested block or change; undefined fields stay unchanged, and `null` seconds mean that it does not expire. */
interface IpBlockWish {
  readonly ip?: string | undefined
  readonly severity?: string | undefined
  readonly comment?: string | undefined
  readonly expiresInSeconds?: number | null | undefined
  /** True if staff confirmed a network this large (`isBroad`). */
  readonly confirmed?: boolean | undefined
}

/** Acting staff member and their IP address: they must not lock themselves out. */
interface IpBlockAuthor {
  readonly by: AccountId | undefined
  readonly address: string | undefined
}

type Written = Effect.Effect<IpBlock, Unprocessable | RecordNotFound>

/**
 * IP blocks: networks that may not sign up, or not connect at all (S-174). The local node applies a change before the
 * response, other nodes within a second.
 */
export class IpBlocks extends Context.Service<IpBlocks, {
  readonly page: (page: Page) => Effect.Effect<ReadonlyArray<IpBlock>>
  /** Number of blocks, as counted by `boundedCount`. */
  readonly total: Effect.Effect<number>
  readonly find: (id: bigint) => Effect.Effect<IpBlock, RecordNotFound>
  readonly create: (author: IpBlockAuthor, wish: IpBlockWish) => Effect.Effect<IpBlock, Unprocessable>
  readonly update: (author: IpBlockAuthor, id: bigint, wish: IpBlockWish) => Written
  readonly remove: (author: IpBlockAuthor, id: bigint) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/moderation/IpBlocks") {
  static readonly layer = Layer.effect(IpBlocks, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
}

const isSeverity = Schema.is(Schema.Literals(ipBlockSeverities))

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const blocked = yield* BlockedAddresses
  const tracked = yield* RowChanges.make
  const target = ({ id, ip }: IpBlock) => ({ type: "ipBlock", id, label: ip }) as const
  const table = auditedRows({ sql, audit, table: "ip_blocks", rows: blockRows, target })

  /** Runs a change; other nodes are told at the commit, and this node reloads the blocks before the response. */
  const changing = <A, E>(work: Effect.Effect<A, E | SqlError>) =>
    transaction(sql)(tracked("ip_blocks")(work)).pipe(Effect.tap(() => blocked.refresh))

  const checked = Effect.fnUntraced(function*({ address }: IpBlockAuthor, wish: IpBlockWish, before?: IpBlock) {
    const now = yield* Clock.currentTimeMillis
    const written = wish.ip?.trim() ?? before?.ip ?? ""
    const ip = networkOf(written)
    const severity = wish.severity ?? before?.severity ?? ""
    const comment = wish.comment ?? before?.comment ?? ""
    const problems = [
      ...(written === "" ? ["Ip can't be blank"] : ip === undefined ? ["Ip is invalid"] : []),
      ...(severity === ""
        ? ["Severity can't be blank"]
        : isSeverity(severity)
        ? []
        : ["Severity is not included in the list"]),
      ...(exceeds(comment, commentCharactersMax)
        ? [`Comment is too long (maximum is ${commentCharactersMax} characters)`]
        : []),
      ...(ip !== undefined && ip !== before?.ip && wish.confirmed !== true && isBroad(ip)
        ? ["Ip is a large part of all addresses: repeat with confirmed=true"]
        : []),
      ...(severity === "no_access" && ip !== undefined && address !== undefined && isInside(ip, address)
        ? ["Ip includes an address that you are using"]
        : [])
    ]
    if (problems.length > 0 || ip === undefined || !isSeverity(severity)) return yield* validationFailed(...problems)
    const { expiresInSeconds } = wish
    const expiresAt = expiresInSeconds === undefined
      ? before?.expiresAt ?? null
      : expiresInSeconds === null
      ? null
      : new Date(Math.min(now + Math.max(0, expiresInSeconds) * 1_000, momentMillisMax))
    return { ip, severity, comment, expiresAt, at: new Date(now) }
  })
  const taken = <A, E>(work: Effect.Effect<A, E | SqlError>) =>
    Effect.catchIf(work, isTaken, () => Effect.fail(validationFailed("Ip has already been taken")))

  /** Requires room for one more block. Blocks beyond the maximum would not be loaded into memory. */
  const requireBlockCapacity = (at: Date) =>
    requireCapacity(sql, {
      table: "ip_blocks",
      name: "IP blocks",
      max: ipBlocksMax,
      counted: sql`expires_at IS NULL OR expires_at > ${at}`
    })

  return IpBlocks.of({
    page: traced("IpBlocks.page")(table.page),
    total: table.total,
    find: traced("IpBlocks.find")(table.find),
    create: traced("IpBlocks.create")(function*(author, wish) {
      const { at, comment, expiresAt, ip, severity } = yield* checked(author, wish)
      return yield* changing(Effect.gen(function*() {
        yield* requireBlockCapacity(at)
        const inserted = singleRow(
          yield* table.rows(
            tracked("ip_blocks")(
              sql`INSERT INTO ip_blocks (id, ip, severity, comment, created_at, updated_at, expires_at)
            VALUES (next_id(${at.getTime()}), ${ip}::cidr, ${severity}, ${comment}, ${at}, ${at}, ${expiresAt})
            ON CONFLICT (ip) DO UPDATE SET id = excluded.id, severity = excluded.severity, comment = excluded.comment,
              created_at = excluded.created_at, updated_at = excluded.updated_at, expires_at = excluded.expires_at
              WHERE ip_blocks.expires_at <= ${at}
            RETURNING *`
            )
          ).pipe(
            Effect.flatMap((rows) =>
              rows.length === 0 ? Effect.fail(validationFailed("Ip has already been taken")) : Effect.succeed(rows)
            )
          )
        )
        return yield* table.created(author.by, inserted)
      })).pipe(Effect.catchTag("SqlError", Effect.die))
    }),
    update: traced("IpBlocks.update")((author, id, wish) =>
      changing(
        taken(
          Effect.andThen(
            lockBound(sql, "ip_blocks"),
            table.change(
              author.by,
              id,
              Effect.fnUntraced(function*(before) {
                const { at, comment, expiresAt, ip, severity } = yield* checked(author, wish, before)
                const counts = (expiry: Date | null) => expiry === null || expiry > at
                if (counts(expiresAt) && !counts(before.expiresAt)) yield* requireBlockCapacity(at)
                return singleRow(
                  yield* table.rows(
                    tracked("ip_blocks")(
                      sql`UPDATE ip_blocks SET ip = ${ip}::cidr, severity = ${severity}, comment = ${comment},
            expires_at = ${expiresAt}, updated_at = ${at} WHERE id = ${id} RETURNING *`
                    )
                  )
                )
              })
            )
          )
        )
      ).pipe(Effect.catchTag("SqlError", Effect.die))
    ),
    remove: traced("IpBlocks.remove")((author, id) =>
      changing(table.destroy(author.by, id)).pipe(Effect.catchTag("SqlError", Effect.die))
    )
  })
})
