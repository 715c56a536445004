import { HttpServerResponse } from "effect/http"

/** Documents of discovery change hardly ever (federation.md section 1), in seconds. */
const documentSeconds = 3 * 24 * 3_600
/** How long others may believe that an account is gone, in seconds. */
const goneSeconds = 3 * 60

/** A document that anybody may keep for three days. */
export const document = (body: string, contentType: string) =>
  HttpServerResponse.text(body, {
    contentType: `${contentType}; charset=utf-8`,
    headers: { "cache-control": `public, max-age=${documentSeconds}`, "x-content-type-options": "nosniff" }
  })

/** There is no such document: 400 for a question that makes no sense, 404 for the unknown, 410 for the deleted. */
export const nothing = (status: 400 | 404 | 410) =>
  HttpServerResponse.empty({
    status,
    headers: { "cache-control": status === 410 ? `public, max-age=${goneSeconds}` : "private, no-store" }
  })
