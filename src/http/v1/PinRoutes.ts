import { Effect, Layer } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import { StatusViews } from "../render/StatusViews.ts"
import * as StatusCommands from "./StatusCommands.ts"

export class PinsGroup extends HttpApiGroup.make("pins")
  .add(
    StatusCommands.onStatus("pin", "write:accounts"),
    StatusCommands.onStatus("unpin", "write:accounts")
  )
  .middleware(Guard)
{}

/** Statuses pinned to the user's profile (S-199). */
export const layer = group(
  PinsGroup,
  Effect.fn(function*(handlers) {
    const { act } = yield* StatusCommands.make
    return handlers.handleAll({
      pin: traced("pins.pin")(({ params }) => act({ _tag: "Pin", statusId: params.id })),
      unpin: traced("pins.unpin")(({ params }) => act({ _tag: "Unpin", statusId: params.id }))
    })
  })
).pipe(Layer.provide(StatusViews.layer))
