import { Context, Effect, Layer, Schema } from "effect"
import { briefCause } from "../../outbound/BriefCause.ts"
import { traced } from "../../Traced.ts"
import { type Foreign, idOf } from "../documents/Reading.ts"
import { mayPass, type PostError, RemotePosts } from "./RemotePosts.ts"
import { Threads } from "./Threads.ts"

/** Checks that are under way or wait, in all and at one host; more are not begun. */
const inquiriesMax = 2_000
const inquiriesPerHostMax = 100

/**
 * A question to an object's origin: the post, to have it here; its newest version, as far as it concerns somebody here;
 * whether there is none any more (`gone`: a 404 says so as well).
 */
export const OriginCheck = Schema.Struct({
  kind: Schema.Literals(["post", "news", "deleted", "gone"]),
  uri: Schema.String
})
export type OriginCheck = typeof OriginCheck.Type

/**
 * An activity has to wait for an object's origin, which no transaction may ask. `underWay`: the origin sends the object
 * to us by itself. So it comes even where a request for it is refused.
 */
export class NeedsFetch extends Schema.TaggedError<NeedsFetch>()("NeedsFetch", {
  inquiry: OriginCheck,
  underWay: Schema.optionalKey(Schema.Boolean)
}) {
  override get message() {
    return `${this.inquiry.uri} is to be asked for`
  }
}

/** The outcome: yes, no for ever, or nobody can say yet. */
type Verdict =
  | { readonly _tag: "Yes" }
  | { readonly _tag: "No"; readonly why: string }
  | { readonly _tag: "Later" }

/** Asks the origins of objects beside the actors that want to know; what is lost with a node is asked again by the actor. */
export class OriginChecks extends Context.Service<OriginChecks, {
  /** Begins and does not wait; `then` is done with the verdict. Nothing begins where too many are under way. */
  readonly begin: (inquiry: OriginCheck, then: (verdict: Verdict) => Effect.Effect<void>) => Effect.Effect<void>
  /** Begins to fetch what belongs to a new post: what it answers, and its first replies. */
  readonly around: (post: Foreign) => Effect.Effect<void>
}>()("murmuration/services/federation/fetching/OriginChecks") {
  /** Without a network: everything waits. */
  static readonly layerNone = Layer.succeed(OriginChecks, { begin: () => Effect.void, around: () => Effect.void })

  static readonly layerNoDeps = Layer.effect(
    OriginChecks,
    Effect.gen(function*() {
      const posts = yield* RemotePosts
      const threads = yield* Threads
      const scope = yield* Effect.scope
      const hosts = new Map<string, number>()
      let underWay = 0

      const ask = ({ kind, uri }: OriginCheck): Effect.Effect<Verdict, PostError> => {
        switch (kind) {
          case "post":
            return Effect.as(Effect.tap(posts.refresh(uri, { asked: true }), ({ document }) => around(document)), yes)
          case "news":
            return Effect.as(posts.refresh(uri, { asked: false }), yes)
          case "deleted":
          case "gone":
            return Effect.map(posts.isGone(uri, kind === "gone"), (gone) => gone ? yes : no("it is still there"))
        }
      }

      const enter = (host: string) => {
        const there = hosts.get(host) ?? 0
        if (underWay >= inquiriesMax || there >= inquiriesPerHostMax) return false
        underWay++
        hosts.set(host, there + 1)
        return true
      }
      const leave = (host: string) => {
        underWay--
        const there = hosts.get(host) ?? 0
        if (there > 1) hosts.set(host, there - 1)
        else hosts.delete(host)
      }

      /** Does something at a host, beside the caller; false where there is no room. */
      const beside = (host: string, work: Effect.Effect<void>) =>
        Effect.suspend(() => {
          if (!enter(host)) return Effect.void
          return work.pipe(
            Effect.catchCause((cause) =>
              Effect.logWarning("the check of an origin came to nothing", briefCause(cause))
            ),
            Effect.ensuring(Effect.sync(() => leave(host))),
            Effect.forkIn(scope),
            Effect.asVoid
          )
        })
      const hostOf = (uri: string | undefined) => URL.parse(uri ?? "")?.host ?? ""

      const begin = traced("OriginChecks.begin")(
        (inquiry: OriginCheck, then: (verdict: Verdict) => Effect.Effect<void>) =>
          ask(inquiry).pipe(
            Effect.catch((error) => Effect.succeed(verdictOf(error))),
            Effect.flatMap(then),
            (work) => beside(hostOf(inquiry.uri), work)
          )
      )
      const around = traced("OriginChecks.around")((post: Foreign) =>
        post["inReplyTo"] === undefined && post["replies"] === undefined
          ? Effect.void
          : beside(hostOf(idOf(post["inReplyTo"]) ?? idOf(post)), threads.around(post))
      )
      return OriginChecks.of({ begin, around })
    })
  )
  static readonly layer = OriginChecks.layerNoDeps.pipe(Layer.provide([RemotePosts.layer, Threads.layer]))
}

const yes: Verdict = { _tag: "Yes" }
const no = (why: string): Verdict => ({ _tag: "No", why })

const verdictOf = (error: PostError): Verdict => mayPass(error) ? { _tag: "Later" } : no(error.message)
