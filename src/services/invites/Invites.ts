import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { boundedCount } from "../database/BoundedCounts.ts"
import { AccountId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { type NotAllowed, RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { may } from "../staff/Permissions.ts"
import { requirePermission } from "../staff/Rank.ts"

/**
 * Choices for the maximum uses of an invite and its lifetime in seconds, by name (auth.md section 7). Both may also be
 * unlimited.
 */
export const inviteUses = [1, 5, 10, 25, 50, 100] as const
export const inviteLifetimes = {
  "30m": 1_800,
  "1h": 3_600,
  "6h": 21_600,
  "12h": 43_200,
  "1d": 86_400,
  "7d": 604_800
} as const
export const inviteSeconds = Object.values(inviteLifetimes)
/** Returns the address at which people sign up with an invite. */
export const inviteLink = (publicUrl: string, code: string): string => `${publicUrl}/invite/${code}`
/** Maximum valid invites per account. */
const invitesMax = 100
/** Characters of a code; the alphabet leaves out look-alikes. */
const codeCharacters = 8
const alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

const Invite = Schema.Struct({
  id: Schema.BigInt,
  code: Schema.String,
  accountId: AccountId,
  maxUses: Schema.NullOr(Schema.Int),
  uses: Schema.Int,
  expiresAt: Schema.NullOr(Timestamptz),
  autofollow: Schema.Boolean,
  createdAt: Timestamptz,
  /** True if people can sign up with it now. */
  valid: Schema.Boolean
})
/** An invite to this server. */
export type Invite = typeof Invite.Type
const inviteRows = rowsOf(Invite)
const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

interface NewInvite {
  /** One of `inviteUses`; null means unlimited. */
  readonly maxUses: number | null
  /** One of `inviteSeconds`; null means that it does not expire. */
  readonly expiresIn: number | null
  /** True if new members follow the inviter. */
  readonly autofollow: boolean
}

/** Invites, which allow sign-up in every registration mode (S-017). */
export class Invites extends Context.Service<Invites, {
  /** Returns all invites, or those of one account. */
  readonly list: (page: Page, by?: AccountId) => Effect.Effect<ReadonlyArray<Invite>>
  /** Number of invites, as counted by `boundedCount`. */
  readonly total: Effect.Effect<number>
  /** Finds an invite by its code, even if it is no longer valid. */
  readonly find: (code: string) => Effect.Effect<Invite | undefined>
  /** Creates an invite; the role must allow it, as the default role does. Invites by staff are logged. */
  readonly create: (by: AccountId, invite: NewInvite) => Effect.Effect<Invite, NotAllowed | Unprocessable>
  /**
   * Expires an invite; users who are not staff can only expire their own, and `undefined` is the operator. Returns the
   * invite; fails with RecordNotFound if it has expired.
   */
  readonly end: (by: AccountId | undefined, id: bigint) => Effect.Effect<Invite, NotAllowed | RecordNotFound>
}>()("murmuration/services/identity/Invites") {
  static readonly layer = Layer.effect(Invites, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const random = yield* SecureRandom.SecureRandom
  const standing = requirePermission(sql)

  /**
   * Selects invites with their validity at a time; disabled, suspended and deleted inviters have none.
   */
  const selected = (now: Date) =>
    sql`SELECT i.id, i.code, i.account_id, i.max_uses, i.uses, i.expires_at, i.autofollow, i.created_at,
        (i.max_uses IS NULL OR i.uses < i.max_uses) AND (i.expires_at IS NULL OR i.expires_at > ${now})
          AND NOT u.disabled AND u.approved AND u.confirmed_at IS NOT NULL AND a.suspended_at IS NULL
          AND a.moved_to_id IS NULL AND NOT a.memorial AS valid
      FROM invites i JOIN users u ON u.account_id = i.account_id JOIN accounts a ON a.id = i.account_id`

  const newCode = Effect.map(random.randomBytes(codeCharacters * 4), (bytes) => {
    const usable = 256 - 256 % alphabet.length
    return Array.from(bytes.filter((byte) => byte < usable), (byte) => alphabet[byte % alphabet.length])
      .slice(0, codeCharacters).join("")
  })

  const insert = Effect.fnUntraced(function*(by: AccountId, { autofollow, expiresIn, maxUses }: NewInvite) {
    const millis = yield* Clock.currentTimeMillis
    const now = new Date(millis)
    // Locks before `standing`, which takes a shared lock on the row: two shared locks would deadlock here.
    yield* sql`SELECT FROM users WHERE account_id = ${by} FOR NO KEY UPDATE`
    const { permissions } = yield* standing(by, ["inviteUsers", "manageInvites"])
    const { count } = singleRow(
      yield* countRows(sql`SELECT count(*)::int AS count FROM invites WHERE account_id = ${by}
        AND (max_uses IS NULL OR uses < max_uses) AND (expires_at IS NULL OR expires_at > ${now})`)
    )
    if (count >= invitesMax) return yield* validationFailed(`Invites are too many (maximum is ${invitesMax})`)
    const expiresAt = expiresIn === null ? null : new Date(millis + expiresIn * 1_000)
    const code = yield* newCode
    yield* sql`INSERT INTO invites (id, code, account_id, max_uses, expires_at, autofollow, created_at)
      VALUES (next_id(${millis}), ${code}, ${by}, ${maxUses}, ${expiresAt}, ${autofollow}, ${now})`
    const invite = singleRow(yield* inviteRows(sql`${selected(now)} WHERE i.code = ${code}`))
    // Without the code, as anyone who reads the log could sign up with it.
    const after = { maxUses, expiresAt, autofollow }
    if (may(permissions, "manageInvites")) {
      yield* audit.record({ by, action: "create", target: { type: "invite", id: invite.id, label: "" }, after })
    }
    return invite
  })

  return Invites.of({
    list: traced("Invites.list")(function*(page, by) {
      const { tail, where } = clauses(sql, "i.id", page)
      const now = new Date(yield* Clock.currentTimeMillis)
      const own = by === undefined ? sql`TRUE` : sql`i.account_id = ${by}`
      return newestFirst(page, yield* inviteRows(sql`${selected(now)} WHERE ${where} AND ${own} ${tail}`))
    }, Effect.orDie),
    total: boundedCount(sql)(sql`SELECT FROM invites`),
    find: traced("Invites.find")(function*(code) {
      const now = new Date(yield* Clock.currentTimeMillis)
      const [invite] = yield* inviteRows(sql`${selected(now)} WHERE i.code = ${code}`)
      return invite
    }, Effect.orDie),
    create: traced("Invites.create")(function*(by, wanted) {
      if (wanted.maxUses !== null && !inviteUses.some((uses) => uses === wanted.maxUses)) {
        return yield* validationFailed("Max uses is not included in the list")
      }
      if (wanted.expiresIn !== null && !inviteSeconds.some((seconds) => seconds === wanted.expiresIn)) {
        return yield* validationFailed("Expires in is not included in the list")
      }
      return yield* insert(by, wanted).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))
    }),
    end: traced("Invites.end")(
      Effect.fnUntraced(
        function*(by: AccountId | undefined, id: bigint) {
          const isStaff = by === undefined ||
            may((yield* standing(by, ["inviteUsers", "manageInvites"])).permissions, "manageInvites")
          const now = new Date(yield* Clock.currentTimeMillis)
          const [before] = yield* inviteRows(sql`${selected(now)} WHERE i.id = ${id} FOR UPDATE OF i`)
          const isOver = before === undefined || before.expiresAt !== null && before.expiresAt <= now
          if (isOver || (before.accountId !== by && !isStaff)) {
            return yield* new RecordNotFound()
          }
          yield* sql`UPDATE invites SET expires_at = ${now} WHERE id = ${id}`
          if (isStaff) {
            yield* audit.record({
              by,
              action: "destroy",
              target: { type: "invite", id, label: "" },
              before: { maxUses: before.maxUses, uses: before.uses, expiresAt: before.expiresAt }
            })
          }
          return { ...before, expiresAt: now, valid: false }
        },
        transaction(sql),
        Effect.catchTag("SqlError", Effect.die)
      )
    )
  })
})
