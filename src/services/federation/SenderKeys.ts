import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import * as Cache from "../caching/Cache.ts"
import { Changes } from "../caching/Changes.ts"
import { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { hashedKey } from "../secrets/HashedKey.ts"
import * as ActorLookups from "./ActorLookups.ts"
import type { ForeignActor } from "./documents/ForeignActor.ts"
import { keysMax } from "./documents/ForeignKeys.ts"
import { urlReader } from "./documents/ForeignValues.ts"
import { DomainPolicies } from "./domains/DomainPolicies.ts"
import { type Crowded, InboxSlots } from "./InboxSlots.ts"
import { ObjectFetcher } from "./ObjectFetcher.ts"
import { RemoteActors } from "./RemoteActors.ts"
import { Unverified } from "./signatures/SignedRequest.ts"
import { WebFingers } from "./WebFingers.ts"

/** Maximum senders in memory, and maximum characters of a key id. */
const sendersMax = 20_000
const keyIdCharactersMax = 2_048
/** Lifetime of a cached key, in milliseconds. */
const keptMillisMax = 60_000

/** The key could not be fetched; the sender may retry. */
export class KeyUnavailable extends Schema.TaggedError<KeyUnavailable>()("KeyUnavailable", { keyId: Schema.String }) {
  override get message() {
    return `Unable to fetch key ${this.keyId}`
  }
}

/** Nothing is accepted from the sender's server: it is suspended here or, in limited federation, not on the list. */
export class DomainClosed extends Schema.TaggedError<DomainClosed>()("DomainClosed", {}) {
  override get message() {
    return "This action is not allowed"
  }
}

/** Account that signed a request or document: its document lists the key, and the key names it as its owner (row 2). */
const Sender = Schema.Struct({
  accountId: AccountId,
  uri: Schema.String,
  /** Domain of the handle. */
  domain: Schema.String,
  suspended: Schema.Boolean
})
export type Sender = typeof Sender.Type

/** Signature to verify: the id of its key, and a function that checks it with a public key in PEM. */
interface SignedBy {
  readonly keyId: string
  readonly isSignedBy: (publicPem: string) => Effect.Effect<boolean>
  /** Requester's address; absent if unknown. */
  readonly address: string | undefined
  /** Maximum seconds to wait for an unknown key; fails with `KeyUnavailable` after that. */
  readonly secondsMax?: number | undefined
}

const KnownKey = Schema.Struct({ ...Sender.fields, publicPem: Schema.String })
const keyRows = rowsOf(KnownKey)
const fetchedRows = rowsOf(Schema.Struct({ fetchedAt: Timestamptz }))

interface KnownSender extends Sender {
  readonly publicPems: ReadonlyArray<string>
}

/** Returns the keys that a key id means: the key itself, or all of them if it is the actor's id or handle. */
const keysNamed = (keyId: string, { id, keys }: ForeignActor): ReadonlyArray<string> => {
  const exact = keys.filter((key) => key.keyId === keyId)
  const named = exact.length > 0 || (keyId !== id.href && ActorLookups.handleIn(keyId) === undefined) ? exact : keys
  return named.map(({ publicPem }) => publicPem)
}

/** Finds the account whose key made a signature. Signed content must not be trusted before that. */
export class SenderKeys extends Context.Service<SenderKeys, {
  readonly find: (
    signature: SignedBy
  ) => Effect.Effect<Sender, Unverified | KeyUnavailable | DomainClosed | Crowded>
}>()("murmuration/services/federation/SenderKeys") {
  static readonly layerNoDeps = Layer.effect(
    SenderKeys,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { outboundAllow } = yield* ServerConfig
      const actors = yield* RemoteActors
      const domains = yield* DomainPolicies
      const readUrl = urlReader(outboundAllow)
      // Keyed by `hashedKey` of the key id, as its owner may choose it.
      const cache = yield* Cache.make<string, KnownSender>({
        rows: ({ accountId }) => [["account", accountId], ["user", accountId]],
        max: { entries: sendersMax },
        millisMax: keptMillisMax,
        aloneMillisMax: keptMillisMax
      })
      const lookUp = yield* ActorLookups.make

      const storedWhere = Effect.fnUntraced(function*(condition: Fragment) {
        const rows = yield* keyRows(sql`
          SELECT k.account_id, a.uri, a.domain, a.suspended_at IS NOT NULL AS suspended, k.public_pem
          FROM remote_keys k JOIN accounts a ON a.id = k.account_id WHERE ${condition} LIMIT ${rowsMax(sql, keysMax)}`)
        const [first] = rows
        // If several accounts list the key, the document at its id decides.
        if (rows.some(({ accountId }) => accountId !== first?.accountId)) return undefined
        return first && { ...first, publicPems: rows.map(({ publicPem }) => publicPem) } satisfies KnownSender
      }, Effect.orDie)

      /**
       * `uri` is the account's id, if the origin said whose key it is. Without it, a key is an account's if its id is in
       * the account's document or below it: any account of the server may list any key, its own first.
       */
      const stored = Effect.fnUntraced(function*(keyId: string, uri?: string) {
        const [place] = keyId.split("#")
        const own = yield* storedWhere(sql`k.key_id = ${keyId} AND a.uri = ${uri ?? place}`)
        const exact = own ?? (uri !== undefined ? undefined : yield* storedWhere(
          sql`k.key_id = ${keyId} AND starts_with(k.key_id, a.uri || '/')`
        ))
        if (exact !== undefined) return exact
        const handle = ActorLookups.handleIn(keyId)
        if (uri !== undefined || handle === undefined) {
          return keyId.includes("#") ? undefined : yield* storedWhere(sql`a.uri = ${uri ?? keyId}`)
        }
        return yield* storedWhere(sql`lower(a.username) = ${handle.username.toLowerCase()}
          AND lower(coalesce(a.domain, '')) = ${handle.domain}`)
      })

      /** Returns the time of the actor document's last fetch, in milliseconds since 1970. */
      const storedAt = Effect.fnUntraced(function*(uri: string) {
        const [row] = yield* fetchedRows(
          sql`SELECT r.fetched_at FROM remote_actors r JOIN accounts a ON a.id = r.account_id
          WHERE a.uri = ${uri}`
        )
        return row?.fetchedAt.getTime() ?? -Infinity
      }, Effect.orDie)

      /** Looks up a key at its origin. A cached look-up that is older than the stored actor is repeated. */
      const lookedUp = Effect.fnUntraced(
        function*(keyId: string, address: string | undefined, known: KnownSender | undefined) {
          const first = yield* lookUp(keyId, address)
          if (first.found === "away" || first.found === undefined) return { ...first, publicPems: [] }
          const publicPems = keysNamed(keyId, first.found.actor)
          const since = publicPems.every((pem) => known?.publicPems.includes(pem) === true)
            ? -Infinity
            : yield* storedAt(first.found.actor.id.href)
          if (first.at >= since) return { ...first, publicPems }
          const renewed = yield* lookUp(keyId, address, since)
          return {
            ...renewed,
            publicPems: typeof renewed.found === "object" ? keysNamed(keyId, renewed.found.actor) : []
          }
        }
      )

      const unverified = (text: string) => new Unverified({ text, malformed: false })

      const isSignedByAny = Effect.fnUntraced(function*({ isSignedBy }: SignedBy, publicPems: ReadonlyArray<string>) {
        for (const pem of publicPems) {
          if (yield* isSignedBy(pem)) return true
        }
        return false
      })

      /**
       * Verifies with the key that its origin serves now. Nothing is stored or refreshed unless the signature is valid.
       */
      const proven = Effect.fnUntraced(
        function*(signature: SignedBy, known: KnownSender | undefined) {
          const { address, keyId } = signature
          const { at, found, proven, publicPems } = yield* lookedUp(keyId, address, known)
          if (found === "away") return yield* new KeyUnavailable({ keyId })
          if (found === undefined || publicPems.length === 0) {
            return yield* unverified(
              known === undefined ? `Public key not found for key ${keyId}` : `Verification failed for ${known.uri}`
            )
          }
          if (!(yield* isSignedByAny(signature, publicPems))) {
            return yield* unverified(`Verification failed for ${found.actor.id.href}`)
          }
          proven()
          yield* Effect.catchTags(actors.renew(found.fetched, at), {
            Unreachable: () => new KeyUnavailable({ keyId }),
            ErrorResponse: () => new KeyUnavailable({ keyId }),
            Implausible: () => unverified(`Public key not found for key ${keyId}`),
            Refused: () => unverified(`Public key not found for key ${keyId}`)
          })
          return (yield* cache.renew(hashedKey(keyId), stored(keyId, found.actor.id.href))) ??
            (yield* unverified(`Public key not found for key ${keyId}`))
        }
      )

      const find = traced("SenderKeys.find")(function*(signature: SignedBy) {
        const { keyId, secondsMax } = signature
        if (keyId.length > keyIdCharactersMax) return yield* unverified("Public key not found: its id is too long")
        const host = ActorLookups.handleIn(keyId)?.domain ?? readUrl(keyId)?.host
        if (host !== undefined && !(yield* domains.isAllowed(host))) return yield* new DomainClosed()
        const known = yield* cache.get(hashedKey(keyId), stored(keyId))
        if (known !== undefined && (yield* isSignedByAny(signature, known.publicPems))) return known
        const { withoutSlot } = yield* InboxSlots
        const search = proven(signature, known)
        return yield* withoutSlot(
          secondsMax === undefined ? search : Effect.timeoutOrElse(search, {
            duration: `${secondsMax} seconds`,
            orElse: () => new KeyUnavailable({ keyId })
          })
        )
      })
      return SenderKeys.of({ find })
    })
  ).pipe(Layer.provide(Changes.layer))
  static readonly layer = SenderKeys.layerNoDeps.pipe(
    Layer.provide([DomainPolicies.layer, ObjectFetcher.layer, RemoteActors.layer, WebFingers.layer])
  )
}
