import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Status } from "../../src/http/wire/Status.ts"
import { ask } from "./Api.ts"
import type { Person } from "./Server.ts"

/* API calls for quotes. */

export const decodeStatus = Schema.decodeUnknownEffect(Status, { onExcessProperty: "error" })

export const post = Effect.fnUntraced(function*(by: Person, status: string, more: object = {}) {
  const { body, status: code } = yield* ask(by, "POST", "/api/v1/statuses", { status, ...more })
  assert.strictEqual(code, 200, JSON.stringify(body))
  return yield* decodeStatus(body)
})
export const quoting = (by: Person, quoted: { readonly id: string }, more: object = {}) =>
  post(by, "look at this", { quoted_status_id: quoted.id, ...more })
export const show = (by: Person | undefined, { id }: { readonly id: string }) =>
  Effect.flatMap(ask(by, "GET", `/api/v1/statuses/${id}`), ({ body }) => decodeStatus(body))
/** Returns a quote's state for a viewer, and the quoted text they can read. */
export const stateFor = (by: Person | undefined, status: { readonly id: string }) =>
  Effect.map(show(by, status), ({ quote }) => [quote?.state, quote?.quoted_status?.content])
/** Returns the accounts and statuses of a user's notifications of a type. */
export const notified = (by: Person, type: string) =>
  Effect.map(
    ask(by, "GET", `/api/v1/notifications?types[]=${type}`),
    ({ body }) =>
      body.map(({ account, status }: { account: { username: string }; status: Status }) => [
        account.username,
        status.id
      ])
  )
