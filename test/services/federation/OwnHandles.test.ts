import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { RemoteActors } from "../../../src/services/federation/RemoteActors.ts"
import { peer, remote } from "./Peer.ts"

const find = (uri: string) => RemoteActors.use(({ find }) => find(uri))
const refresh = (uri: string) => RemoteActors.use(({ refresh }) => refresh(uri))
const row = (uri: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ username: string; domain: string }>`SELECT username, domain FROM accounts WHERE uri = ${uri}`
  ).pipe(
    Effect.map(([found]) => found)
  )

layer(remote, { excludeTestServices: true })("handles of actors", (it) => {
  it.effect("F83: an actor's own handle takes precedence over its name, if its domain confirms it (FEP-2c59)", () =>
    Effect.gen(function*() {
      const [web, local] = [yield* peer, yield* peer]
      const handle = `zoe@${local.domain}`
      const zoe = yield* web.actor("u1", { webfinger: handle })
      local.fingers.set(`acct:${handle}`, local.finger("zoe", zoe.id))
      yield* find(zoe.id)
      assert.deepInclude(yield* row(zoe.id), { username: "zoe", domain: local.domain })
      // `preferredUsername` is not needed.
      const yan = yield* web.actor("u2", { webfinger: `yan@${local.domain}`, preferredUsername: undefined })
      local.fingers.set(`acct:yan@${local.domain}`, local.finger("yan", yan.id))
      yield* find(yan.id)
      assert.deepInclude(yield* row(yan.id), { username: "yan", domain: local.domain })
      // A handle that resolves to another account is not accepted.
      const eve = yield* web.actor("u3", { webfinger: handle })
      yield* find(eve.id)
      assert.deepInclude(yield* row(eve.id), { domain: "handle.invalid" })
      for (const webfinger of ["a@local.example", "no handle", 5, ["zoe"]]) {
        const one = yield* web.actor(`odd${String(webfinger).length}`, { webfinger })
        yield* find(one.id)
        assert.isDefined(yield* row(one.id))
      }
    }))

  it.effect("F84: an account is deleted when its handle's domain replies 410", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const gone = (name: string) =>
        there.fingers.set(`acct:${name}@${there.domain}`, (_, response) => response.writeHead(410).end())
      const [asked, refreshed, other] = [
        yield* there.actor("asked"),
        yield* there.actor("refreshed"),
        yield* there.actor("other")
      ]
      for (const { id } of [asked, refreshed, other]) yield* find(id)
      gone("asked")
      gone("refreshed")
      yield* Effect.flip(RemoteActors.use(({ findByHandle }) => findByHandle(`asked@${there.domain}`)))
      yield* Effect.flip(refresh(refreshed.id))
      assert.isUndefined(yield* row(asked.id))
      assert.isUndefined(yield* row(refreshed.id))
      // A 404 does not mean a deleted account.
      there.fingers.delete(`acct:other@${there.domain}`)
      yield* Effect.flip(RemoteActors.use(({ findByHandle }) => findByHandle(`other@${there.domain}`)))
      yield* refresh(other.id)
      assert.isDefined(yield* row(other.id))
    }))
})
