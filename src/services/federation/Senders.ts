import { Clock, Context, Effect, Layer, PubSub, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { LRUCache } from "lru-cache"
import { Broadcast } from "../Broadcast.ts"
import { AccountId } from "../Ids.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../Traced.ts"
import { idOf, urlReader } from "./documents/Reading.ts"
import { DomainRules } from "./domains/DomainRules.ts"
import { Fetches } from "./Fetches.ts"
import { RemoteActors, underWayMax } from "./RemoteActors.ts"
import { Signatures } from "./signatures/Signatures.ts"
import { type SignedRequest, Unverified } from "./signatures/SignedRequest.ts"
import * as SingleFlight from "./SingleFlight.ts"

/** Keys in memory, and keys whose last look-up at the origin is remembered. */
const keysMax = 20_000
/** How often a key is looked up at its origin at most, in milliseconds (F27). */
export const lookUpMillisMin = 5 * 60_000
/** The same while the origin does not answer: it may be back soon, and until then whoever it speaks for is not heard. */
export const unavailableMillisMin = 60_000
/** How long a key in memory is believed, in milliseconds. */
const keptMillisMax = 60_000

/** The key could not be had; the sender may come back. */
export class KeyUnavailable extends Schema.TaggedError<KeyUnavailable>()("KeyUnavailable", { keyId: Schema.String }) {
  override get message() {
    return `Unable to fetch key ${this.keyId}`
  }
}

/** Nothing is taken from the sender's server: it is suspended here or, in limited federation, not on the list. */
export class DomainClosed extends Schema.TaggedError<DomainClosed>()("DomainClosed", {}) {
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
export interface Verified extends Sender {
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
      const domains = yield* DomainRules
      const fetches = yield* Fetches
      const signatures = yield* Signatures
      const readUrl = urlReader(outboundAllow)
      const kept = new LRUCache<string, { readonly key: KnownKey; readonly loadedAt: number }>({ max: keysMax })
      const keyOf = new LRUCache<bigint, string>({ max: keysMax })
      const once = yield* SingleFlight.make<void, KeyUnavailable>(underWayMax)
      const lookedUp = new LRUCache<string, { readonly at: number; available: boolean }>({ max: keysMax })

      // Whoever changed may have other keys by now, or be suspended or gone.
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
        const known = kept.get(keyId)
        if (known !== undefined && now - known.loadedAt < keptMillisMax && now >= known.loadedAt) return known.key
        const [row] = yield* sql<KnownKey>`
          SELECT k.account_id, a.uri, a.domain, a.suspended_at IS NOT NULL AS suspended, k.public_pem
          FROM remote_keys k JOIN accounts a ON a.id = k.account_id WHERE k.key_id = ${keyId}`
        if (row === undefined) return undefined
        const key = { ...row, accountId: AccountId.make(row.accountId) }
        kept.set(keyId, { key, loadedAt: now })
        keyOf.set(key.accountId, keyId)
        return key
      }, Effect.orDie)

      /**
       * The actor that a key names is fetched anew, with the keys that it lists. What is at the key's address is the actor
       * itself, or a key that names its owner.
       */
      const lookUp = Effect.fnUntraced(function*(keyId: string) {
        const now = yield* Clock.currentTimeMillis
        const before = lookedUp.get(keyId)
        const restMillis = before?.available === false ? unavailableMillisMin : lookUpMillisMin
        if (before !== undefined && now - before.at < restMillis && now >= before.at) {
          return before.available ? undefined : yield* new KeyUnavailable({ keyId })
        }
        const url = readUrl(keyId)
        if (url === undefined) return
        const look = { at: now, available: true }
        lookedUp.set(keyId, look)
        const unavailable = () => {
          look.available = false
          return new KeyUnavailable({ keyId })
        }
        yield* fetches.fetch(url.href).pipe(
          Effect.flatMap(({ document, id }) =>
            actors.refresh(idOf(document["owner"]) ?? idOf(document["controller"]) ?? id.href)
          ),
          Effect.catchTags({
            Unreachable: unavailable,
            Answered: ({ status }) => status >= 500 || status === 429 ? unavailable() : Effect.void,
            Implausible: () => Effect.void,
            Refused: () => Effect.void
          })
        )
        kept.delete(keyId)
      })

      const verify = traced("Senders.verify")(function*(request: SignedRequest) {
        const claim = yield* signatures.claim(request)
        const { keyId, signedMillis } = claim
        const host = readUrl(keyId)?.host
        if (host !== undefined && !(yield* domains.isAllowed(host))) return yield* new DomainClosed()
        const holds = (key: KnownKey | undefined) =>
          key === undefined ? Effect.succeed(false) : signatures.holds(claim, key.publicPem)
        const known = yield* stored(keyId)
        if (known !== undefined && (yield* holds(known))) return { ...known, signedMillis }
        yield* once(keyId, lookUp(keyId))
        const fresh = yield* stored(keyId)
        if (fresh === undefined) {
          return yield* new Unverified({ text: `Public key not found for key ${keyId}`, malformed: false })
        }
        return (yield* holds(fresh))
          ? { ...fresh, signedMillis }
          : yield* new Unverified({ text: `Verification failed for ${fresh.uri}`, malformed: false })
      })
      return Senders.of({ verify })
    })
  )
}
