import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { ownPath } from "../../html/OwnPaths.ts"

/** Returns the path of the page from which the reader came; `/home` if that page is on another server. */
export const make = Effect.map(
  ServerConfig,
  ({ publicUrl }) =>
    Effect.map(HttpServerRequest.HttpServerRequest, ({ headers, url }) => {
      const from = headers["referer"] ?? ""
      const path = from.startsWith(`${publicUrl}/`)
        ? ownPath(from.slice(publicUrl.length).split("#", 1)[0] ?? "")
        : undefined
      // A page that is loaded again names itself.
      return path === undefined || path.split("?", 1)[0] === url.split("?", 1)[0] ? "/home" : path
    })
)
