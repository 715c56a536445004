import { Effect } from "effect"
import { type Unprocessable, validationFailed } from "../../runtime/Errors.ts"
import { isPublicSuffix, normalizeDomain } from "../DomainNames.ts"

/** Returns the normal form of a domain in a rule. Refuses text that cannot be a host name. */
export const validDomain = (text: string): Effect.Effect<string, Unprocessable> => {
  const domain = normalizeDomain(text.trim())
  return domain === undefined
    ? Effect.fail(validationFailed(text.trim() === "" ? "Domain can't be blank" : "Domain is not a valid domain name"))
    : Effect.succeed(domain)
}

/** Refuses an unconfirmed rule about a public suffix: it would apply to every server below. */
export const confirmedSuffix = (domain: string, confirmed: boolean): Effect.Effect<void, Unprocessable> =>
  confirmed || !isPublicSuffix(domain)
    ? Effect.void
    : Effect.fail(
      validationFailed("Domain is a public suffix: repeat with confirmed=true")
    )

/** Returns the normal form of a new rule's domain; a public suffix must be confirmed. */
export const ruledDomain = (text: string, confirmed = false): Effect.Effect<string, Unprocessable> =>
  Effect.tap(validDomain(text), (domain) => confirmedSuffix(domain, confirmed))
