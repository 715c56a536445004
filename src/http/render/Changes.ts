import { Effect, PubSub } from "effect"
import { Broadcast, type BroadcastMessage } from "../../services/Broadcast.ts"

export type Kind = Extract<BroadcastMessage, { readonly _tag: "Changed" }>["kind"]

/** Calls `forget` with the ids of rows of one kind that any node says to have changed, for as long as the scope is open. */
export const onChanged = Effect.fnUntraced(function*(kind: Kind, forget: (ids: ReadonlyArray<bigint>) => void) {
  const subscription = yield* (yield* Broadcast).subscribe
  yield* PubSub.take(subscription).pipe(
    Effect.tap((message) =>
      Effect.sync(() => {
        if (message._tag === "Changed" && message.kind === kind) forget(message.ids)
      })
    ),
    Effect.forever,
    Effect.forkScoped
  )
})
