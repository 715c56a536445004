import { Context, type Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Page } from "./HtmlPage.ts"

/** Page of a public frame. */
export type PublicPage = Pick<Page, "body" | "embedding" | "status" | "style" | "title" | "words">

/** Frame of public pages: that of the web client, which implements it, with its navigation for members and visitors. */
export class PublicFrame extends Context.Service<PublicFrame, {
  /** Responds with a page that may not be cached. */
  readonly respond: (
    page: PublicPage
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
}>()("murmuration/http/html/PublicFrame") {}
