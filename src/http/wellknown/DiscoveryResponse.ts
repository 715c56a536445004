import { HttpServerResponse } from "effect/http"

/** Time for which discovery documents, which rarely change, may be cached, in seconds (federation.md section 1). */
const documentSeconds = 3 * 24 * 3_600
/** Time for which others may cache that an account is gone, in seconds. */
const goneSeconds = 3 * 60

/** Responds with a document that may be cached for three days. */
export const document = (body: string, contentType: string) =>
  HttpServerResponse.text(body, {
    contentType: `${contentType}; charset=utf-8`,
    headers: { "cache-control": `public, max-age=${documentSeconds}`, "x-content-type-options": "nosniff" }
  })

/** Responds without a document: 400 for an invalid query, 404 for an unknown account, 410 for a deleted one. */
export const nothing = (status: 400 | 404 | 410) =>
  HttpServerResponse.empty({
    status,
    headers: { "cache-control": status === 410 ? `public, max-age=${goneSeconds}` : "private, no-store" }
  })
