import { Schema } from "effect"
import { Count, Id, Timestamp } from "./Common.ts"

export const Marker = Schema.Struct({ last_read_id: Id, version: Count, updated_at: Timestamp })
  .annotate({ identifier: "Marker" })
export type Marker = typeof Marker.Type

/** Markers by timeline; those that were never set are absent. */
export const Markers = Schema.Struct({
  home: Schema.optionalKey(Marker),
  notifications: Schema.optionalKey(Marker)
}).annotate({ identifier: "Markers" })
export type Markers = typeof Markers.Type
