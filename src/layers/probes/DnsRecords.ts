import { Effect } from "effect"
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { Environment } from "../Environment.ts"
import { makeResolver } from "../Resolvers.ts"

/** Result of a DNS query: its records, or why there are none. `absent`: the name does not exist at all. */
type Found<A> =
  | { readonly kind: "records"; readonly records: ReadonlyArray<A> }
  | { readonly kind: "empty" | "absent" | "unreachable" }

const kinds: Readonly<Record<string, "empty" | "absent">> = { ENODATA: "empty", ENOTFOUND: "absent" }

const found = <A>(question: () => Promise<ReadonlyArray<A>>): Effect.Effect<Found<A>> =>
  Effect.tryPromise({
    try: question,
    catch: (error) => (error instanceof Error && "code" in error ? kinds[String(error.code)] : undefined)
  }).pipe(
    Effect.map((records): Found<A> => ({ kind: "records", records })),
    Effect.catch((kind) => Effect.succeed<Found<A>>({ kind: kind ?? "unreachable" }))
  )

/** Returns the addresses of a host, by the configured name servers or as this machine resolves it. */
export const addressesOf = Effect.fnUntraced(function*(host: string) {
  if (isIP(host) !== 0) return [host]
  const { nameServers } = yield* Environment
  const resolver = makeResolver(nameServers)
  const replies = nameServers.length === 0
    ? [yield* found(async () => (await lookup(host, { all: true })).map(({ address }) => address))]
    : yield* Effect.all([found(() => resolver.resolve4(host)), found(() => resolver.resolve6(host))])
  return replies.flatMap((reply) => (reply.kind === "records" ? reply.records : []))
})

/** Returns the TXT records of a name, each as one text. */
export const textsOf = Effect.fnUntraced(function*(name: string) {
  const { nameServers } = yield* Environment
  const resolver = makeResolver(nameServers)
  return yield* found(async () => (await resolver.resolveTxt(name)).map((parts) => parts.join("")))
})
