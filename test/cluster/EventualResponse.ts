import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { allowedMillis } from "../support/MachineSpeed.ts"
import type { Reply } from "./Nodes.ts"

/** Maximum delay until another node sees a moderator's action, in milliseconds. */
export const propagationMillisMax = 1_000

export const textOf = ({ body }: { readonly body: unknown }) => JSON.stringify(body)

/** Repeats a request to a node until its response is as wanted; fails after `millisMax` milliseconds. */
export const eventuallyResponds = Effect.fnUntraced(function*(
  about: string,
  ask: Effect.Effect<Reply>,
  wanted: (response: { readonly status: number; readonly text: string }) => boolean,
  millisMax = propagationMillisMax
) {
  const began = performance.now()
  yield* eventually(Effect.map(ask, (response) => ({ status: response.status, text: textOf(response) })), wanted)
  assert.isBelow(performance.now() - began, allowedMillis(millisMax), about)
})
