import { Effect, Layer } from "effect"
import { TrendReviewEmails } from "../../services/trends/TrendReviewEmails.ts"
import { every } from "./ClaimRounds.ts"

/** Tells the staff what waits for them to look at it: every node asks, and one of them finds that it is time. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(TrendReviewEmails, ({ send }) => every("1 minute", "e-mails about trends", send))
)
