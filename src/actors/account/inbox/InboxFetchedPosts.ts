import { Effect, Layer } from "effect"
import { StatusId } from "../../../services/database/Ids.ts"
import { FetchedPosts } from "../../../services/federation/fetching/FetchedPosts.ts"
import { Implausible } from "../../../services/federation/ObjectFetcher.ts"
import { type ClientError, Unavailable } from "../../../services/runtime/Errors.ts"
import { AccountActors } from "../core/AccountActors.ts"

/** Imports fetched posts through the accounts' actors. */
export const layer = Layer.effect(
  FetchedPosts,
  Effect.gen(function*() {
    const actors = yield* AccountActors
    const current = (command: Effect.Effect<unknown, ClientError>) =>
      command.pipe(
        Effect.as(true),
        Effect.catchTag("Conflict", () => Effect.succeed(false)),
        Effect.mapError((error) => error._tag === "Unavailable" ? error : new Unavailable())
      )
    return FetchedPosts.of({
      store: ({ asked, author, document, uri }) =>
        actors.tell(author, { _tag: "Import", asked, document }).pipe(
          Effect.map(({ id }) => StatusId.make(BigInt(id))),
          Effect.mapError((error: ClientError) =>
            error._tag === "Unavailable" ? error : new Implausible({ url: uri, reason: error.message })
          )
        ),
      featureTags: (account, read, names) => current(actors.tell(account, { _tag: "FeatureTags", ...read, names })),
      feature: (account, read, statusIds) => current(actors.tell(account, { _tag: "Feature", ...read, statusIds }))
    })
  })
)
