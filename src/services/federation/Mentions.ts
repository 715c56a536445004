import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { handle, tokens } from "../html/TextTokens.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { namedBy } from "../statuses/Drafts.ts"
import { RemoteActors } from "./RemoteActors.ts"

/** Maximum unknown accounts that are looked up for one text, and how long its author waits, in seconds. */
const unknownMax = 10
const mentionSecondsMax = 3

/**
 * Accounts that a text mentions. They are looked up before the post is written; the write itself resolves mentions in
 * the database only.
 */
export class Mentions extends Context.Service<Mentions, {
  /**
   * Looks up mentioned accounts that are not known here. Never fails: an account that is not found is not mentioned.
   */
  readonly introduce: (text: string) => Effect.Effect<void>
}>()("murmuration/services/federation/Mentions") {
  static readonly layerNoDeps = Layer.effect(
    Mentions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const actors = yield* RemoteActors
      const { federated, localDomain } = yield* ServerConfig

      const remoteHandles = (text: string) => {
        const handles = new Set<string>()
        for (const token of text.includes("@") ? tokens(text) : []) {
          if (token.kind !== "mention" || token.domain === undefined || handles.size >= unknownMax) continue
          const named = handle(token.username, token.domain)
          if (!named.endsWith(`@${localDomain}`)) handles.add(named)
        }
        return handles
      }

      const introduce = traced("Mentions.introduce")(function*(text: string) {
        const handles = federated ? remoteHandles(text) : new Set<string>()
        if (handles.size === 0) return
        const known = yield* Effect.orDie(namedBy(sql, handles))
        for (const { domain, username } of known) handles.delete(handle(username, domain ?? undefined))
        yield* Effect.forEach(handles, (one) => Effect.ignore(actors.findByHandle(one)), {
          concurrency: "unbounded",
          discard: true
        }).pipe(Effect.timeoutOrElse({ duration: `${mentionSecondsMax} seconds`, orElse: () => Effect.void }))
      })
      return Mentions.of({ introduce })
    })
  )
  static readonly layer = Mentions.layerNoDeps.pipe(Layer.provide(RemoteActors.layer))
}
