import type { HttpServerRequest } from "effect/http"
import { type Catalog, english } from "../../services/languages/Catalogs.ts"
import { type LanguagePreferences, preferred } from "../../services/languages/Negotiation.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Languages found while a request was handled, keyed by the platform's request, which every modified copy shares. */
const found = new WeakMap<object, Pick<LanguagePreferences, "lang" | "locale">>()

const note = ({ source }: Request, wishes: Pick<LanguagePreferences, "lang" | "locale">) =>
  found.set(source, { ...found.get(source), ...wishes })

/** Notes the `lang` of a request's parameters, once its body is read. */
export const noteParameters = (request: Request, parameters: unknown): void => {
  if (typeof parameters !== "object" || parameters === null || !("lang" in parameters)) return
  if (typeof parameters.lang === "string") note(request, { lang: parameters.lang })
}

/** Notes the locale of the request's user; only errors need it. */
export const noteLocale = (request: Request, locale: string | undefined): void => {
  if (locale !== undefined) note(request, { locale })
}

/**
 * Returns the languages that a request asks for: `lang` in its body or query, its user's locale, `Accept-Language`
 * (operations.md section 0).
 */
export const languagePreferencesOf = (request: Request): LanguagePreferences => {
  const { headers, url } = request
  const noted = found.get(request.source)
  const at = url.indexOf("?")
  const lang = noted?.lang ?? (at === -1 ? undefined : new URLSearchParams(url.slice(at)).get("lang") ?? undefined)
  return { lang, locale: noted?.locale, header: headers["accept-language"] }
}

/** Returns the catalog of the language that a request asks for, otherwise English. Reads no database. */
export const requestedCatalog = (catalogs: ReadonlyMap<string, Catalog>, request: Request): Catalog =>
  catalogs.get(preferred(catalogs.keys(), languagePreferencesOf(request)) ?? "en") ?? english
