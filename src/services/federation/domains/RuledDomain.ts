import { Effect } from "effect"
import { type Unprocessable, validationFailed } from "../../Errors.ts"
import { isPublicSuffix, normalizeDomain } from "../DomainNames.ts"

/** Returns the normal form of a domain in a rule; refuses text that no host can be named. */
export const validDomain = (text: string): Effect.Effect<string, Unprocessable> => {
  const domain = normalizeDomain(text.trim())
  return domain === undefined
    ? Effect.fail(validationFailed(text.trim() === "" ? "Domain can't be blank" : "Domain is not a valid domain name"))
    : Effect.succeed(domain)
}

/** Refuses a rule about a public suffix that is not confirmed: it would apply to every server below. */
export const confirmedSuffix = (domain: string, confirmed: boolean): Effect.Effect<void, Unprocessable> =>
  confirmed || !isPublicSuffix(domain)
    ? Effect.void
    : Effect.fail(
      validationFailed("Domain is a public suffix: repeat with confirmed=true")
    )

/** Returns the domain of a new rule; one that is a public suffix has to be confirmed. */
export const ruledDomain = (text: string, confirmed = false): Effect.Effect<string, Unprocessable> =>
  Effect.tap(validDomain(text), (domain) => confirmedSuffix(domain, confirmed))
