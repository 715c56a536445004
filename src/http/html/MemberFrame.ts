import { Context, type Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Page } from "./HtmlPage.ts"
import type { Visitor } from "./Visitors.ts"

/** Frame of pages that members share with the web client, which implements it. */
export class MemberFrame extends Context.Service<MemberFrame, {
  /**
   * Responds with the page at `path`: with the navigation of members if the visitor is signed in, otherwise in the plain
   * frame of `HtmlPage.ts`.
   */
  readonly respond: (
    visitor: Visitor,
    path: string,
    page: Omit<Page, "server">
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
}>()("murmuration/http/html/MemberFrame") {}
