import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Scopes from "../../src/services/oauth/Scopes.ts"
import { redisUrl } from "../support/RedisServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { type Account, makeAccounts, type Node, request, startNode } from "./Nodes.ts"
import { listen } from "./Streams.ts"

/** How long word of what a moderator did may take to other nodes (milliseconds). */
const heardMillisMax = 1_000

const idOf = (body: unknown) => typeof body === "object" && body !== null && "id" in body ? String(body.id) : ""

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "3 minutes" })("moderation, on two nodes", (it) => {
  it.effect(
    "S-014 S-022 S-252: a suspension on one node cuts streams and hides everything on the other at once, and is taken back as fast",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { url } = yield* TestDatabase
        const start = startNode(url, yield* redisUrl)
        const [here, there] = yield* Effect.all([start, start], { concurrency: "unbounded" })
        const [moderator, bad, reader] = yield* makeAccounts(here.variables, ["helper", "bad", "reader"], Scopes.all)
        yield* sql`UPDATE users SET role_id = 3 WHERE account_id = ${moderator!.id}`
        const get = (node: Node, by: Account, path: string) => request(node, by, path)
        const act = (node: Node, path: string, form: Record<string, string> = {}) =>
          request(node, moderator!, `/api/v1/admin/accounts/${bad!.id}/${path}`, { method: "POST", form })
        const { body } = yield* request(here, bad!, "/api/v1/statuses", { method: "POST", form: { status: "Hello" } })
        const post = `/api/v1/statuses/${idOf(body)}`
        const profile = `/api/v1/accounts/${bad!.id}`

        for (const round of [1, 2]) {
          // Both nodes know all of it.
          for (const node of [here, there]) {
            assert.strictEqual((yield* get(node, reader!, post)).status, 200, `round ${round}`)
            assert.strictEqual((yield* get(node, reader!, profile)).status, 200)
            assert.strictEqual((yield* get(node, bad!, "/api/v1/accounts/verify_credentials")).status, 200)
          }
          const streams = [yield* listen(here, bad!), yield* listen(there, bad!)]
          const began = performance.now()
          assert.strictEqual((yield* act(here, "action", { type: "suspend" })).status, 200)
          const answered = performance.now()
          const closed = yield* Effect.all(streams.map((stream) => stream.closed), { concurrency: "unbounded" })
          for (const at of closed) assert.isBelow(at - began, heardMillisMax)
          yield* Effect.sleep(Math.max(0, heardMillisMax - (performance.now() - answered)))
          for (const node of [here, there]) {
            assert.strictEqual((yield* get(node, reader!, post)).status, 404)
            const { body, status } = yield* get(node, reader!, profile)
            assert.isTrue(status === 410 || (status === 200 && JSON.stringify(body).includes(`"suspended":true`)))
            assert.strictEqual((yield* get(node, bad!, "/api/v1/accounts/verify_credentials")).status, 403)
          }
          assert.strictEqual((yield* act(there, "unsuspend")).status, 200)
          yield* Effect.sleep(heardMillisMax)
        }
        for (const node of [here, there]) {
          assert.strictEqual((yield* get(node, reader!, post)).status, 200)
          assert.strictEqual((yield* get(node, bad!, "/api/v1/accounts/verify_credentials")).status, 200)
        }

        // A role that changes on one node is no other one on the other.
        const roles = "/api/v1/admin/roles"
        const { body: role } = yield* request(here, moderator!, roles, {
          method: "POST",
          form: { name: "Roles", position: "5", permissions: String(1 << 17) }
        })
        yield* sql`UPDATE users SET role_id = ${BigInt(idOf(role))} WHERE account_id = ${reader!.id}`
        yield* Effect.sleep(heardMillisMax)
        const change = (permissions: number) =>
          request(here, moderator!, `${roles}/${idOf(role)}`, {
            method: "PUT",
            form: { permissions: String(permissions) }
          })
        for (const [bits, status] of [[0, 403], [1 << 17, 200], [0, 403]] as const) {
          assert.strictEqual((yield* change(bits)).status, 200)
          yield* Effect.sleep(heardMillisMax)
          for (const node of [here, there]) assert.strictEqual((yield* get(node, reader!, roles)).status, status)
        }
      })),
    180_000
  )
})
