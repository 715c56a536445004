import { Array as Arr, Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import type { Page } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { normalizeDomain } from "../federation/DomainNames.ts"
import { confirmedSuffix } from "../federation/domains/RuledDomain.ts"
import { domainOf, type EmailAddress } from "../identity/EmailAddresses.ts"
import { type RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { hashedKey } from "../secrets/HashedKey.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { auditedRows, isTaken } from "../staff/StaffRows.ts"
import { networkOf } from "./AddressRules.ts"
import { MailExchanges } from "./MailExchanges.ts"

/** Days in a block's history, and maximum further domains in a request. */
export const historyDays = 7
const otherDomainsMax = 20
const blocksMax = 100_000
/** Maximum address digests per block and day; beyond it uses are counted without a digest. */
const digestsOfDayMax = 10_000

const EmailDomainBlock = Schema.Struct({
  id: Schema.BigInt,
  domain: Schema.String,
  allowWithApproval: Schema.Boolean,
  createdAt: Timestamptz
})
export type EmailDomainBlock = typeof EmailDomainBlock.Type
const blockRows = rowsOf(EmailDomainBlock)

/** Sign-ups that a block matched on a day (`2026-11-23`). */
const DayOfBlock = Schema.Struct({
  blockId: Schema.BigInt,
  day: Schema.String,
  accounts: Schema.Int,
  uses: Schema.Int
})
type DayOfBlock = typeof DayOfBlock.Type
const dayRows = rowsOf(DayOfBlock)
const foundRows = rowsOf(Schema.Struct({ id: Schema.BigInt, allowWithApproval: Schema.Boolean }))
const existsRows = rowsOf(Schema.Struct({ exists: Schema.Boolean }))

/** A requested block: a domain, and those of its mail servers that staff chose. */
interface EmailDomainBlockWish {
  readonly domain: string
  readonly allowWithApproval: boolean
  readonly otherDomains: ReadonlyArray<string>
  /** True if staff confirmed a block of a public suffix. */
  readonly confirmed: boolean
}

/** E-mail domains that are blocked from sign-up, with their subdomains and mail servers (S-173). */
export class EmailDomainBlocks extends Context.Service<EmailDomainBlocks, {
  readonly page: (page: Page) => Effect.Effect<ReadonlyArray<EmailDomainBlock>>
  /** Number of blocks, as counted by `boundedCount`. */
  readonly total: Effect.Effect<number>
  readonly find: (id: bigint) => Effect.Effect<EmailDomainBlock, RecordNotFound>
  /** Returns the history of blocks by day; days without uses are left out. */
  readonly history: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<DayOfBlock>>
  readonly create: (
    by: AccountId | undefined,
    wish: EmailDomainBlockWish
  ) => Effect.Effect<EmailDomainBlock, Unprocessable>
  readonly remove: (by: AccountId | undefined, id: bigint) => Effect.Effect<void, RecordNotFound>
  /** Returns the mail servers of a domain, so that staff can block them, too. */
  readonly exchanges: (domain: string) => Effect.Effect<ReadonlyArray<string>, Unprocessable>
  /**
   * Returns the effect of the strictest matching block on an address, and counts a use of the block by the client's IP
   * address.
   */
  readonly blockFor: (
    email: EmailAddress,
    address: string | undefined
  ) => Effect.Effect<"blocked" | "approval" | undefined>
}>()("murmuration/services/moderation/EmailDomainBlocks") {
  static readonly layer = Layer.effect(EmailDomainBlocks, Effect.suspend(() => make)).pipe(
    Layer.provide(AuditLog.layer)
  )
}

/** Returns a domain and its parent domains. */
const withParents = (domain: string): ReadonlyArray<string> => {
  const parts = domain.split(".")
  return parts.map((_, at) => parts.slice(at).join("."))
}

/** Normalises a domain or a mail server's IP address; undefined for other text. */
const nameOf = (text: string): string | undefined => {
  const written = text.trim().toLowerCase()
  const address = networkOf(written)
  return address === undefined ? normalizeDomain(written) : address.split("/")[0]
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const exchanges = yield* MailExchanges
  const target = ({ domain, id }: EmailDomainBlock) => ({ type: "emailDomainBlock", id, label: domain }) as const
  const table = auditedRows({ sql, audit, table: "email_domain_blocks", rows: blockRows, target })

  const valid = (text: string) => {
    const domain = nameOf(text)
    return domain === undefined
      ? Effect.fail(
        validationFailed(text.trim() === "" ? "Domain can't be blank" : "Domain is not a valid domain name")
      )
      : Effect.succeed(domain)
  }
  const taken = validationFailed("Domain has already been taken")

  const create = traced("EmailDomainBlocks.create")(
    function*(by: AccountId | undefined, { allowWithApproval, confirmed, domain, otherDomains }: EmailDomainBlockWish) {
      const first = yield* valid(domain)
      const others = yield* Effect.forEach(otherDomains.slice(0, otherDomainsMax), valid)
      yield* Effect.forEach([first, ...others], (name) => confirmedSuffix(name, confirmed), { discard: true })
      const now = yield* Clock.currentTimeMillis
      return yield* transaction(sql)(Effect.gen(function*() {
        const insert = (name: string) =>
          Effect.flatMap(
            Effect.andThen(
              requireCapacity(sql, { table: "email_domain_blocks", name: "E-mail domain blocks", max: blocksMax }),
              table.rows(sql`INSERT INTO email_domain_blocks (id, domain, allow_with_approval, created_at)
              VALUES (next_id(${now}), ${name}, ${allowWithApproval}, ${new Date(now)})
              ON CONFLICT (domain) DO NOTHING RETURNING *`)
            ),
            ([block]) => block === undefined ? Effect.succeed(undefined) : table.created(by, block)
          )
        const inserted = yield* insert(first)
        if (inserted === undefined) return yield* taken
        // Mail servers that are blocked already keep their block.
        yield* Effect.forEach([...new Set(others)], insert, { discard: true })
        return inserted
      })).pipe(Effect.catchIf(isTaken, () => Effect.fail(taken)), Effect.catchTag("SqlError", Effect.die))
    }
  )

  const remove = traced("EmailDomainBlocks.remove")((by: AccountId | undefined, id: bigint) =>
    transaction(sql)(table.destroy(by, id)).pipe(Effect.catchTag("SqlError", Effect.die))
  )

  /** Returns the strictest block of any of these names. */
  const blockOf = (names: ReadonlyArray<string>) =>
    Effect.map(
      foundRows(sql`SELECT id, allow_with_approval FROM email_domain_blocks WHERE domain = ANY (${[
        ...new Set(names.flatMap((name) => /^[\d.]+$|:/.test(name) ? [name] : withParents(name)))
      ]}::text[]) ORDER BY allow_with_approval, id LIMIT 1`),
      Arr.head
    )

  const used = Effect.fnUntraced(function*(blockId: bigint, address: string | undefined) {
    const day = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
    yield* sql`INSERT INTO email_domain_block_days (block_id, day, address_digest, uses)
      SELECT ${blockId}, ${day}::date, CASE WHEN (SELECT count(*) FROM email_domain_block_days
        WHERE block_id = ${blockId} AND day = ${day}::date) < ${digestsOfDayMax} THEN ${
      hashedKey(address ?? "")
    } ELSE '' END, 1
      ON CONFLICT (block_id, day, address_digest) DO UPDATE SET uses = email_domain_block_days.uses + 1`
  })

  const blockFor = traced("EmailDomainBlocks.blockFor")(function*(email: EmailAddress, address: string | undefined) {
    const domain = domainOf(email)
    // DNS is queried only if there are any blocks.
    const [any] = yield* existsRows(sql`SELECT EXISTS (SELECT FROM email_domain_blocks) AS exists`)
    if (any?.exists !== true) return undefined
    const named = yield* blockOf([domain])
    const found = named._tag === "Some" && !named.value.allowWithApproval
      ? named
      : yield* Effect.flatMap(exchanges.of(domain), (hosts) => blockOf([domain, ...hosts]))
    if (found._tag === "None") return undefined
    yield* used(found.value.id, address)
    return found.value.allowWithApproval ? "approval" as const : "blocked" as const
  }, Effect.catchTag("SqlError", (error: SqlError) => Effect.die(error)))

  return EmailDomainBlocks.of({
    page: traced("EmailDomainBlocks.page")(table.page),
    total: table.total,
    find: traced("EmailDomainBlocks.find")(table.find),
    history: traced("EmailDomainBlocks.history")(function*(ids) {
      const since = new Date((yield* Clock.currentTimeMillis) - (historyDays - 1) * 86_400_000).toISOString().slice(
        0,
        10
      )
      return yield* dayRows(sql`SELECT block_id, day::text AS day, count(*)::int AS accounts, sum(uses)::int AS uses
        FROM email_domain_block_days WHERE block_id = ANY (${ids}::bigint[]) AND day >= ${since}::date
        GROUP BY block_id, day`)
    }, Effect.orDie),
    create,
    remove,
    exchanges: traced("EmailDomainBlocks.exchanges")((text) => Effect.flatMap(valid(text), exchanges.of)),
    blockFor
  })
})
