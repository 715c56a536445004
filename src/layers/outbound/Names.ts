import { Context, Effect, Layer, Result } from "effect"
import { lookup, Resolver } from "node:dns/promises"
import * as Gate from "../../services/outbound/Gate.ts"

/** How long one question to a name server may take, in milliseconds, and how often it is asked. */
const questionMillisMax = 2_000
const questionsMax = 2
/** Addresses of one name that are looked at. */
const addressesMax = 16
/** Names that are looked up the machine's own way at once; Node has four threads for everything of that kind. */
const threadsMax = 1

/** How names are asked for; both may take long and fail. */
interface Asking {
  readonly servers: (name: string, family: 4 | 6) => Promise<ReadonlyArray<string>>
  readonly nearby: (name: string) => Promise<ReadonlyArray<string>>
}

/** The addresses of names, as text, the ones to try first at the front; none where nobody knows the name. */
export class Names extends Context.Service<Names, {
  readonly resolve: (name: string) => Effect.Effect<ReadonlyArray<string>>
}>()("murmuration/layers/outbound/Names") {
  /**
   * The name servers are asked without Node's few threads: files and the names of our own database need those. The
   * machine's own way (its list of hosts, its containers' names) takes one of them: it is for names that the servers do
   * not know, not for those about which they keep silent. It asks for one name at a time.
   */
  static readonly layerWith = (asking: Asking) =>
    Layer.sync(Names, () => {
      const gate = Gate.make(threadsMax)
      const nearby = (name: string) =>
        Effect.andThen(
          gate.enter,
          Effect.callback<ReadonlyArray<string>>((resume) => {
            // Nobody can end it, so that its place is free when it ends.
            const end = (found: ReadonlyArray<string>) => {
              gate.leave()
              resume(Effect.succeed(found))
            }
            asking.nearby(name).then(end, () => end([]))
          })
        )
      const resolve = Effect.fnUntraced(function*(name: string) {
        if (name === "localhost" || name.endsWith(".localhost")) return yield* nearby(name)
        const answers = yield* Effect.all(
          ([6, 4] as const).map((family) => Effect.result(Effect.tryPromise(() => asking.servers(name, family)))),
          { concurrency: 2 }
        )
        const found = answers.flatMap((answer) => Result.isSuccess(answer) ? answer.success : [])
        if (found.length > 0) return found
        const silent = answers.some((answer) => Result.isFailure(answer) && isSilence(answer.failure.cause))
        return silent ? [] : yield* nearby(name)
      })
      return Names.of({ resolve: (name) => Effect.map(resolve(name), (found) => found.slice(0, addressesMax)) })
    })

  static readonly layer = Layer.unwrap(Effect.sync(() => {
    const resolver = new Resolver({ timeout: questionMillisMax, tries: questionsMax })
    return Names.layerWith({
      servers: (name, family) => family === 6 ? resolver.resolve6(name) : resolver.resolve4(name),
      nearby: (name) => lookup(name, { all: true }).then((found) => found.map(({ address }) => address))
    })
  }))
}

const isSilence = (error: unknown) => error instanceof Error && "code" in error && error.code === "ETIMEOUT"
