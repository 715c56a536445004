import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Cache from "../caching/Cache.ts"
import { Changes } from "../caching/Changes.ts"
import { hashedKey } from "../HashedKey.ts"
import { AccountId } from "../Ids.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { rowsOf, Timestamptz } from "../Rows.ts"
import { traced } from "../Traced.ts"
import * as ActorLookups from "./ActorLookups.ts"
import { urlReader } from "./documents/Reading.ts"
import { DomainPolicies } from "./domains/DomainPolicies.ts"
import { ObjectFetcher } from "./ObjectFetcher.ts"
import { RemoteActors } from "./RemoteActors.ts"
import { Signatures } from "./signatures/Signatures.ts"
import { type Claim, type SignedRequest, Unverified } from "./signatures/SignedRequest.ts"
import { type Crowded, Strangers } from "./Strangers.ts"

/** Keys in memory, and characters of a key's id. */
const keysMax = 20_000
const keyIdCharactersMax = 2_048
/** How long a key in memory is believed, in milliseconds. */
const keptMillisMax = 60_000

/** The key could not be fetched; the sender may come back. */
class KeyUnavailable extends Schema.TaggedError<KeyUnavailable>()("KeyUnavailable", { keyId: Schema.String }) {
  override get message() {
    return `Unable to fetch key ${this.keyId}`
  }
}

/** Nothing is taken from the sender's server: it is suspended here or, in limited federation, not on the list. */
class DomainClosed extends Schema.TaggedError<DomainClosed>()("DomainClosed", {}) {
  override get message() {
    return "This action is not allowed"
  }
}

/** Who signed a request: its key belongs to the account, and the account's document lists it (row 2). */
const Sender = Schema.Struct({
  accountId: AccountId,
  uri: Schema.String,
  /** Of the handle. */
  domain: Schema.String,
  suspended: Schema.Boolean
})
export type Sender = typeof Sender.Type

/** A sender whose signature holds, and when that was made, in milliseconds since 1970. */
interface Verified extends Sender {
  readonly signedMillis: number
}

const KnownKey = Schema.Struct({ ...Sender.fields, publicPem: Schema.String })
type KnownKey = typeof KnownKey.Type
const keyRows = rowsOf(KnownKey)
const fetchedRows = rowsOf(Schema.Struct({ fetchedAt: Timestamptz }))

/** Finds out who signed a request; nothing of the request is believed before. */
export class Senders extends Context.Service<Senders, {
  /** `keySecondsMax` bounds the wait for a key that is not known here; `KeyUnavailable` after it. */
  readonly verify: (
    request: SignedRequest,
    keySecondsMax?: number
  ) => Effect.Effect<Verified, Unverified | KeyUnavailable | DomainClosed | Crowded>
}>()("murmuration/services/federation/Senders") {
  static readonly layerNoDeps = Layer.effect(
    Senders,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { outboundAllow } = yield* ServerConfig
      const actors = yield* RemoteActors
      const domains = yield* DomainPolicies
      const signatures = yield* Signatures
      const readUrl = urlReader(outboundAllow)
      // By `hashedKey` of a key's id, which its owner may choose.
      const kept = yield* Cache.make<string, KnownKey>({
        rows: ({ accountId }) => [["account", accountId], ["user", accountId]],
        max: { entries: keysMax },
        millisMax: keptMillisMax,
        aloneMillisMax: keptMillisMax
      })
      const look = yield* ActorLookups.make

      const stored = Effect.fnUntraced(function*(keyId: string) {
        const [row] = yield* keyRows(sql`
          SELECT k.account_id, a.uri, a.domain, a.suspended_at IS NOT NULL AS suspended, k.public_pem
          FROM remote_keys k JOIN accounts a ON a.id = k.account_id WHERE k.key_id = ${keyId}`)
        return row
      }, Effect.orDie)

      /** When the actor's document was taken over last, in milliseconds since 1970. */
      const storedAt = Effect.fnUntraced(function*(uri: string) {
        const [row] = yield* fetchedRows(
          sql`SELECT r.fetched_at FROM remote_actors r JOIN accounts a ON a.id = r.account_id
          WHERE a.uri = ${uri}`
        )
        return row?.fetchedAt.getTime() ?? -Infinity
      }, Effect.orDie)

      /** What the origin says of a key, as it was looked up; not where it said so before what is known by now. */
      const lookedUp = Effect.fnUntraced(
        function*(keyId: string, address: string | undefined, known: KnownKey | undefined) {
          const first = yield* look(keyId, address)
          if (first.found === "away" || first.found === undefined) return { ...first, key: undefined }
          const keyOf = ({ actor }: typeof first.found) => actor.keys.find((one) => one.keyId === keyId)
          const key = keyOf(first.found)
          const since = key === undefined || key.publicPem === known?.publicPem
            ? -Infinity
            : yield* storedAt(first.found.actor.id.href)
          if (first.at >= since) return { ...first, key }
          const again = yield* look(keyId, address, since)
          return { ...again, key: typeof again.found === "object" ? keyOf(again.found) : undefined }
        }
      )

      const unverified = (text: string) => new Unverified({ text, malformed: false })

      /** By what the origin of the key says now. Nobody is stored, or looked at anew, but whose signature holds by that. */
      const proven = Effect.fnUntraced(
        function*(claim: Claim, address: string | undefined, known: KnownKey | undefined) {
          const { keyId } = claim
          const { found, key, proven } = yield* lookedUp(keyId, address, known)
          if (found === "away") return yield* new KeyUnavailable({ keyId })
          if (found === undefined || key === undefined) {
            return yield* unverified(
              known === undefined ? `Public key not found for key ${keyId}` : `Verification failed for ${known.uri}`
            )
          }
          if (!(yield* signatures.holds(claim, key.publicPem))) {
            return yield* unverified(`Verification failed for ${found.actor.id.href}`)
          }
          proven()
          yield* Effect.catchTags(actors.renew(found.fetched), {
            Unreachable: () => new KeyUnavailable({ keyId }),
            Answered: () => new KeyUnavailable({ keyId }),
            Implausible: () => unverified(`Public key not found for key ${keyId}`),
            Refused: () => unverified(`Public key not found for key ${keyId}`)
          })
          return (yield* kept.renew(hashedKey(keyId), stored(keyId))) ??
            (yield* unverified(`Public key not found for key ${keyId}`))
        }
      )

      const verify = traced("Senders.verify")(function*(request: SignedRequest, keySecondsMax?: number) {
        const claim = yield* signatures.claim(request)
        const { keyId, signedMillis } = claim
        if (keyId.length > keyIdCharactersMax) return yield* unverified("Public key not found: its id is too long")
        const host = readUrl(keyId)?.host
        if (host !== undefined && !(yield* domains.isAllowed(host))) return yield* new DomainClosed()
        const known = yield* kept.get(hashedKey(keyId), stored(keyId))
        if (known !== undefined && (yield* signatures.holds(claim, known.publicPem))) return { ...known, signedMillis }
        const { aside } = yield* Strangers
        const look = proven(claim, request.address, known)
        const bounded = keySecondsMax === undefined
          ? look
          : Effect.timeoutOrElse(look, {
            duration: `${keySecondsMax} seconds`,
            orElse: () => new KeyUnavailable({ keyId })
          })
        return { ...(yield* aside(bounded)), signedMillis }
      })
      return Senders.of({ verify })
    })
  ).pipe(Layer.provide(Changes.layer))
  static readonly layer = Senders.layerNoDeps.pipe(
    Layer.provide([DomainPolicies.layer, ObjectFetcher.layer, RemoteActors.layer, Signatures.layer])
  )
}
