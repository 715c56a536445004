import { Effect, PubSub } from "effect"
import { boundedMap } from "../../services/BoundedMap.ts"
import { Broadcast, type BroadcastMessage } from "../../services/Broadcast.ts"

/** Ids of one kind whose last change is remembered one by one. */
const changesMax = 20_000

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

/** When ids changed last, counted in changes; of those that it has forgotten it says the latest that it may have been. */
export const makeChanges = () => {
  let forgotten = 0
  const last = boundedMap<bigint, number>(changesMax, {
    dispose: (change, _id, reason) => {
      if (reason === "evict") forgotten = Math.max(forgotten, change)
    }
  })
  return {
    add: (ids: ReadonlyArray<bigint>, change: number) => ids.forEach((id) => last.set(id, change)),
    of: (id: bigint) => last.get(id) ?? forgotten
  }
}
