import { isPublicSuffix, normalizeDomain } from "../../../../services/federation/DomainNames.ts"
import type { Messages } from "../../../../services/languages/Messages.ts"

/** Asks for confirmation of a rule on a public suffix; undefined for any other domain. */
export const suffixConfirmation = (say: Messages["say"], form: URLSearchParams) => {
  const domain = normalizeDomain(form.get("domain")?.trim() ?? "")
  return domain === undefined || !isPublicSuffix(domain) ? undefined : {
    title: say("Every server below {domain}?", { domain }),
    text: say("Anyone can register a name below {domain}. The rule applies to all of those servers.", { domain }),
    button: say("Apply to all of them"),
    danger: true
  }
}
