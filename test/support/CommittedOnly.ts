import { Effect, Layer } from "effect"
import { UncommittedPublish } from "../../src/services/events/Broadcast.ts"

/** Makes a publish inside of an open transaction a defect, which fails whatever published. */
export const committedOnly = Layer.succeed(
  UncommittedPublish,
  ({ _tag }) => Effect.die(new Error(`${_tag} is published inside of an open transaction`))
)
