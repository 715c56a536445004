import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Scopes from "../../src/services/oauth/Scopes.ts"
import { eventually } from "../support/Eventually.ts"
import { allowedMillis } from "../support/MachineSpeed.ts"
import { eventuallyResponds, propagationMillisMax, textOf } from "./EventualResponse.ts"
import { type Account, makeAccounts, type Node, request } from "./Nodes.ts"
import { listen } from "./Streams.ts"
import { TwoNodes } from "./TwoNodes.ts"

const post = (node: Node, by: Account, path: string, form: Record<string, string> = {}) =>
  request(node, by, path, { method: "POST", form })

/** Checks a moderator's actions on one node, and their reversal. */
export const moderation = Effect.scoped(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [a, b] = yield* TwoNodes
  const [owner, moderator] = yield* makeAccounts(a.variables, ["olga", "mona"], Scopes.all)
  const [bad, reader] = yield* makeAccounts(a.variables, ["bad", "reader"])
  if (!owner || !moderator || !bad || !reader) return yield* Effect.die("accounts were not made")
  yield* sql`UPDATE users SET role_id = 3 WHERE account_id = ${owner.id}`
  yield* sql`INSERT INTO roles (id, name, position, permissions) VALUES (77, 'Helper', 10, 1024)`
  yield* sql`UPDATE users SET role_id = 77 WHERE account_id = ${moderator.id}`

  const own = (node: Node) => request(node, bad, "/api/v1/accounts/verify_credentials")
  const profile = (node: Node) => request(node, reader, `/api/v1/accounts/${bad.id}`)
  const timeline = (node: Node) => request(node, owner, "/api/v1/timelines/public?local=true")
  const act = (node: Node, by: Account, type: string) =>
    post(node, by, `/api/v1/admin/accounts/${bad.id}/action`, { type, text: "Stop it" })
  const lift = (node: Node, by: Account, what: string) => post(node, by, `/api/v1/admin/accounts/${bad.id}/${what}`)

  yield* post(a, reader, `/api/v1/accounts/${bad.id}/follow`)
  const posted = yield* post(a, bad, "/api/v1/statuses", { status: "posted before the suspension" })
  const status = (node: Node) => request(node, reader, `/api/v1/statuses/${Reflect.get(Object(posted.body), "id")}`)
  // Each node reports its own figures, so that staff see those of both on either one: two groups of 300 shards.
  yield* eventually(
    sql<{ nodes: number; shards: number; actors: number }>`SELECT count(*)::int AS nodes,
      sum(shards)::int AS shards, sum(actors)::int AS actors FROM node_figures`,
    ([row]) => row?.nodes === 2 && row.shards === 600
  )
  // Both nodes have cached everything before.
  for (const node of [a, b]) {
    for (const ask of [own, profile, status]) assert.strictEqual((yield* ask(node)).status, 200)
    assert.include(textOf(yield* timeline(node)), "posted before the suspension")
  }

  // Suspended: the account's streams end on both nodes, and both hide it.
  const streams = [yield* listen(a, bad), yield* listen(b, bad)]
  const began = performance.now()
  assert.strictEqual((yield* act(a, moderator, "suspend")).status, 200)
  for (const { closed } of streams) assert.isBelow((yield* closed) - began, allowedMillis(propagationMillisMax))
  for (const node of [a, b]) {
    yield* eventuallyResponds("the account's own token", own(node), (response) => response.status === 403)
    yield* eventuallyResponds("the profile", profile(node), (response) => response.status === 410)
    yield* eventuallyResponds("the post", status(node), (response) => response.status === 404)
    yield* eventuallyResponds(
      "the timeline",
      timeline(node),
      ({ text }) => !text.includes("posted before the suspension")
    )
  }
  const later = yield* post(b, bad, "/api/v1/statuses", { status: "posted after the suspension" })
  assert.strictEqual(later.status, 403)
  // A second moderator with the same action on the other node is refused.
  assert.strictEqual((yield* act(b, owner, "suspend")).status, 422)

  // The suspension is lifted on the other node.
  assert.strictEqual((yield* lift(b, moderator, "unsuspend")).status, 200)
  for (const node of [a, b]) {
    yield* eventuallyResponds("the account's own token", own(node), (response) => response.status === 200)
    yield* eventuallyResponds("the profile", profile(node), (response) => response.status === 200)
    yield* eventuallyResponds("the post", status(node), (response) => response.status === 200)
    yield* eventuallyResponds(
      "the timeline",
      timeline(node),
      ({ text }) => text.includes("posted before the suspension")
    )
  }

  assert.strictEqual((yield* act(b, moderator, "silence")).status, 200)
  for (const node of [a, b]) {
    yield* eventuallyResponds(
      "the timeline",
      timeline(node),
      ({ text }) => !text.includes("posted before the suspension")
    )
    assert.strictEqual((yield* status(node)).status, 200)
  }
  assert.strictEqual((yield* lift(a, moderator, "unsilence")).status, 200)
  for (const node of [a, b]) {
    yield* eventuallyResponds(
      "the timeline",
      timeline(node),
      ({ text }) => text.includes("posted before the suspension")
    )
  }

  const stream = yield* listen(b, bad)
  const disabledAt = performance.now()
  assert.strictEqual((yield* act(a, moderator, "disable")).status, 200)
  assert.isBelow((yield* stream.closed) - disabledAt, allowedMillis(propagationMillisMax))
  for (const node of [a, b]) {
    yield* eventuallyResponds("the account's own token", own(node), (response) => response.status === 403)
  }
  assert.strictEqual((yield* lift(b, moderator, "enable")).status, 200)
  for (const node of [a, b]) {
    yield* eventuallyResponds("the account's own token", own(node), (response) => response.status === 200)
  }

  // A deleted role has no effect on any node.
  const adminView = (node: Node) => request(node, moderator, `/api/v1/admin/accounts/${bad.id}`)
  for (const node of [a, b]) assert.strictEqual((yield* adminView(node)).status, 200)
  assert.strictEqual((yield* request(a, owner, "/api/v1/admin/roles/77", { method: "DELETE" })).status, 200)
  for (const node of [a, b]) {
    yield* eventuallyResponds("the deleted role", adminView(node), (response) => response.status === 403)
  }
}))
