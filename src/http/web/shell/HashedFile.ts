import { HttpRouter, HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"

/** Characters of a hash in the name of a file. */
const hashCharacters = 12

/**
 * Returns the path of a text file whose name contains its hash, and the route that serves it. Browsers keep it for a
 * year without asking again (RFC 8246).
 */
export const hashedFile = (name: string, extension: string, contentType: string, text: string) => {
  const digest = hash("sha256", text, "hex").slice(0, hashCharacters)
  const path = `/assets/web/${name}.${digest}.${extension}` as const
  return {
    path,
    route: HttpRouter.add(
      "GET",
      path,
      HttpServerResponse.text(text, {
        contentType: `${contentType}; charset=utf-8`,
        headers: {
          "cache-control": "public, max-age=31536000, immutable",
          "x-content-type-options": "nosniff"
        }
      })
    )
  }
}
