import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Layer } from "effect"
import * as NodeKeyOperations from "../../src/layers/NodeKeyOperations.ts"
import { blocks } from "./Blocks.ts"
import { documents } from "./Documents.ts"
import { moderation } from "./Moderation.ts"
import { TwoNodes } from "./TwoNodes.ts"

const services = TwoNodes.layer.pipe(
  Layer.provideMerge(NodeKeyOperations.layer),
  Layer.provideMerge(Layer.merge(NodeServices.layer, NodeCrypto.layer))
)

// Tests leave data without conflicts: each has its own accounts.
layer(services, { excludeTestServices: true })("two nodes", (it) => {
  it.effect(
    "remote documents: each is fetched once for all concurrent callers on both nodes; a missing one is missing on both",
    () => documents
  )

  it.effect(
    "S-022 S-252: a moderator's action on one node applies on the other within a second, and so does its undoing",
    () => moderation
  )

  it.effect(
    "S-168 S-174: networks, domains, names and e-mail domains that staff block on one node are blocked on the other within a second",
    () => blocks
  )
})
