import { Context, Effect, Layer } from "effect"
import { redisUrl } from "../support/RedisServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { type Node, startNode } from "./Nodes.ts"

/** Two nodes of a cluster. */
export class TwoNodes extends Context.Service<TwoNodes, readonly [Node, Node]>()("murmuration/test/cluster/TwoNodes") {
  static readonly layer = Layer.effect(
    TwoNodes,
    Effect.gen(function*() {
      const { url } = yield* TestDatabase
      const start = startNode(url, yield* redisUrl, {
        REGISTRATIONS: "open",
        SIGNUP_CONFIRMATION: "none",
        OUTBOUND_ALLOW: "127.0.0.0/8"
      })
      return TwoNodes.of(yield* Effect.all([start, start], { concurrency: "unbounded" }))
    })
  ).pipe(Layer.provideMerge(TestDatabase.layer))
}
