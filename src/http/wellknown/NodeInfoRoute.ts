import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { Changes } from "../../services/caching/Changes.ts"
import { single } from "../../services/caching/Single.ts"
import { Instance } from "../../services/instance/Instance.ts"
import { acceptsSignUps, InstancePolicies } from "../../services/instance/InstancePolicies.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { softwareName, softwareVersion } from "../../services/instance/Software.ts"
import * as Reply from "../guard/Reply.ts"
import { encode } from "../wire/Keys.ts"
import type { NodeInfo, NodeInfoLinks } from "../wire/NodeInfo.ts"
import { document } from "./DiscoveryResponse.ts"

const path = "/nodeinfo/2.0"
/** Time for which the document is cached, in milliseconds. */
const nodeInfoMillisMax = 30_000

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const instance = yield* Instance
  const policies = yield* InstancePolicies

  const links: NodeInfoLinks = {
    links: [{ rel: "http://nodeinfo.diaspora.software/ns/schema/2.0", href: `${config.publicUrl}${path}` }]
  }

  const text = yield* single(
    { kinds: ["instance"], millisMax: nodeInfoMillisMax },
    Effect.gen(function*() {
      const { description, title } = yield* instance.about
      const usage = yield* instance.usage
      const nodeInfo: NodeInfo = {
        version: "2.0",
        software: { name: softwareName, version: softwareVersion },
        protocols: ["activitypub"],
        services: { inbound: [], outbound: [] },
        openRegistrations: acceptsSignUps(config, yield* policies.current),
        usage: {
          users: { total: usage.users, activeMonth: usage.activeMonth, activeHalfyear: usage.activeHalfYear },
          localPosts: usage.statuses
        },
        metadata: { nodeName: title, nodeDescription: description }
      }
      return encode(nodeInfo)
    })
  )

  return Layer.mergeAll(
    HttpRouter.add("GET", "/.well-known/nodeinfo", document(JSON.stringify(links), "application/json")),
    HttpRouter.add(
      "GET",
      path,
      Effect.map(text, (body) => Reply.json(body, { headers: { "cache-control": "private, no-store" } }))
    )
  )
})

/** NodeInfo, version 2.0 only, and its discovery document (S-030 to S-039, S-301). */
export const layer = Layer.unwrap(make).pipe(Layer.provide(Changes.layer))
