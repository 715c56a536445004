import { Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { redirect } from "../../html/HtmlPage.ts"

/** Maximum characters of each text that a link shares. */
const sharedCharactersMax = 2_000

const queryOf = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ url }) => new URLSearchParams(url.split("?", 2)[1] ?? "")
)

/** Returns the composer's path for shared texts: title, text and link, each on its own line. */
const composerWith = (query: URLSearchParams): string => {
  const parts = ["title", "text", "url"].map((name) => (query.get(name) ?? "").trim().slice(0, sharedCharactersMax))
  return `/publish?${new URLSearchParams({ text: parts.filter((part) => part !== "").join("\n") })}`
}

/** Link that other sites and apps use to fill the composer. */
export const layer = HttpRouter.add(
  "GET",
  "/share",
  Effect.map(queryOf, (query) => redirect(composerWith(query)))
)
