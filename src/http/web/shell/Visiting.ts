import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { Visitor } from "../../html/Visitors.ts"
import type { Visit } from "./Visit.ts"

/** Maximum characters of a page's path and query that forms send back. */
const hereCharactersMax = 2_000

/** Returns the visit of a request by a visitor; `params` are those of its route. */
export const visitOf = (visitor: Visitor, params: Visit["params"], translates: boolean) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ url }): Visit => {
    const [path = "", search = ""] = url.slice(0, hereCharactersMax).split("?", 2)
    return {
      reader: visitor,
      viewer: visitor.session?.accountId,
      session: visitor.session,
      translates,
      formToken: visitor.formToken,
      pathAndQuery: search === "" ? path : `${path}?${search}`,
      path,
      query: new URLSearchParams(search),
      params
    }
  })
