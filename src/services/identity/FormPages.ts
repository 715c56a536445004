import { Clock, Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { retryDeadlocks } from "../database/Transactions.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import type { Session } from "./Sessions.ts"

/** Time that a page is stored for a session, and for a visitor, in milliseconds. */
const storedMillisMax = 3_600_000
const visitorMillisMax = 900_000
/** Maximum pages of a session or of a visitor; beyond it the oldest are deleted. */
export const pagesOfOwnerMax = 5
/** Maximum characters of a stored page of a session, and of a visitor. */
const pageCharactersMax = 262_144
export const visitorPageCharactersMax = 65_536
const isId = Schema.is(Schema.String.check(Schema.isPattern(/^[\w-]{43}$/)))

const FormPage = Schema.Struct({ page: Schema.String, headers: Schema.Record(Schema.String, Schema.String) })
/** A stored page, and the headers of its response. */
type FormPage = typeof FormPage.Type

/** Owner of stored pages: a session, or the secret of a visitor's browser. */
export type FormOwner = Session | Redacted.Redacted

const pageRows = rowsOf(FormPage)

/**
 * Pages that responded to a form. Browsers cannot go back to the response to a POST, nor load it again, without sending
 * the form a second time; they can do so with a stored page, which belongs to the session or browser of the form.
 */
export class FormPages extends Context.Service<FormPages, {
  /** Stores a page, and returns its id; undefined if the page is too long, the session has ended, or the write failed. */
  readonly store: (owner: FormOwner, page: FormPage) => Effect.Effect<string | undefined>
  /** Returns a page of the owner; undefined if it is unknown or expired. */
  readonly find: (owner: FormOwner, id: string) => Effect.Effect<FormPage | undefined>
  readonly remove: (owner: FormOwner, id: string) => Effect.Effect<void>
}>()("murmuration/services/identity/FormPages") {
  static readonly layer = Layer.effect(FormPages, Effect.suspend(() => make))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* OpaqueSecrets
  const retryOnDeadlock = retryDeadlocks(sql)

  const ofSession = (hash: Uint8Array) => ({
    table: sql`form_pages`,
    isOwn: sql`session_hash = ${hash}`,
    millisMax: storedMillisMax,
    charactersMax: pageCharactersMax,
    insert: (id: string, page: string, headers: string, from: Date, to: Date) =>
      sql`INSERT INTO form_pages (session_hash, id, account_id, page, headers, created_at, expires_at)
      SELECT id_hash, ${id}, account_id, ${page}, ${headers}::jsonb, ${from}, ${to} FROM sessions WHERE id_hash = ${hash}
      RETURNING 1`
  })
  const ofVisitor = (hash: Uint8Array): ReturnType<typeof ofSession> => ({
    table: sql`visitor_form_pages`,
    isOwn: sql`browser_hash = ${hash}`,
    millisMax: visitorMillisMax,
    charactersMax: visitorPageCharactersMax,
    insert: (id, page, headers, from, to) =>
      sql`INSERT INTO visitor_form_pages (browser_hash, id, page, headers, created_at, expires_at)
      VALUES (${hash}, ${id}, ${page}, ${headers}::jsonb, ${from}, ${to}) RETURNING 1`
  })
  /** Pages of an owner. The hash of a browser differs from those that its form tokens are made of. */
  const pagesOf = (owner: FormOwner) =>
    Redacted.isRedacted(owner)
      ? Effect.map(secrets.hash(`form_pages.${Redacted.value(owner)}`), ofVisitor)
      : Effect.succeed(ofSession(Result.getOrElse(Base64Url.decode(owner.sessionId), () => new Uint8Array())))

  const store = traced("FormPages.store")(
    function*(owner: FormOwner, { headers, page }: FormPage) {
      const { charactersMax, insert, isOwn, millisMax, table } = yield* pagesOf(owner)
      if (page.length > charactersMax) return undefined
      const id = Redacted.value(yield* secrets.make)
      const now = yield* Clock.currentTimeMillis
      const stored = yield* insert(id, page, JSON.stringify(headers), new Date(now), new Date(now + millisMax))
      if (stored.length === 0) return undefined
      yield* retryOnDeadlock(sql`DELETE FROM ${table} WHERE ${isOwn} AND id IN (
      SELECT id FROM ${table} WHERE ${isOwn} ORDER BY created_at DESC, id OFFSET ${pagesOfOwnerMax})`)
      return id
    },
    // A failure is no reason to lose what was typed: the page itself is the response then.
    Effect.catch((error) => Effect.as(Effect.logWarning("a response to a form could not be stored", error), undefined))
  )

  const find = traced("FormPages.find")(function*(owner: FormOwner, id: string) {
    if (!isId(id)) return undefined
    const { isOwn, table } = yield* pagesOf(owner)
    const now = new Date(yield* Clock.currentTimeMillis)
    const [found] = yield* pageRows(sql`SELECT page, headers FROM ${table}
      WHERE ${isOwn} AND id = ${id} AND expires_at > ${now}`)
    return found
  }, Effect.orDie)

  const remove = traced("FormPages.remove")(function*(owner: FormOwner, id: string) {
    const { isOwn, table } = yield* pagesOf(owner)
    yield* sql`DELETE FROM ${table} WHERE ${isOwn} AND id = ${id}`
  }, Effect.orDie)

  return FormPages.of({ store, find, remove })
})
