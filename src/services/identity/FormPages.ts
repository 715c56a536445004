import { Clock, Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { retryDeadlocks } from "../database/Transactions.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import type { Session } from "./Sessions.ts"

/** Time that a page is stored, in milliseconds. */
const storedMillisMax = 3_600_000
/** Maximum pages of a session; beyond it the oldest are deleted. */
export const pagesOfSessionMax = 5
/** Maximum characters of a stored page. */
const pageCharactersMax = 262_144
const isId = Schema.is(Schema.String.check(Schema.isPattern(/^[\w-]{43}$/)))

const pageRows = rowsOf(Schema.Struct({ page: Schema.String }))

/**
 * Pages that responded to a form. Browsers cannot go back to the response to a POST, nor load it again, without sending
 * the form a second time; they can do so with a stored page, which belongs to the session of the form.
 */
export class FormPages extends Context.Service<FormPages, {
  /** Stores a page, and returns its id; undefined if the page is too long, the session has ended, or the write failed. */
  readonly store: (session: Session, page: string) => Effect.Effect<string | undefined>
  /** Returns a page of the session; undefined if it is unknown or expired. */
  readonly find: (session: Session, id: string) => Effect.Effect<string | undefined>
  readonly remove: (session: Session, id: string) => Effect.Effect<void>
}>()("murmuration/services/identity/FormPages") {
  static readonly layer = Layer.effect(FormPages, Effect.suspend(() => make))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* OpaqueSecrets
  const retryOnDeadlock = retryDeadlocks(sql)

  const hashOf = ({ sessionId }: Session) => Result.getOrElse(Base64Url.decode(sessionId), () => new Uint8Array())

  const store = traced("FormPages.store")(
    function*(session: Session, page: string) {
      if (page.length > pageCharactersMax) return undefined
      const hash = hashOf(session)
      const id = Redacted.value(yield* secrets.make)
      const now = yield* Clock.currentTimeMillis
      const [createdAt, expiresAt] = [new Date(now), new Date(now + storedMillisMax)]
      const stored = yield* sql`INSERT INTO form_pages (session_hash, id, account_id, page, created_at, expires_at)
      SELECT id_hash, ${id}, account_id, ${page}, ${createdAt}, ${expiresAt} FROM sessions WHERE id_hash = ${hash}
      RETURNING 1`
      if (stored.length === 0) return undefined
      yield* retryOnDeadlock(sql`DELETE FROM form_pages WHERE session_hash = ${hash} AND id IN (
      SELECT id FROM form_pages WHERE session_hash = ${hash}
      ORDER BY created_at DESC, id OFFSET ${pagesOfSessionMax})`)
      return id
    },
    // A failure is no reason to lose what was typed: the page itself is the response then.
    Effect.catch((error) => Effect.as(Effect.logWarning("a response to a form could not be stored", error), undefined))
  )

  const find = traced("FormPages.find")(function*(session: Session, id: string) {
    if (!isId(id)) return undefined
    const now = new Date(yield* Clock.currentTimeMillis)
    const [found] = yield* pageRows(sql`SELECT page FROM form_pages
      WHERE session_hash = ${hashOf(session)} AND id = ${id} AND expires_at > ${now}`)
    return found?.page
  }, Effect.orDie)

  const remove = traced("FormPages.remove")(function*(session: Session, id: string) {
    yield* sql`DELETE FROM form_pages WHERE session_hash = ${hashOf(session)} AND id = ${id}`
  }, Effect.orDie)

  return FormPages.of({ store, find, remove })
})
