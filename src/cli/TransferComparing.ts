import { Console, Effect, Layer } from "effect"
import { Flag } from "effect/cli"
import { outbound } from "../layers/Foundation.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { DomainPolicies } from "../services/federation/domains/DomainPolicies.ts"
import { LocalActors } from "../services/federation/LocalActors.ts"
import { Objects } from "../services/federation/Objects.ts"
import { Accounts } from "../services/identity/Accounts.ts"
import { Handles } from "../services/identity/Handles.ts"
import { CustomEmojis } from "../services/instance/CustomEmojis.ts"
import { compare, tableOf } from "../services/mastodon/Comparison.ts"
import { Statuses } from "../services/statuses/Statuses.ts"

const countMax = 100_000
/** Flag of a number from 1 to `countMax`. */
const count = (name: string, about: string, otherwise: number) =>
  Flag.Int(name).pipe(
    Flag.filter((value) => value >= 1 && value <= countMax, (value) =>
      `--${name} must be between 1 and ${countMax}, not ${value}`),
    Flag.withDescription(`${about} (default: ${otherwise})`),
    Flag.withDefault(otherwise)
  )

/** Flags of a comparison with the running Mastodon server. */
export const flags = {
  against: Flag.String("against").pipe(
    Flag.withDescription(
      "URL of the running Mastodon server, to compare its public documents with those of this server"
    ),
    Flag.optional
  ),
  actors: count("actors", "Accounts to compare", 100),
  objects: count("objects", "Posts to compare", 1_000),
  perSecond: count("per-second", "Requests to the Mastodon server per second", 10)
}

/** Services that render what this server tells others, and fetch what the Mastodon server does. */
export const layer = Layer.mergeAll(LocalActors.layer, Objects.layer).pipe(
  Layer.provide(Layer.mergeAll(Accounts.layer, Handles.layer, CustomEmojis.layer, Statuses.layer)),
  Layer.merge(outbound),
  Layer.provide(DomainPolicies.layer)
)

/** Prints the differences to the Mastodon server; fails if there are any. */
export const compareWith = Effect.fnUntraced(function*(
  address: string,
  size: { readonly actors: number; readonly objects: number; readonly perSecond: number }
) {
  const origin = URL.parse(address)
  if (origin === null) return yield* new OperatorError({ message: `--against is no URL: ${address}` })
  const { compared, differences } = yield* compare(origin, size)
  if (differences.length === 0) return yield* Console.log(`${compared} documents are equal at both servers.`)
  yield* Console.log(["document\tfield\there\tthere", ...tableOf(differences)].join("\n"))
  return yield* new OperatorError({
    message: `${compared} documents were compared: ${differences.length} fields differ.`
  })
})
