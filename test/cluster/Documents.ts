import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"
import { peer } from "../services/federation/Peer.ts"
import { type Account, makeAccounts, type Node, request } from "./Nodes.ts"
import { TwoNodes } from "./TwoNodes.ts"

const search = (node: Node, by: Account, address: string) =>
  request(node, by, `/api/v2/search?resolve=true&q=${encodeURIComponent(address)}`)

/** Checks four concurrent lookups of one account, on two nodes. */
export const documents = Effect.scoped(Effect.gen(function*() {
  const nodes = yield* TwoNodes
  const [anna] = yield* makeAccounts(nodes[0].variables, ["anna"])
  const other = yield* peer
  /** Looks up an account twice on each node at the same time; the host responds when all have asked. */
  const lookUpTogether = Effect.fnUntraced(function*(name: string) {
    const { id } = yield* other.actor(name)
    const document = other.documents.get(`/users/${name}`)
    const [requested, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const respondOnRelease = (path: string, status: number, body: unknown) =>
      other.documents.set(path, (_, response) => {
        Effect.runFork(Effect.gen(function*() {
          yield* Deferred.succeed(requested, undefined)
          yield* Deferred.await(released)
          response.writeHead(status, { "content-type": "application/activity+json" }).end(JSON.stringify(body))
        }))
      })
    respondOnRelease(`/users/${name}`, 200, document)
    respondOnRelease(`/users/no-${name}`, 404, {})
    const addresses = [id, id, `${other.url}/users/no-${name}`, `${other.url}/users/no-${name}`]
    const searches = yield* Effect.forkChild(
      Effect.all(nodes.flatMap((node) => addresses.map((address) => search(node, anna!, address))), {
        concurrency: "unbounded"
      })
    )
    yield* Deferred.await(requested)
    // Separate requests would have arrived in this time; waiting callers cannot be observed.
    yield* Effect.promise(() => sleep(500))
    yield* Deferred.succeed(released, undefined)
    const found = (yield* Fiber.join(searches)).map(({ body }) => JSON.stringify(body).includes(`"username":"${name}"`))
    const times = (path: string) => other.requests.filter((one) => one.url === path).length
    return { found, requests: [times(`/users/${name}`), times(`/users/no-${name}`)] }
  })
  const wanted = { found: [true, true, false, false, true, true, false, false], requests: [1, 1] }
  // While the nodes divide the shards, a host may briefly have two actors, or none in the time of a search.
  for (let round = 0; round < 9; round++) {
    if (isDeepStrictEqual(yield* lookUpTogether(`zoe${round}`), wanted)) return
  }
  assert.deepStrictEqual(yield* lookUpTogether("zoe"), wanted)
}))
