import { Effect, Layer } from "effect"
import { MailExchanges } from "../services/moderation/MailExchanges.ts"
import { Environment } from "./Environment.ts"
import { makeResolver } from "./Resolvers.ts"

/** Maximum mail hosts of a domain that are resolved. */
const exchangesMax = 10

/** Resolves a domain's mail hosts (MX; the domain itself if it has no MX records) and their addresses. */
export const layer = Layer.effect(
  MailExchanges,
  Effect.map(Environment, ({ nameServers }) => {
    const resolver = makeResolver(nameServers)
    const ask = <A>(question: () => Promise<ReadonlyArray<A>>) =>
      Effect.orElseSucceed(Effect.tryPromise(question), (): ReadonlyArray<A> => [])
    const addresses = (host: string) =>
      Effect.map(
        Effect.all([ask(() => resolver.resolve4(host)), ask(() => resolver.resolve6(host))], { concurrency: 2 }),
        (found) => found.flat()
      )
    return MailExchanges.of({
      of: Effect.fn("MailExchanges.of")(function*(domain) {
        const exchanges = yield* ask(() => resolver.resolveMx(domain))
        const named = exchanges.map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, "")).filter((name) =>
          name !== ""
        )
        const hosts = [...new Set(named)].slice(0, exchangesMax)
        const found = yield* Effect.forEach(hosts.length === 0 ? [domain] : hosts, addresses, { concurrency: 4 })
        return [...new Set([...hosts, ...found.flat()])]
      })
    })
  })
)
