import { Effect, Layer } from "effect"
import { type ClientError, Unavailable } from "../../services/Errors.ts"
import { Implausible } from "../../services/federation/Fetches.ts"
import { Imports } from "../../services/federation/fetching/Imports.ts"
import { StatusId } from "../../services/Ids.ts"
import { Accounts } from "./Accounts.ts"

/** Imports by way of the accounts' actors. */
export const layer = Layer.effect(
  Imports,
  Effect.gen(function*() {
    const accounts = yield* Accounts
    return Imports.of({
      store: ({ asked, author, document, uri }) =>
        accounts.tell(author, { _tag: "Import", asked, document }).pipe(
          Effect.map(({ id }) => StatusId.make(BigInt(id))),
          Effect.mapError((error: ClientError) =>
            error._tag === "Unavailable" ? error : new Implausible({ url: uri, reason: error.message })
          )
        ),
      featureTags: (account, names) =>
        Effect.mapError(
          Effect.asVoid(accounts.tell(account, { _tag: "FeatureTags", names })),
          (error) => error._tag === "Unavailable" ? error : new Unavailable()
        ),
      feature: (account, statusIds) =>
        Effect.mapError(
          Effect.asVoid(accounts.tell(account, { _tag: "Feature", statusIds })),
          (error) => error._tag === "Unavailable" ? error : new Unavailable()
        )
    })
  })
)
