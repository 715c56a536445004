import { Clock, Context, Effect, Layer, Result } from "effect"
import { ServerConfig } from "../instance/ServerConfig.ts"
import type { OutboundError } from "../outbound/OutboundError.ts"
import { traced } from "../runtime/Traced.ts"
import { type ForeignActor, foreignActor } from "./documents/ForeignActor.ts"
import { urlReader } from "./documents/ForeignValues.ts"
import { normalizeDomain, parseHandle } from "./DomainNames.ts"
import { withKeys } from "./KeyDocuments.ts"
import * as NewHosts from "./NewHosts.ts"
import { type FetchedDocument, Implausible, isTemporary, ObjectFetcher } from "./ObjectFetcher.ts"
import { type RemoteAccount, RemoteAccounts } from "./RemoteAccounts.ts"
import { KeyOperations, rsaBitsMax, rsaBitsMin } from "./signatures/KeyOperations.ts"
import * as SingleFlight from "./SingleFlight.ts"
import { WebFingers } from "./WebFingers.ts"

/** Maximum age of a profile before it is fetched again, in milliseconds. */
export const profileMillisMax = 24 * 3_600_000
/** Maximum concurrent look-ups that are shared by all their callers. */
export const underWayMax = 10_000

export type RemoteError = OutboundError | Implausible

/** Returns true for the status that means a deleted account (federation.md section 1). */
const isGone = (error: RemoteError): boolean => error._tag === "ErrorResponse" && error.status === 410

/** Finds, fetches and stores accounts of other servers. Concurrent callers for one account share a fetch. */
export class RemoteActors extends Context.Service<RemoteActors, {
  /** Returns the stored account with this id; fetches it if unknown. */
  readonly find: (uri: string) => Effect.Effect<RemoteAccount, RemoteError>
  /** Fetches and stores the account, even if it is known. */
  readonly refresh: (uri: string) => Effect.Effect<RemoteAccount, RemoteError>
  /** Returns the stored account of a document that was just fetched; stores it if unknown. */
  readonly keep: (found: FetchedDocument) => Effect.Effect<RemoteAccount, RemoteError>
  /**
   * Stores an account from a document that was fetched at `fetchedMillis` (since 1970), unless the stored one is newer.
   */
  readonly renew: (found: FetchedDocument, fetchedMillis: number) => Effect.Effect<RemoteAccount, RemoteError>
  /** Finds the account behind `name@domain`. */
  readonly findByHandle: (handle: string) => Effect.Effect<RemoteAccount, RemoteError>
}>()("murmuration/services/federation/RemoteActors") {
  static readonly layerNoDeps = Layer.effect(
    RemoteActors,
    Effect.gen(function*() {
      const accounts = yield* RemoteAccounts
      const fetcher = yield* ObjectFetcher
      const fingers = yield* WebFingers
      const keys = yield* KeyOperations
      const { localDomain, outboundAllow, publicUrl } = yield* ServerConfig
      const ours = new Set([localDomain, new URL(publicUrl).host])
      const readUrl = urlReader(outboundAllow)
      const newHosts = NewHosts.make()
      const shared = yield* SingleFlight.make<RemoteAccount, RemoteError>(underWayMax)

      /**
       * Returns the handle that both the actor's own domain and the handle's domain confirm (row 12); "later" if that
       * cannot be determined now.
       */
      const confirmed = Effect.fnUntraced(function*(actor: ForeignActor) {
        const domain = normalizeDomain(actor.id.host)
        const named = actor.handle ?? (domain === undefined ? undefined : { username: actor.username, domain })
        if (named === undefined || ours.has(named.domain)) return undefined
        const found = yield* Effect.result(fingers.resolve(named.username, named.domain))
        if (Result.isFailure(found)) {
          return isGone(found.failure) ? "gone" : isTemporary(found.failure) ? "later" : undefined
        }
        if (found.success.actor.href !== actor.id.href || ours.has(found.success.domain)) return undefined
        // Keeps the actor's own spelling if it differs only in case.
        const { domain: handleDomain, username } = found.success
        const same = username.toLowerCase() === named.username.toLowerCase()
        return { username: same ? named.username : username, domain: handleDomain }
      })

      const usable = (actor: ForeignActor) =>
        Effect.filter(actor.keys, ({ publicPem }) =>
          Effect.match(keys.kind(publicPem), {
            onFailure: () => false,
            onSuccess: ({ bits, type }) => type === "ed25519" || (bits >= rsaBitsMin && bits <= rsaBitsMax)
          }))

      const fetched = Effect.fnUntraced(function*(uri: string) {
        const began = yield* Clock.currentTimeMillis
        const { document, id } = yield* fetcher.fetch(uri).pipe(
          Effect.tapErrorTag("ErrorResponse", (error) => isGone(error) ? accounts.purgeDeleted(uri) : Effect.void)
        )
        return yield* stored({ document, id }, began)
      })

      const stored = Effect.fnUntraced(function*(found: FetchedDocument, fetchedMillis: number) {
        const { document, id } = yield* withKeys(fetcher, found)
        const uri = id.href
        const actor = foreignActor(document, id, readUrl)
        if (actor === undefined) return yield* new Implausible({ url: uri, reason: "not an actor" })
        const handle = yield* confirmed(actor)
        if (handle === "gone") {
          yield* accounts.purgeDeleted(uri)
          return yield* new Implausible({ url: uri, reason: "its domain says that it was deleted" })
        }
        const later = handle === "later"
        const withUsableKeys = { ...actor, keys: yield* usable(actor) }
        yield* accounts.store(withUsableKeys, later ? undefined : handle, { fetchedMillis, later })
        const known = yield* accounts.byUri(uri)
        return known ?? (yield* new Implausible({ url: uri, reason: "it was deleted" }))
      })

      /** Counts a new account's host against the limit of new hosts. */
      const admitted = Effect.fnUntraced(function*(uri: string) {
        const known = yield* accounts.byUri(uri)
        if (known === undefined && !(yield* newHosts.admit(URL.parse(uri)?.hostname ?? ""))) {
          return yield* new Implausible({ url: uri, reason: "too many new hosts of one domain" })
        }
      })

      const refresh = traced("RemoteActors.refresh")((uri: string) =>
        shared(uri, Effect.andThen(admitted(uri), fetched(uri)))
      )

      const find = traced("RemoteActors.find")(function*(uri: string) {
        return (yield* accounts.byUri(uri)) ?? (yield* refresh(uri))
      })

      const findByHandle = traced("RemoteActors.findByHandle")(function*(text: string) {
        const handle = parseHandle(text)
        if (handle === undefined || ours.has(handle.domain)) {
          return yield* new Implausible({ url: text, reason: "not a handle of another server" })
        }
        const { actor } = yield* fingers.resolve(handle.username, handle.domain).pipe(
          Effect.tapErrorTag("ErrorResponse", (error) => isGone(error) ? accounts.purgeDeleted(handle) : Effect.void)
        )
        return yield* find(actor.href)
      })

      return RemoteActors.of({
        find,
        refresh,
        keep: traced("RemoteActors.keep")(function*(found: FetchedDocument) {
          const uri = found.id.href
          const now = yield* Clock.currentTimeMillis
          return (yield* accounts.byUri(uri)) ?? (yield* shared(uri, Effect.andThen(admitted(uri), stored(found, now))))
        }),
        renew: traced("RemoteActors.renew")((found: FetchedDocument, fetchedMillis: number) => {
          const uri = found.id.href
          return shared(uri, Effect.andThen(admitted(uri), stored(found, fetchedMillis)))
        }),
        findByHandle
      })
    })
  )
  static readonly layer = RemoteActors.layerNoDeps.pipe(
    Layer.provide([ObjectFetcher.layer, RemoteAccounts.layer, WebFingers.layer])
  )
}
