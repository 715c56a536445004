import { Effect, Layer } from "effect"
import { EmailDigests } from "../../services/subscriptions/EmailDigests.ts"
import { every } from "./ClaimRounds.ts"

/** Sends posts to people who get them by e-mail: every node looks, and each slice is claimed by one of them. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(EmailDigests, ({ sweep }) => every("1 minute", "posts by e-mail", sweep))
)
