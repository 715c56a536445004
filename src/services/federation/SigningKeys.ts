import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { boundedMap } from "../runtime/BoundedMap.ts"
import { traced } from "../runtime/Traced.ts"
import * as LocalIds from "./LocalIds.ts"
import { KeyOperations } from "./signatures/KeyOperations.ts"
import type { SigningKey } from "./signatures/Signatures.ts"
import * as SingleFlight from "./SingleFlight.ts"

/** Maximum keys in memory. */
const keysMax = 10_000

/** Key of a local actor. Other servers read the public half in the actor's document. */
export interface OwnKey extends SigningKey {
  readonly publicPem: string
}

/** Keys of a local actor: at least one. The first signs; other servers may verify with any. */
type OwnKeys = readonly [OwnKey, ...ReadonlyArray<OwnKey>]

/** Maximum keys of an actor; other servers read as many (federation.md section 3). */
const keysOfActorMax = 10

const StoredKey = Schema.Struct({ fragment: Schema.String, publicPem: Schema.String, privatePem: Schema.String })
type StoredKey = typeof StoredKey.Type
const keyRows = rowsOf(StoredKey)

/**
 * Keys of local accounts and of the instance actor. One is generated on first use and kept permanently; accounts that
 * come from another server bring theirs.
 */
export class SigningKeys extends Context.Service<SigningKeys, {
  readonly ofAccount: (
    account: { readonly id: bigint; readonly actorPath: LocalIds.ActorPath }
  ) => Effect.Effect<OwnKeys>
  readonly ofInstance: Effect.Effect<OwnKeys>
}>()("murmuration/services/federation/SigningKeys") {
  static readonly layer = Layer.effect(
    SigningKeys,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const keys = yield* KeyOperations
      const cache = boundedMap<bigint, OwnKeys>(keysMax)
      const shared = yield* SingleFlight.make<readonly [StoredKey, ...ReadonlyArray<StoredKey>], never>(keysMax)

      const stored = (ownerId: bigint) =>
        keyRows(sql`
          SELECT fragment, public_pem, private_pem FROM signing_keys WHERE owner_id = ${ownerId}
          ORDER BY created_at DESC, fragment LIMIT ${rowsMax(sql, keysOfActorMax)}`)

      const findOrCreate = Effect.fnUntraced(function*(ownerId: bigint) {
        const [found, ...others] = yield* stored(ownerId)
        if (found !== undefined) return [found, ...others] as const
        const pair = { ...(yield* keys.generate), fragment: LocalIds.mainKey }
        const createdAt = new Date(yield* Clock.currentTimeMillis)
        yield* sql`INSERT INTO signing_keys ${sql.insert({ ownerId, ...pair, createdAt })} ON CONFLICT DO NOTHING`
        // If two were generated concurrently, the stored one is used.
        const [first = pair] = yield* stored(ownerId)
        return [first] as const
      }, Effect.orDie)

      const of = Effect.fnUntraced(function*(ownerId: bigint, actor: string) {
        const known = cache.get(ownerId)
        if (known !== undefined) return known
        // Shared: an account's first post is delivered to many hosts at once, and generating a key is slow.
        const named = ({ fragment, ...pair }: StoredKey): OwnKey => ({ ...pair, keyId: LocalIds.key(actor, fragment) })
        const [first, ...others] = yield* shared(String(ownerId), findOrCreate(ownerId))
        const own: OwnKeys = [named(first), ...others.map(named)]
        cache.set(ownerId, own)
        return own
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
