import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { boundedMap } from "../runtime/BoundedMap.ts"
import { traced } from "../runtime/Traced.ts"
import * as LocalIds from "./LocalIds.ts"
import { KeyOperations, type KeyPair } from "./signatures/KeyOperations.ts"
import type { SigningKey } from "./signatures/Signatures.ts"
import * as SingleFlight from "./SingleFlight.ts"

/** Maximum keys in memory. */
const keysMax = 10_000

/** Key of a local actor. Other servers read the public half in the actor's document. */
export interface OwnKey extends SigningKey {
  readonly publicPem: string
}

const pairRows = rowsOf(Schema.Struct({ publicPem: Schema.String, privatePem: Schema.String }))

/** Keys of local accounts and of the instance actor. Each is generated on first use and kept permanently. */
export class SigningKeys extends Context.Service<SigningKeys, {
  readonly ofAccount: (
    account: { readonly id: bigint; readonly actorPath: LocalIds.ActorPath }
  ) => Effect.Effect<OwnKey>
  readonly ofInstance: Effect.Effect<OwnKey>
}>()("murmuration/services/federation/SigningKeys") {
  static readonly layer = Layer.effect(
    SigningKeys,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const keys = yield* KeyOperations
      const kept = boundedMap<bigint, OwnKey>(keysMax)
      const once = yield* SingleFlight.make<KeyPair, never>(keysMax)

      const stored = (ownerId: bigint) =>
        pairRows(sql`
          SELECT public_pem, private_pem FROM signing_keys WHERE owner_id = ${ownerId}`)

      const made = Effect.fnUntraced(function*(ownerId: bigint) {
        const [found] = yield* stored(ownerId)
        if (found !== undefined) return found
        const pair = yield* keys.generate
        const createdAt = new Date(yield* Clock.currentTimeMillis)
        yield* sql`INSERT INTO signing_keys ${
          sql.insert({ ownerId, ...pair, createdAt })
        } ON CONFLICT (owner_id) DO NOTHING`
        // If two were generated concurrently, the stored one is used.
        const [first = pair] = yield* stored(ownerId)
        return first
      }, Effect.orDie)

      const of = Effect.fnUntraced(function*(ownerId: bigint, actor: string) {
        const known = kept.get(ownerId)
        if (known !== undefined) return known
        // Shared: an account's first post is delivered to many hosts at once, and generating a key is slow.
        const key: OwnKey = { ...(yield* once(String(ownerId), made(ownerId))), keyId: LocalIds.key(actor) }
        kept.set(ownerId, key)
        return key
      })

      return SigningKeys.of({
        ofAccount: traced("SigningKeys.ofAccount")(({ actorPath, id }: { id: bigint; actorPath: LocalIds.ActorPath }) =>
          of(id, LocalIds.actor(config, actorPath))
        ),
        ofInstance: of(0n, LocalIds.instanceActor(config))
      })
    })
  )
}
