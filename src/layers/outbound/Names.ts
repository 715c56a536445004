import { Context, Effect, Layer, Result } from "effect"
import { lookup, Resolver } from "node:dns/promises"

/** How long one question to a name server may take, in milliseconds, and how often it is asked. */
const questionMillisMax = 2_000
const questionsMax = 2
/** Addresses of one name that are looked at. */
export const addressesMax = 16

/** The addresses of names, as text, the ones to try first at the front; none where nobody knows the name. */
export class Names extends Context.Service<Names, {
  readonly resolve: (name: string) => Effect.Effect<ReadonlyArray<string>>
}>()("murmuration/layers/outbound/Names") {
  /**
   * The name servers are asked without Node's few threads, which a slow one would keep from everything else; the
   * machine's own way (its list of hosts, its containers' names) is taken for what they do not know.
   */
  static readonly layer = Layer.sync(Names, () => {
    const resolver = new Resolver({ timeout: questionMillisMax, tries: questionsMax })
    const ask = (question: () => Promise<ReadonlyArray<string>>) => Effect.result(Effect.tryPromise(question))
    const nearby = (name: string) =>
      Effect.tryPromise(() => lookup(name, { all: true })).pipe(
        Effect.map((found) => found.map(({ address }) => address)),
        Effect.orElseSucceed((): ReadonlyArray<string> => [])
      )
    const resolve = Effect.fnUntraced(function*(name: string) {
      if (name === "localhost" || name.endsWith(".localhost")) return yield* nearby(name)
      const answers = yield* Effect.all([ask(() => resolver.resolve6(name)), ask(() => resolver.resolve4(name))], {
        concurrency: 2
      })
      const found = answers.flatMap((answer) => Result.isSuccess(answer) ? answer.success : [])
      return found.length > 0 ? found : yield* nearby(name)
    })
    return Names.of({ resolve: (name) => Effect.map(resolve(name), (found) => found.slice(0, addressesMax)) })
  })
}
