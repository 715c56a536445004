import { Context, Effect, Layer, Schema } from "effect"
import * as Allowances from "../../outbound/Allowances.ts"
import { briefCause } from "../../outbound/BriefCause.ts"
import { traced } from "../../runtime/Traced.ts"
import { type Foreign, idOf } from "../documents/ForeignValues.ts"
import { registrable } from "../NewHosts.ts"
import { refreshSecondsMax } from "./RefreshClaims.ts"
import { mayPass, type PostError, RemotePosts } from "./RemotePosts.ts"
import { Threads } from "./Threads.ts"

/**
 * Maximum checks that run or wait, in total and per registrable domain; further ones are not started. A domain gets at
 * most `freePartMax` of the free places, so that hosts which never reply leave some for others.
 */
const inquiriesMax = 2_000
const inquiriesPerOwnerMax = 100
const freePartMax = 1 / 20

/**
 * A check at an object's origin: `post` fetches it to store it; `news` fetches its newest version if a local account is
 * concerned; `deleted` and `gone` check that it no longer exists (`gone` also accepts a 404).
 */
export const OriginCheck = Schema.Struct({
  kind: Schema.Literals(["post", "news", "deleted", "gone"]),
  uri: Schema.String
})
export type OriginCheck = typeof OriginCheck.Type

/**
 * An activity must wait for a check at an object's origin, which cannot run inside a transaction. `underWay`: the
 * origin sends the object itself, so it will arrive even if a request for it is refused.
 */
export class NeedsFetch extends Schema.TaggedError<NeedsFetch>()("NeedsFetch", {
  originCheck: OriginCheck,
  underWay: Schema.optionalKey(Schema.Boolean)
}) {
  override get message() {
    return `${this.originCheck.uri} must be fetched from its origin`
  }
}

/** Result: yes, permanently no, or not known yet. */
type Verdict =
  | { readonly _tag: "Yes" }
  | { readonly _tag: "No"; readonly why: string }
  | { readonly _tag: "Later" }

/**
 * Runs checks at objects' origins outside the actors that need the result. Actors repeat checks that are lost with a
 * node.
 */
export class OriginChecks extends Context.Service<OriginChecks, {
  /** Starts a check without waiting; `then` gets the verdict. Does nothing beyond the limits. */
  readonly begin: (inquiry: OriginCheck, then: (verdict: Verdict) => Effect.Effect<void>) => Effect.Effect<void>
  /** Starts fetching a new post's parents and first replies. */
  readonly fetchThread: (post: Foreign) => Effect.Effect<void>
}>()("murmuration/services/federation/fetching/OriginChecks") {
  /** Without a network: every activity waits. */
  static readonly layerNone = Layer.succeed(OriginChecks, { begin: () => Effect.void, fetchThread: () => Effect.void })

  static readonly layerNoDeps = Layer.effect(
    OriginChecks,
    Effect.gen(function*() {
      const posts = yield* RemotePosts
      const threads = yield* Threads
      const scope = yield* Effect.scope
      const owners = new Map<string, number>()
      const allowances = Allowances.make()
      let underWay = 0

      const ask = ({ kind, uri }: OriginCheck): Effect.Effect<Verdict, PostError> => {
        switch (kind) {
          case "post":
            return Effect.as(
              Effect.tap(posts.refresh(uri, { asked: true }), ({ document }) => fetchThread(document)),
              yes
            )
          case "news":
            return Effect.as(posts.refresh(uri, { asked: false }), yes)
          case "deleted":
          case "gone":
            return Effect.map(posts.isGone(uri, kind === "gone"), (gone) => gone ? yes : no("it is still there"))
        }
      }

      const enter = (owner: string) => {
        const underWayOfOwner = owners.get(owner) ?? 0
        const share = Math.floor((inquiriesMax - underWay) * freePartMax)
        if (underWayOfOwner >= Math.min(inquiriesPerOwnerMax, share)) return false
        underWay++
        owners.set(owner, underWayOfOwner + 1)
        return true
      }
      const leave = (owner: string) => {
        underWay--
        const underWayOfOwner = owners.get(owner) ?? 0
        if (underWayOfOwner > 1) owners.set(owner, underWayOfOwner - 1)
        else owners.delete(owner)
      }

      /** Starts work at one owner's hosts in the background; does nothing beyond the limits. */
      const inBackground = (owner: string, cause: string, work: Effect.Effect<void>) =>
        Effect.suspend(() => {
          if (!enter(owner)) return Effect.void
          return work.pipe(
            allowances.within(cause),
            Effect.catchCause((cause) =>
              Effect.logWarning("fetching a forwarded activity from its origin failed", briefCause(cause))
            ),
            Effect.ensuring(Effect.sync(() => leave(owner))),
            Effect.forkIn(scope),
            Effect.asVoid
          )
        })
      const ownerOf = (uri: string | undefined) => registrable(URL.parse(uri ?? "")?.hostname ?? "")

      const begin = traced("OriginChecks.begin")(
        (inquiry: OriginCheck, then: (verdict: Verdict) => Effect.Effect<void>) =>
          ask(inquiry).pipe(
            Effect.catch((error) => Effect.succeed(verdictOf(error))),
            Effect.flatMap(then),
            (work) => inBackground(ownerOf(inquiry.uri), inquiry.uri, work)
          )
      )
      const fetchThread = traced("OriginChecks.fetchThread")((post: Foreign) =>
        post["inReplyTo"] === undefined && post["replies"] === undefined
          ? Effect.void
          : inBackground(
            ownerOf(idOf(post["inReplyTo"]) ?? idOf(post)),
            idOf(post) ?? "",
            Effect.asVoid(Effect.timeoutOption(threads.fetchAround(post), `${refreshSecondsMax} seconds`))
          )
      )
      return OriginChecks.of({ begin, fetchThread: fetchThread })
    })
  )
  static readonly layer = OriginChecks.layerNoDeps.pipe(Layer.provide([RemotePosts.layer, Threads.layer]))
}

const yes: Verdict = { _tag: "Yes" }
const no = (why: string): Verdict => ({ _tag: "No", why })

const verdictOf = (error: PostError): Verdict => mayPass(error) ? { _tag: "Later" } : no(error.message)
