import type { HttpServerRequest } from "effect/http"
import { canonical } from "../../services/languages/Negotiation.ts"

/**
 * The language, as a tag, that an address asks for with its `lang`, or the page to which it leads back (`return_to`);
 * undefined where there is none.
 */
export const langOf = ({ url }: HttpServerRequest.HttpServerRequest): string | undefined => {
  const at = url.indexOf("?")
  if (at === -1) return undefined
  const query = new URLSearchParams(url.slice(at))
  const back = query.get("return_to") ?? ""
  return canonical(query.get("lang") ?? new URLSearchParams(back.slice(back.indexOf("?") + 1)).get("lang") ?? "")
}
