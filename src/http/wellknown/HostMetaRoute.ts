import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { preferredOffer } from "../guard/Accept.ts"
import { document } from "./DiscoveryResponse.ts"

const make = Effect.map(ServerConfig, ({ publicUrl }) => {
  const template = `${publicUrl}/.well-known/webfinger?resource={uri}`
  const xml = document(
    `<?xml version="1.0" encoding="UTF-8"?>
<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0">
  <Link rel="lrdd" template="${template}"/>
</XRD>
`,
    "application/xrd+xml"
  )
  const json = document(JSON.stringify({ links: [{ rel: "lrdd", template }] }), "application/json")
  const negotiated = Effect.map(
    HttpServerRequest.HttpServerRequest,
    ({ headers }) =>
      HttpServerResponse.setHeader(
        preferredOffer(headers["accept"], "xrd", "json") === "json" ? json : xml,
        "vary",
        "Accept"
      )
  )
  return Layer.mergeAll(
    HttpRouter.add("GET", "/.well-known/host-meta", negotiated),
    HttpRouter.add("GET", "/.well-known/host-meta.json", json)
  )
})

/** Location of WebFinger, for servers that use the older discovery (RFC 6415). */
export const layer = Layer.unwrap(make)
