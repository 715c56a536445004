import type { HttpServerRequest } from "effect/http"
import { canonical } from "../../services/languages/Negotiation.ts"

/**
 * Returns the tag of the language that a URL requests by `lang`, in its own query or in that of its `return_to`;
 * undefined without one.
 */
export const langOf = ({ url }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const at = url.indexOf("?")
  if (at === -1) return undefined
  const query = new URLSearchParams(url.slice(at))
  const back = query.get("return_to") ?? ""
  return canonical(query.get("lang") ?? new URLSearchParams(back.slice(back.indexOf("?") + 1)).get("lang") ?? "")
}
