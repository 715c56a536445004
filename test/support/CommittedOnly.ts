import { Effect, Layer } from "effect"
import { UncommittedPublish } from "../../src/services/events/Broadcast.ts"

/** Turns a publish inside an open transaction into a defect, which fails the publisher. */
export const committedOnly = Layer.succeed(
  UncommittedPublish,
  ({ _tag }) => Effect.die(new Error(`${_tag} is published inside of an open transaction`))
)
