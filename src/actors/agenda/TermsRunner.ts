import { Effect, Layer } from "effect"
import { TermsEmails } from "../../services/identity/TermsEmails.ts"
import { every } from "./ClaimRounds.ts"

/** Writes to people about new terms: every node asks, and one of them does each step. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(TermsEmails, ({ step }) => every("5 seconds", "letters about terms", step))
)
