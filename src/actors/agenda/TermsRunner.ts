import { Effect, Layer } from "effect"
import { TermsEmails } from "../../services/identity/TermsEmails.ts"
import { repeatEvery } from "./ClaimRounds.ts"

/** Sends e-mails about new terms of service: every node checks, and one node runs each step. */
export const layer = Layer.effectDiscard(
  Effect.flatMap(TermsEmails, ({ step }) => repeatEvery("5 seconds", "e-mails about terms of service", step))
)
