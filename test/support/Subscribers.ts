import { assert } from "@effect/vitest"
import { Clock, Effect, Queue } from "effect"
import { SqlClient } from "effect/sql"
import type { Email } from "../../src/services/emails/Mailer.ts"
import { EmailDigests } from "../../src/services/subscriptions/EmailDigests.ts"
import { get, post, postJson, send } from "./Requests.ts"
import { issueToken, user } from "./SignedIn.ts"
import { Postbox } from "./WebServer.ts"

/* Subscribers to posts by e-mail, and the authors they subscribe to. */

export const path = (id: bigint) => `/api/v1/accounts/${id}/email_subscriptions`

/** Creates a user who may offer posts by e-mail, and does. */
export const withEmailSubscriptions = Effect.fnUntraced(function*(name: string) {
  const sql = yield* SqlClient.SqlClient
  const id = yield* user(name)
  yield* sql`INSERT INTO roles (id, name, color, position, permissions, highlighted)
    VALUES (77, 'Writer', '', 1, ${1n << 22n}, false) ON CONFLICT DO NOTHING`
  yield* sql`UPDATE users SET role_id = 77 WHERE account_id = ${id}`
  const bearer = yield* issueToken(id, ["read", "write"])
  const { status } = yield* change(bearer, true)
  assert.strictEqual(status, 200)
  return { id, bearer }
})
export const change = (bearer: string, wanted: boolean) =>
  send("/api/v1/profile", {
    method: "PATCH",
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    body: JSON.stringify({ email_subscriptions: wanted })
  })

export const takeEmails = Effect.flatMap(Postbox, Queue.clear)
export const linkIn = ({ text }: Email, start: string) => {
  const url = text.split(/\s/).find((word) => word.includes(start)) ?? ""
  return url.slice(url.indexOf("/", "https://".length))
}
/** Waits for the next e-mail to an address. */
export const nextEmailTo = (address: string) => Effect.repeat(Postbox.next, { until: ({ to }) => to === address })

export const subscribed = Effect.fnUntraced(function*(id: bigint, email: string) {
  assert.strictEqual((yield* post(path(id), { email })).status, 200)
  const letter = yield* nextEmailTo(email)
  assert.strictEqual((yield* get(linkIn(letter, "/email_subscriptions/"))).status, 200)
  return letter
})

/** Ages the collected posts and runs the sweep. */
export const runDigestSweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const earlier = new Date((yield* Clock.currentTimeMillis) - 6 * 60_000)
  yield* sql`UPDATE email_digest_posts SET created_at = ${earlier}`
  yield* (yield* EmailDigests).sweep
})

export const write = (bearer: string, json: Record<string, unknown>) =>
  Effect.map(postJson("/api/v1/statuses", bearer, json), ({ body, status, text }) => {
    assert.strictEqual(status, 200, text)
    return String(body.id)
  })
