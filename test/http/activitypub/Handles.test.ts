import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, newPerson } from "../../support/Api.ts"
import { eventually } from "./Exchange.ts"
import { actorOf, there } from "./InboxCalls.ts"
import { OtherServer, send, servers } from "./Sending.ts"

layer(servers, { excludeTestServices: true })("handles of other servers", (it) => {
  const follower = (name: string) =>
    Effect.gen(function*() {
      const anna = yield* newPerson(`anna${name}`)
      const zoe = yield* there(name)
      const { documents, domain, fingers } = yield* OtherServer
      const resource = `acct:${name}@${domain}`
      const finger = fingers.get(resource)
      return { anna, zoe, documents, domain, fingers, resource, finger }
    })
  const errands = SqlClient.SqlClient.use((sql) =>
    sql<{ tries: number }>`SELECT tries FROM errands WHERE kind = 'profile'`
  )

  it.effect("row 12: an account first seen while its host is down gets its handle later", () =>
    Effect.gen(function*() {
      const { anna, domain, finger, fingers, resource, zoe } = yield* follower("zoe")
      fingers.set(resource, (_, response) => response.writeHead(503).end())
      yield* send(zoe, { type: "Follow", object: yield* actorOf(anna) })
      const shown = Effect.map(json(anna, "/api/v1/notifications"), ([first]) => first?.account.acct)
      assert.include(yield* eventually(shown), "@handle.invalid")
      fingers.set(resource, finger ?? {})
      yield* SqlClient.SqlClient.use((sql) => sql`UPDATE errands SET due_at = ${new Date()}`)
      yield* eventually(Effect.map(shown, (acct) => acct === `zoe@${domain}` ? true : undefined))
      yield* eventually(Effect.map(errands, ({ length }) => length === 0 ? true : undefined))
    }))

  it.effect("row 12: an account that its host denies is not looked up again", () =>
    Effect.gen(function*() {
      const { anna, fingers, resource, zoe } = yield* follower("zed")
      fingers.delete(resource)
      yield* send(zoe, { type: "Follow", object: yield* actorOf(anna) })
      yield* eventually(Effect.map(json(anna, "/api/v1/notifications"), ([first]) => first?.account.acct))
      assert.deepStrictEqual(yield* errands, [])
    }))
})
