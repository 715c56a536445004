import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { providerMillisMax } from "../../services/oidc/ProviderSignIns.ts"
import { BrowserSessions } from "../guard/BrowserSessions.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Cookie with the sealed state of a sign-in by the identity provider, which binds it to the browser. */
export const make = Effect.gen(function*() {
  const { publicUrl } = yield* ServerConfig
  const { prefix } = yield* BrowserSessions
  const name = `${prefix}provider`
  const attributes = { httpOnly: true, sameSite: "lax", secure: publicUrl.startsWith("https:"), path: "/" } as const

  return {
    /** Sealed state that the browser sent; empty without one. */
    current: Effect.map(HttpServerRequest.HttpServerRequest, ({ cookies }) => cookies[name] ?? ""),
    keep: (sealed: string, response: Response) =>
      HttpServerResponse.setCookieUnsafe(response, name, sealed, { ...attributes, maxAge: providerMillisMax }),
    end: (response: Response) => HttpServerResponse.setCookieUnsafe(response, name, "", { ...attributes, maxAge: 0 })
  }
})
