import { createServer } from "node:http"
import sharp from "sharp"

/*
 * Web of the bench, in one process. Every address of 127.0.0.0/8 is a site with a picture and pages with metadata, and
 * a push service that accepts everything.
 */

export type Order = { readonly kind: "port" } | { readonly kind: "taken" }

let taken = 0
const filler = "<p>Other text of the page, which is long.</p>".repeat(1_000)
const picture = await sharp({ create: { width: 1_200, height: 630, channels: 3, background: "#8844cc" } })
  .jpeg().toBuffer()

const server = createServer((request, response) => {
  if (request.method === "POST") {
    request.resume().once("end", () => {
      taken++
      response.writeHead(201, { "content-length": "0" }).end()
    })
  } else if (request.url === "/picture.jpg") {
    response.writeHead(200, { "content-type": "image/jpeg" }).end(picture)
  } else {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(
      `<!doctype html><html lang="en"><head><title>A page</title><meta property="og:title" content="A page ${request.url}">
      <meta property="og:description" content="Description"><meta property="og:image" content="/picture.jpg">
      <script type="application/ld+json">{"@type":"NewsArticle","headline":"A page","author":{"name":"Ann"}}</script>
      </head><body>${filler}</body></html>`
    )
  }
})
server.keepAliveTimeout = 60_000

const portOf = (address: ReturnType<typeof server.address>) =>
  typeof address === "object" && address !== null ? address.port : 0

const listening = new Promise<void>((resolve) => server.listen(0, "0.0.0.0", 4_096, resolve))
process.on("message", ({ kind }: Order) => {
  void listening.then(() => process.send?.({ reply: kind === "port" ? portOf(server.address()) : taken }))
})
process.on("disconnect", () => process.exit(0))
