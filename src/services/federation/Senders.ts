import { Clock, Context, Effect, Layer, PubSub, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { boundedMap } from "../BoundedMap.ts"
import { Broadcast } from "../Broadcast.ts"
import { hashedKey } from "../HashedKey.ts"
import { AccountId } from "../Ids.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../Traced.ts"
import * as ActorLookups from "./ActorLookups.ts"
import { urlReader } from "./documents/Reading.ts"
import { DomainPolicies } from "./domains/DomainPolicies.ts"
import { RemoteActors } from "./RemoteActors.ts"
import { Signatures } from "./signatures/Signatures.ts"
import { type Claim, type SignedRequest, Unverified } from "./signatures/SignedRequest.ts"

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
export interface Sender {
  readonly accountId: AccountId
  readonly uri: string
  /** Of the handle. */
  readonly domain: string
  readonly suspended: boolean
}

/** A sender whose signature holds, and when that was made, in milliseconds since 1970. */
interface Verified extends Sender {
  readonly signedMillis: number
}

interface KnownKey extends Sender {
  readonly publicPem: string
}

/** Finds out who signed a request; nothing of the request is believed before. */
export class Senders extends Context.Service<Senders, {
  readonly verify: (request: SignedRequest) => Effect.Effect<Verified, Unverified | KeyUnavailable | DomainClosed>
}>()("murmuration/services/federation/Senders") {
  static readonly layer = Layer.effect(
    Senders,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { outboundAllow } = yield* ServerConfig
      const actors = yield* RemoteActors
      const domains = yield* DomainPolicies
      const signatures = yield* Signatures
      const readUrl = urlReader(outboundAllow)
      // By `hashedKey` of a key's id, which its owner may choose.
      const kept = boundedMap<string, { readonly key: KnownKey; readonly loadedAt: number }>(keysMax)
      const keyOf = boundedMap<bigint, string>(keysMax)
      const look = yield* ActorLookups.make

      // A changed account may have other keys, or be suspended or gone.
      const forget = (accountIds: ReadonlyArray<bigint>) => {
        for (const id of accountIds) kept.delete(keyOf.get(id) ?? "")
      }
      const subscription = yield* (yield* Broadcast).subscribe
      yield* PubSub.take(subscription).pipe(
        Effect.tap((message) =>
          Effect.sync(() => {
            if (message._tag === "Revoked") forget(message.accountIds)
            if (message._tag === "Changed" && (message.kind === "account" || message.kind === "user")) {
              forget(message.ids)
            }
          })
        ),
        Effect.forever,
        Effect.forkScoped
      )

      const stored = Effect.fnUntraced(function*(keyId: string) {
        const now = yield* Clock.currentTimeMillis
        const place = hashedKey(keyId)
        const known = kept.get(place)
        if (known !== undefined && now - known.loadedAt < keptMillisMax && now >= known.loadedAt) return known.key
        const [row] = yield* sql<KnownKey>`
          SELECT k.account_id, a.uri, a.domain, a.suspended_at IS NOT NULL AS suspended, k.public_pem
          FROM remote_keys k JOIN accounts a ON a.id = k.account_id WHERE k.key_id = ${keyId}`
        if (row === undefined) return undefined
        const key = { ...row, accountId: AccountId.make(row.accountId) }
        kept.set(place, { key, loadedAt: now })
        keyOf.set(key.accountId, place)
        return key
      }, Effect.orDie)

      const unverified = (text: string) => new Unverified({ text, malformed: false })

      /** By what the origin of the key says now. Nobody is stored, or looked at anew, but whose signature holds by that. */
      const proven = Effect.fnUntraced(
        function*(claim: Claim, address: string | undefined, known: KnownKey | undefined) {
          const { keyId } = claim
          const { found, proven } = yield* look(keyId, address)
          if (found === "away") return yield* new KeyUnavailable({ keyId })
          const key = found?.actor.keys.find((one) => one.keyId === keyId)
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
          kept.delete(hashedKey(keyId))
          return (yield* stored(keyId)) ?? (yield* unverified(`Public key not found for key ${keyId}`))
        }
      )

      const verify = traced("Senders.verify")(function*(request: SignedRequest) {
        const claim = yield* signatures.claim(request)
        const { keyId, signedMillis } = claim
        if (keyId.length > keyIdCharactersMax) return yield* unverified("Public key not found: its id is too long")
        const host = readUrl(keyId)?.host
        if (host !== undefined && !(yield* domains.isAllowed(host))) return yield* new DomainClosed()
        const known = yield* stored(keyId)
        if (known !== undefined && (yield* signatures.holds(claim, known.publicPem))) return { ...known, signedMillis }
        return { ...(yield* proven(claim, request.address, known)), signedMillis }
      })
      return Senders.of({ verify })
    })
  )
}
