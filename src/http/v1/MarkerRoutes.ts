import { Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { markedTimelines, Markers } from "../../services/feeds/Markers.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { markersJson } from "../render/MarkersJson.ts"
import * as Wire from "../wire/Marker.ts"
import { MarkersQuery, NewMarkers } from "../wire/ReadRequests.ts"

const path = "/api/v1/markers"

export class MarkersGroup extends HttpApiGroup.make("markers")
  .add(
    HttpApiEndpoint.get("show", path, { query: MarkersQuery, success: Wire.Markers })
      .annotate(Access, Access.user("read", "read:statuses")),
    HttpApiEndpoint.post("save", path, { payload: NewMarkers, success: Wire.Markers })
      .annotate(Access, Access.user("write", "write:statuses"))
  )
  .middleware(Guard)
{}

/** Read positions, shared between the user's devices (S-164, S-224). */
export const layer = group(
  MarkersGroup,
  Effect.fn(function*(handlers) {
    const markers = yield* Markers
    return handlers.handleAll({
      show: traced("markers.show")(function*({ query }) {
        const requested = markedTimelines.filter((timeline) => query.timeline?.includes(timeline))
        return Reply.json(markersJson(yield* markers.of(yield* Caller.account, requested)))
      }),
      save: traced("markers.save")(function*({ payload }) {
        const positions = markedTimelines.flatMap((timeline) => {
          const lastReadId = payload[timeline]?.lastReadId
          return lastReadId === undefined ? [] : [{ timeline, lastReadId }]
        })
        return Reply.json(markersJson(yield* markers.save(yield* Caller.account, positions)))
      })
    })
  })
)
