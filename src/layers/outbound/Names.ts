import { Context, Effect, Layer, Result } from "effect"
import { lookup, Resolver } from "node:dns/promises"
import * as Gate from "../../services/outbound/Gate.ts"

/** Timeout of a DNS query in milliseconds, and its tries. */
const questionMillisMax = 2_000
const questionsMax = 2
/** Maximum addresses of a name. */
const addressesMax = 16
/** Maximum concurrent lookups by the system resolver; Node has four threads for all such work. */
const threadsMax = 1

/** The two ways to resolve a name; both may be slow and fail. */
interface Asking {
  readonly servers: (name: string, family: 4 | 6) => Promise<ReadonlyArray<string>>
  readonly systemResolver: (name: string) => Promise<ReadonlyArray<string>>
}

/** Resolves names to addresses, the preferred ones first; none for an unknown name. */
export class Names extends Context.Service<Names, {
  readonly resolve: (name: string) => Effect.Effect<ReadonlyArray<string>>
}>()("murmuration/layers/outbound/Names") {
  /**
   * Queries name servers without Node's thread pool, which files and the database's host name need. The system resolver
   * (hosts file, container names) takes one of its threads. So it is used only for names that the name servers do not
   * know, one at a time, and never after a timeout.
   */
  static readonly layerWith = (asking: Asking) =>
    Layer.sync(Names, () => {
      const gate = Gate.make(threadsMax)
      const nearby = (name: string) =>
        Effect.suspend(() => {
          const reply = Promise.withResolvers<ReadonlyArray<string>>()
          // A lookup cannot be cancelled, so its slot is free only when it ends.
          const end = (found: ReadonlyArray<string>) => {
            gate.leave()
            reply.resolve(found)
          }
          return Effect.andThen(
            gate.enter(() => void asking.systemResolver(name).then(end, () => end([]))),
            Effect.promise(() => reply.promise)
          )
        })
      const resolve = Effect.fnUntraced(function*(name: string) {
        if (name === "localhost" || name.endsWith(".localhost")) return yield* nearby(name)
        const replies = yield* Effect.all(
          ([6, 4] as const).map((family) => Effect.result(Effect.tryPromise(() => asking.servers(name, family)))),
          { concurrency: 2 }
        )
        const found = replies.flatMap((reply) => Result.isSuccess(reply) ? reply.success : [])
        if (found.length > 0) return found
        const silent = replies.some((reply) => Result.isFailure(reply) && isSilence(reply.failure.cause))
        return silent ? [] : yield* nearby(name)
      })
      return Names.of({ resolve: (name) => Effect.map(resolve(name), (found) => found.slice(0, addressesMax)) })
    })

  static readonly layer = Layer.unwrap(Effect.sync(() => {
    const resolver = new Resolver({ timeout: questionMillisMax, tries: questionsMax })
    return Names.layerWith({
      servers: (name, family) => family === 6 ? resolver.resolve6(name) : resolver.resolve4(name),
      systemResolver: (name) => lookup(name, { all: true }).then((found) => found.map(({ address }) => address))
    })
  }))
}

const isSilence = (error: unknown) => error instanceof Error && "code" in error && error.code === "ETIMEOUT"
